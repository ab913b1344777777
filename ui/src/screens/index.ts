// The screens by their names in the address bar.

import type { Screens } from '../app.ts';
import { account, offer } from './account.ts';
import { forgotPassword } from './forgot-password.ts';
import { onward } from './onward.ts';
import { orgSetup } from './org-setup.ts';
import { setPassword } from './set-password.ts';
import { signIn } from './sign-in.ts';
import { signOut } from './sign-out.ts';
import { trouble } from './trouble.ts';

export const screens: Screens = { signIn, forgotPassword, setPassword, orgSetup, signOut, account, trouble, onward, offer };
