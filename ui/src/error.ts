// The page of an outage asks again by itself. How often it has done so stands in the storage of the tab, since every
// time it is a new page.

import { again, readTries } from './retry.ts';

const key = 'vestibule.tries';

const line = document.getElementById('again');
if (line !== null) await ask(line);

/** Waits longer from time to time, and loads the page as soon as the host can be reached at all: nobody wants to see the browser's own page. */
async function ask(line: HTMLElement): Promise<void> {
  for (;;) {
    const next = again(readTries(stored()), Date.now(), Math.random());
    await countdown(line, next.at);
    await seen();
    store(JSON.stringify(next));
    if (await reachable()) {
      location.reload();
      return;
    }
  }
}

async function countdown(line: HTMLElement, until: number): Promise<void> {
  const text = line.dataset['text'] ?? '';
  for (let left = until - Date.now(); left > 0; left = until - Date.now()) {
    line.textContent = text.replace('{0}', String(Math.ceil(left / 1000)));
    await new Promise((resolve) => setTimeout(resolve, Math.min(left, 250)));
  }
}

/** Resolves while the page can be seen and the browser is connected: a tab in the background asks nobody. */
async function seen(): Promise<void> {
  while (document.hidden || !navigator.onLine) {
    await new Promise((resolve) => {
      document.addEventListener('visibilitychange', resolve, { once: true });
      window.addEventListener('online', resolve, { once: true });
    });
  }
}

async function reachable(): Promise<boolean> {
  try {
    await fetch('/healthz', { cache: 'no-store', signal: AbortSignal.timeout(10_000) });
    return true;
  } catch {
    return false;
  }
}

/** The storage of the tab, which may be forbidden: then every page starts from what the last one cannot tell. */
function stored(): string | null {
  try {
    return sessionStorage.getItem(key);
  } catch {
    return '{"count":4,"at":' + String(Date.now()) + '}';
  }
}

function store(value: string): void {
  try {
    sessionStorage.setItem(key, value);
  } catch {
    // as stored says
  }
}
