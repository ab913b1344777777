// How often this tab was led to one target. A step that holds leads from the sign-in to a page of the application; a
// page that leads straight back would go round without end.

export interface Hops {
  target: string;
  /** When, in milliseconds, the latest last. */
  times: number[];
}

/** What counts together, in milliseconds. */
const span = 10_000;
/** How often a tab is led to one target within it. */
const most = 2;

/** Counts one more; circles tells that the tab is to wait for the person. */
export function hop(last: Hops | undefined, target: string, now: number): { hops: Hops; circles: boolean } {
  const before = last?.target === target ? last.times.filter((at) => at <= now && now - at < span) : [];
  return { hops: { target, times: [...before, now].slice(-most) }, circles: before.length >= most };
}

/** Reads what was stored, and trusts none of it. */
export function readHops(text: string | null): Hops | undefined {
  try {
    const data: unknown = JSON.parse(text ?? '');
    if (typeof data !== 'object' || data === null || !('target' in data) || !('times' in data)) return undefined;
    const { target, times } = data;
    if (typeof target !== 'string' || !Array.isArray(times)) return undefined;
    return { target, times: times.filter((at): at is number => Number.isFinite(at)) };
  } catch {
    return undefined;
  }
}
