// Hash routes. The fragment never reaches the server, so a reset token in it stays out of logs and referrers.

export type Screen = 'signIn' | 'forgotPassword' | 'setPassword' | 'orgSetup' | 'signOut';

export interface Route {
  screen: Screen;
  /** setPassword only. */
  token?: string;
  email?: string;
  /** A reset link that is used, expired, cut short or already scrubbed: sign-in is shown, with a word about it. */
  brokenLink?: boolean;
  /** A fragment that is not ours. It belongs to the page that the user wanted and is appended to the target. */
  foreign?: string;
}

/** The addresses of the screens, for links and for the address bar. */
export const paths = {
  signIn: '#/',
  forgotPassword: '#/forgot-password',
  setPassword: '#/set-password',
  orgSetup: '#/org-setup',
  signOut: '#/sign-out',
} as const satisfies Record<Screen, string>;

/** Reads location.hash. */
export function parseRoute(hash: string): Route {
  if (hash === '' || hash === '#' || hash === paths.signIn) return { screen: 'signIn' };
  if (hash === paths.forgotPassword) return { screen: 'forgotPassword' };
  if (hash === paths.orgSetup) return { screen: 'orgSetup' };
  if (hash === paths.signOut) return { screen: 'signOut' };
  if (hash === paths.setPassword || hash.startsWith(paths.setPassword + '/')) return parseSetPassword(hash);
  return { screen: 'signIn', foreign: hash };
}

function parseSetPassword(hash: string): Route {
  const parts = hash.slice(paths.setPassword.length + 1).split('/');
  const token = decode(parts[0]);
  const email = decode(parts[1]);
  if (parts.length !== 2 || !token || !email) return { screen: 'signIn', brokenLink: true };
  return { screen: 'setPassword', token, email };
}

function decode(s: string | undefined): string | undefined {
  try {
    return s === undefined ? undefined : decodeURIComponent(s);
  } catch {
    return undefined;
  }
}
