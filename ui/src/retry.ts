// When the page of an outage asks again: after 2, 4, 8, 16 and then 30 seconds, each a quarter more or less, so that not
// everybody comes back at once.

export interface Tries {
  count: number;
  /** When the last one was due, in milliseconds. */
  at: number;
}

const longest = 30;
/** An outage that begins this long after the last try is another one, in milliseconds. */
const forget = 60_000;

/** The next try; random is at least 0 and below 1. */
export function again(last: Tries | undefined, now: number, random: number): Tries {
  const count = last === undefined || now - last.at > forget || last.at > now + forget ? 0 : last.count;
  const seconds = Math.min(2 ** (count + 1), longest);
  return { count: Math.min(count + 1, longest), at: now + seconds * 1000 * (0.75 + random / 2) };
}

/** Reads what was stored, and trusts none of it. */
export function readTries(text: string | null): Tries | undefined {
  try {
    const data: unknown = JSON.parse(text ?? '');
    if (typeof data !== 'object' || data === null || !('count' in data) || !('at' in data)) return undefined;
    const { count, at } = data;
    return Number.isInteger(count) && Number(count) >= 0 && Number.isFinite(at) ? { count: Number(count), at: Number(at) } : undefined;
  } catch {
    return undefined;
  }
}
