// Hash routes. The fragment never reaches the server, so a reset token in it stays out of logs and referrers.

export type Screen = 'signIn' | 'forgotPassword' | 'setPassword' | 'orgSetup' | 'signOut' | 'account';

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
  account: '#/', // of /login?account, see home
} as const satisfies Record<Screen, string>;

/** Returns the screen of a page without a fragment: /login?account is that of the account. */
export function home(search: string): 'signIn' | 'account' {
  return new URLSearchParams(search).has('account') ? 'account' : 'signIn';
}

/** Reads location.hash of a page whose first screen is start. */
export function parseRoute(hash: string, start: 'signIn' | 'account' = 'signIn'): Route {
  if (hash === '' || hash === '#' || hash === paths.signIn) return { screen: start };
  if (hash === paths.forgotPassword) return { screen: 'forgotPassword' };
  if (hash === paths.orgSetup) return { screen: 'orgSetup' };
  if (hash === paths.signOut) return { screen: 'signOut' };
  if (hash === paths.setPassword || hash.startsWith(paths.setPassword + '/')) return parseSetPassword(hash);
  return start === 'account' ? { screen: start } : { screen: start, foreign: hash };
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
