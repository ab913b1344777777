// One way to talk to the host. Nothing here throws: every end of a request is an outcome.

import { readFault, type Fault } from './wire.ts';

export type Outcome =
  | { kind: 'ok'; data: unknown }
  | { kind: 'fault'; status: number; fault: Fault; retryAfter: number }
  | { kind: 'offline' }
  | { kind: 'timeout' };

const patience = 30_000;

export function post(path: string, body: unknown): Promise<Outcome> {
  return change('POST', path, body);
}

/** Sends a request that changes something, with a body in JSON where there is one. */
export function change(method: 'POST' | 'PATCH' | 'DELETE', path: string, body?: unknown): Promise<Outcome> {
  // Mails are written in the language that was read, which the browser's headers need not name.
  return send(`${path}?lang=${encodeURIComponent(document.documentElement.lang)}`, {
    method,
    headers: { Accept: 'application/json', ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
    body: body === undefined ? null : JSON.stringify(body),
  });
}

export function get(path: string): Promise<Outcome> {
  return send(path, { headers: { Accept: 'application/json' } });
}

async function send(path: string, init: RequestInit): Promise<Outcome> {
  try {
    const response = await fetch(path, {
      ...init,
      credentials: 'same-origin',
      redirect: 'error',
      signal: AbortSignal.timeout(patience),
    });
    const data = await readJSON(response);
    if (response.ok) return { kind: 'ok', data };
    return {
      kind: 'fault',
      status: response.status,
      fault: readFault(data),
      retryAfter: retrySeconds(response.headers.get('Retry-After')),
    };
  } catch (err) {
    const late = err instanceof DOMException && err.name === 'TimeoutError';
    return { kind: late ? 'timeout' : 'offline' };
  }
}

/** The body, or null when it is no JSON, as from a proxy in between. A broken connection throws. */
async function readJSON(response: Response): Promise<unknown> {
  const text = await response.text();
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

/** Seconds of a Retry-After header in either of its forms (RFC 9110, 10.2.3); 0 when there is none. */
export function retrySeconds(header: string | null, now: number = Date.now()): number {
  if (header === null) return 0;
  if (/^\d+$/.test(header.trim())) return Math.min(Number(header), 86_400);
  const at = Date.parse(header);
  return Number.isNaN(at) ? 0 : Math.max(0, Math.ceil((at - now) / 1000));
}
