// Requests to the service. Nothing here throws: every end of a request is an answer.

export type Answer =
  | { kind: 'ok'; data: { [name: string]: unknown } }
  | { kind: 'refused'; status: number; code: string; text: string; reference: string }
  | { kind: 'away' }
  | { kind: 'gone' };

/** Where the service is. */
export const root = '/odata/';

/** Asks the service for JSON, for rows in a language. gone is the answer to a request that signal has ended. */
export async function ask(path: string, signal: AbortSignal, lang?: string, page?: number): Promise<Answer> {
  const headers: Record<string, string> = {};
  if (lang !== undefined) Object.assign(headers, { Accept: 'application/json;odata.metadata=none;IEEE754Compatible=true', 'Accept-Language': lang });
  if (page !== undefined) headers['Prefer'] = `odata.maxpagesize=${String(page)}`;
  try {
    const response = await fetch(root + path, { headers, signal, redirect: 'error', credentials: 'same-origin' });
    const body = await response.text();
    const data = parse(body);
    if (response.ok) return { kind: 'ok', data };
    const error = (data['error'] ?? {}) as { code?: unknown; message?: unknown };
    const reference = response.headers.get('X-Request-Id') ?? '';
    return { kind: 'refused', status: response.status, code: String(error.code ?? ''), text: String(error.message ?? ''), reference };
  } catch {
    return { kind: signal.aborted ? 'gone' : 'away' };
  }
}

function parse(body: string): { [name: string]: unknown } {
  try {
    const data: unknown = JSON.parse(body);
    return typeof data === 'object' && data !== null ? (data as { [name: string]: unknown }) : { value: data };
  } catch {
    return {};
  }
}

export const rowsOf = (data: { [name: string]: unknown }): Row[] => (Array.isArray(data['value']) ? (data['value'] as Row[]) : []);

export type Row = { [name: string]: unknown };

/** The value of a path in a row; undefined where it has none. */
export function valueAt(row: Row, path: string): unknown {
  return path.split('/').reduce<unknown>((v, name) => (typeof v === 'object' && v !== null ? (v as Row)[name] : undefined), row);
}
