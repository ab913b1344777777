// The screens by their names in the address bar.

import type { Screens } from '../app.ts';
import { account, offer } from './account.ts';
import { firstIdentity } from './first-identity.ts';
import { firstPasskey } from './first-passkey.ts';
import { forgotPassword } from './forgot-password.ts';
import { onward } from './onward.ts';
import { orgSetup } from './org-setup.ts';
import { setPassword as newPassword } from './set-password.ts';
import { signIn } from './sign-in.ts';
import { signOut } from './sign-out.ts';
import { trouble } from './trouble.ts';

/** A link leads to a password; to a passkey where nobody signs in with a password; or to the identity providers alone. */
const setPassword: Screens['setPassword'] = (app, route) => {
  if (app.boot.passwords) return newPassword(app);
  if (app.boot.passkeys) return firstPasskey(app);
  return app.boot.identities.length > 0 ? firstIdentity(app) : signIn(app, route);
};

export const screens: Screens = { signIn, forgotPassword, setPassword, orgSetup, signOut, account, trouble, onward, offer };
