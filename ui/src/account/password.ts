import type { App } from '../app.ts';
import { problem } from '../faults.ts';
import { textField } from '../fields.ts';
import { Form } from '../form.ts';
import { post } from '../http.ts';
import { checkPassword, newPassword } from '../screens/set-password.ts';
import { ask } from './dialog.ts';
import type { Prove } from './proof.ts';
import type { Account } from './wire.ts';

/** Asks for a new password and sets it. It reports whether the password is changed. */
export async function changePassword(app: App, account: Account, prove: Prove): Promise<boolean> {
  const { words } = app;
  const name = textField(words, { name: 'account_name', label: words.text('setPassword.account'), autocomplete: 'username', readonly: true });
  name.set(account.email || account.name);
  const { password, confirmation } = newPassword(app);
  const done = await ask<true>(words, {
    title: words.text('setPassword.title'),
    intro: words.text('account.passwordIntro'),
    focus: () => password.control,
    form: ({ close, announcer, cancel }) =>
      new Form({
        words,
        announcer,
        fields: [password, confirmation],
        layout: [name.node, password.node, confirmation.node],
        submit: words.text('setPassword.submit'),
        busy: words.text('setPassword.working'),
        aside: cancel,
        check: (values) => checkPassword(app, values),
        send: async (values) => {
          const outcome = await prove(() => post('/auth/account/password', values));
          if (outcome === undefined) return problem([words.text('account.notConfirmed')], { tone: 'information' });
          if (outcome.kind !== 'ok') return app.explain({ screen: 'setPassword' }, outcome);
          close(true);
          return undefined;
        },
      }),
  });
  return done === true;
}
