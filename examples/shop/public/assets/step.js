// What the pages of held steps have in common: they ask the dispenser again, and
// follow where it leads.

const texts = {
  en: {
    offline: 'There is no connection. Please try again.',
    busy: (seconds) => `Too many tries. Please wait ${seconds > 90 ? `${Math.ceil(seconds / 60)} minutes` : `${seconds} seconds`}.`,
    failed: (id) => `That did not work. Please try again in a moment. (${id})`,
    again: 'Try again',
  },
  de: {
    offline: 'Es gibt keine Verbindung. Bitte versuchen Sie es noch einmal.',
    busy: (seconds) => `Zu viele Versuche. Bitte warten Sie ${seconds > 90 ? `${Math.ceil(seconds / 60)} Minuten` : `${seconds} Sekunden`}.`,
    failed: (id) => `Das hat nicht geklappt. Bitte versuchen Sie es gleich noch einmal. (${id})`,
    again: 'Noch einmal versuchen',
  },
};

const say = texts[document.documentElement.lang] ?? texts.en;

/** Shows a message, or none. */
export function fault(text) {
  const strip = document.querySelector('#fault');
  strip.textContent = text ?? '';
  strip.hidden = !text;
}

/** Leaves a step that is over. /login knows where to go; where that was here, the dashboard is as good. */
async function leave() {
  if (document.referrer && new URL(document.referrer).pathname === location.pathname) {
    const boot = await fetch('/auth/bootstrap').then((r) => r.json(), () => ({}));
    location.replace(boot.routes?.dashboard ?? '/');
    return;
  }
  location.assign('/login');
}

/**
 * What the page is to show when it opens. Without an answer there is a button to ask
 * again, since nothing else can be pressed.
 */
export async function begin() {
  const step = await ask();
  const strip = document.querySelector('#fault');
  if (!step && !strip.hidden) {
    const again = document.createElement('button');
    again.className = 'button';
    again.textContent = say.again;
    again.addEventListener('click', () => location.reload());
    strip.after(again);
  }
  return step;
}

/**
 * Asks the dispenser with fields of the page's own. It returns what the page is to
 * show, or null where there is a message or the browser is on its way elsewhere.
 */
export async function ask(fields = {}, repeated = false) {
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
  if (response.status === 401) {
    location.assign('/login'); // signed out
    return null;
  }
  if (response.status === 409) {
    await leave();
    return null;
  }
  if (!response.ok) {
    const wait = response.headers.get('Retry-After');
    fault(response.status === 429 && wait ? say.busy(Number(wait)) : say.failed(answer.request_id ?? response.status));
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
  const step = answer.next_step;
  // The person is at the step of another page: it was done in another tab, or is not due yet.
  if (new URL(step.target, location.href).pathname !== location.pathname) {
    location.assign(step.target);
    return null;
  }
  if (Object.keys(step).length > 1) return step;
  if (repeated) {
    fault(say.failed(response.status));
    return null;
  }
  return ask({}, true);
}
