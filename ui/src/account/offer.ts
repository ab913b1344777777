import type { App } from '../app.ts';
import { h } from '../dom.ts';
import { Form } from '../form.ts';
import { addPasskey } from './passkeys.ts';
import type { Prove } from './proof.ts';

/** Makes a passkey for somebody who has asked for one at the sign-in, then goes on. */
export function offer(app: App, go: () => void): void {
  const { words } = app;
  const form = new Form({
    words,
    announcer: app.announcer,
    fields: [],
    layout: [],
    submit: words.text('account.addPasskey'),
    busy: words.text('account.working'),
    aside: h('button', { type: 'button', class: 'secondary', onclick: go }, words.text('account.offerLater')),
    send: async () => {
      const said = await addPasskey(app, allowed);
      if (said !== undefined && said.tone !== 'success') return said;
      go();
      return undefined;
    },
  });
  app.show({ title: words.text('account.addPasskey'), intro: words.text('account.offerIntro'), body: [form.node], form });
}

/** The sign-in of a moment ago is fresh proof. Who has a step to do first may make no passkey yet, and goes on. */
const allowed: Prove = async (act) => {
  const outcome = await act();
  return outcome.kind === 'fault' && (outcome.status === 401 || outcome.status === 403) ? undefined : outcome;
};
