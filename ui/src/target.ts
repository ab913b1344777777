// Where the app may send the browser. The host has checked a target already; this is the second lock.

/**
 * Returns the target when it is an http(s) URL or a rooted path, else undefined. Refused: every other scheme, relative
 * paths, `//host`, backslashes, control characters and blanks, credentials in the URL.
 */
export function safeTarget(target: unknown): string | undefined {
  if (typeof target !== 'string' || /[\u0000-\u0020\u007f-\u009f\\]/.test(target)) return undefined;
  if (target.startsWith('/')) return target.startsWith('//') ? undefined : target;
  if (!/^https?:\/\/[^/?#]/i.test(target)) return undefined;
  try {
    const url = new URL(target);
    return url.username === '' && url.password === '' ? target : undefined;
  } catch {
    return undefined;
  }
}

/** Appends the fragment that the user came with, when the target has none of its own. */
export function withFragment(target: string, fragment: string): string {
  return fragment === '' || target.includes('#') ? target : target + fragment;
}
