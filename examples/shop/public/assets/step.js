// What the pages of held steps have in common: they ask the dispenser again, and
// follow where it leads.

const texts = {
  en: {
    offline: 'There is no connection. Please try again.',
    busy: (seconds) => `Too many tries. Please wait ${seconds} seconds.`,
    failed: (id) => `That did not work. Please try again in a moment. (${id})`,
  },
  de: {
    offline: 'Es gibt keine Verbindung. Bitte versuchen Sie es noch einmal.',
    busy: (seconds) => `Zu viele Versuche. Bitte warten Sie ${seconds} Sekunden.`,
    failed: (id) => `Das hat nicht geklappt. Bitte versuchen Sie es gleich noch einmal. (${id})`,
  },
};

const say = texts[document.documentElement.lang] ?? texts.en;

/** Shows a message, or none. */
export function fault(text) {
  const strip = document.querySelector('#fault');
  strip.textContent = text ?? '';
  strip.hidden = !text;
}

/**
 * Asks the dispenser with fields of the page's own. It returns what the page is to
 * show, or null where there is a message or the browser is on its way elsewhere.
 */
export async function ask(fields = {}) {
  let response;
  try {
    response = await fetch('/auth/intents/redirect', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
      body: JSON.stringify(fields),
    });
  } catch {
    fault(say.offline);
    return null;
  }
  const answer = await response.json().catch(() => ({}));
  if (response.status === 401 || response.status === 409) {
    location.assign('/login'); // signed out, or the step is over: it knows where to go
    return null;
  }
  if (!response.ok) {
    const wait = response.headers.get('Retry-After');
    fault(response.status === 429 ? say.busy(wait) : say.failed(answer.request_id ?? response.status));
    return null;
  }
  if (answer.status === 'satisfied') {
    const next = answer.next;
    location.assign(next?.kind === 'redirect' ? next.payload.target : '/login');
    return null;
  }
  if (answer.status === 'error') {
    fault(answer.errors.join(' '));
    return null;
  }
  fault();
  return answer.next_step;
}
