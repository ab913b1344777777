// Requests that change rows. Nothing here throws: every end of a request is an answer.

import { root } from './service.ts';

/** An answer; its status is 0 where the host cannot be reached. */
export interface Sent {
  status: number;
  data: { [name: string]: unknown };
}

const format = 'application/json;IEEE754Compatible=true';

/** Sends a change, under the entity tag of the row that is changed. */
export async function send(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, lang: string, body?: object, tag?: string): Promise<Sent> {
  const headers: Record<string, string> = { Accept: `${format};odata.metadata=minimal`, 'Accept-Language': lang };
  if (body !== undefined) headers['Content-Type'] = format;
  if (tag !== undefined) headers['If-Match'] = tag;
  try {
    const response = await fetch(root + path, { method, headers, body: body === undefined ? null : JSON.stringify(body), redirect: 'error', credentials: 'same-origin', signal: AbortSignal.timeout(30_000) });
    const text = await response.text();
    return { status: response.status, data: parse(text) };
  } catch {
    return { status: 0, data: {} };
  }
}

function parse(text: string): Sent['data'] {
  try {
    const data: unknown = JSON.parse(text);
    return typeof data === 'object' && data !== null ? (data as Sent['data']) : {};
  } catch {
    return {};
  }
}
