// Fresh proof: the host asks for it before it changes what somebody signs in with. It is asked for where the person is, and
// what they wanted is done then.

import type { App } from '../app.ts';
import { h, more } from '../dom.ts';
import { problem, type Problem } from '../faults.ts';
import { textField } from '../fields.ts';
import { Form } from '../form.ts';
import { post, type Outcome } from '../http.ts';
import { canUsePasskeys, provePasskey, readOptions } from '../passkeys.ts';
import { goTo } from '../provider.ts';
import { paths } from '../route.ts';
import { ask, type Inside } from './dialog.ts';
import type { Account, LinkedIdentity } from './wire.ts';

/** Does something, once more after a fresh proof where the host wants one; undefined where the person gives none. */
export type Prove = (act: () => Promise<Outcome>) => Promise<Outcome | undefined>;

/** Makes a Prove for the account screen. Begun is the id of the button that the person has pressed there. */
export function prover(app: App, account: () => Account, begun: () => string): Prove {
  return async (act) => {
    const outcome = await act();
    const asked = outcome.kind === 'fault' && outcome.status === 403 && outcome.fault.message === 'confirmation_required';
    if (!asked) return outcome;
    return (await confirm(app, account(), begun())) ? act() : undefined;
  };
}

/** Asks for the password, a passkey or a linked identity, whichever the person has and the browser knows. */
async function confirm(app: App, account: Account, begun: string): Promise<boolean> {
  const { words } = app;
  const password = account.password && app.boot.passwords;
  const passkey = account.passkeys.length > 0 && canUsePasskeys();
  const current = textField(words, {
    name: 'current_password',
    label: words.text('login.password'),
    type: 'password',
    autocomplete: 'current-password',
    required: true,
  });
  const linked = account.identities.filter((i) => i.linked !== '');
  const form = (inside: Inside<boolean>): Form => {
    const others = linked.map((i): Way => ({ label: words.text('account.confirmIdentity', i.label), ask: () => atProvider(app, i, begun) }));
    if (passkey) others.unshift({ label: words.text('account.confirmPasskey'), ask: () => withPasskey(app, inside) });
    if (password) return byPassword(app, account, inside, current, others);
    const [first, ...rest] = others;
    return first ? byOther(app, inside, first, rest) : byNothing(app, inside);
  };
  const known = password || passkey || linked.length > 0;
  return (
    (await ask(words, {
      title: words.text('account.confirm'),
      intro: words.text(known ? 'account.confirmIntro' : 'account.confirmElsewhere'),
      form,
      ...(password ? { focus: () => current.control } : {}),
    })) === true
  );
}

/** A way to prove that it is you, besides the password. */
interface Way {
  label: string;
  ask: () => Promise<Problem | undefined>;
}

function byPassword(app: App, account: Account, inside: Inside<boolean>, current: ReturnType<typeof textField>, others: Way[]): Form {
  const { words } = app;
  const name = textField(words, { name: 'current_account', label: words.text('setPassword.account'), autocomplete: 'username', readonly: true });
  name.set(account.email || account.name);
  const form: Form = new Form({
    words,
    announcer: inside.announcer,
    fields: [current],
    layout: [name.node, current.node],
    submit: words.text('account.confirmSubmit'),
    busy: words.text('account.working'),
    aside: more(...buttons(others, () => form), inside.cancel),
    send: async ({ current_password: password }) => proved(app, inside, await post('/auth/account/confirm', { password })),
  });
  return form;
}

function byOther(app: App, inside: Inside<boolean>, first: Way, rest: Way[]): Form {
  const { words } = app;
  const form: Form = new Form({
    words,
    announcer: inside.announcer,
    fields: [],
    layout: [],
    submit: first.label,
    busy: words.text('account.working'),
    aside: more(...buttons(rest, () => form), inside.cancel),
    send: first.ask,
  });
  return form;
}

function buttons(ways: Way[], form: () => Form): HTMLElement[] {
  return ways.map(({ label, ask }) => {
    const button: HTMLElement = h('button', { type: 'button', class: 'secondary', onclick: () => void form().work(ask, button) }, label);
    return button;
  });
}

/** Leaves for a provider, which asks the person anew. The account screen says afterwards that the change can be made. */
async function atProvider(app: App, { name }: LinkedIdentity, button: string): Promise<Problem | undefined> {
  return goTo(app, 'account', await post(`/auth/account/confirm/${encodeURIComponent(name)}`, {}), { purpose: 'confirm', name, button });
}

/** Who can prove nothing here signs in anew: that is fresh proof, too. */
function byNothing(app: App, inside: Inside<boolean>): Form {
  const { words } = app;
  return new Form({
    words,
    announcer: inside.announcer,
    fields: [],
    layout: [],
    submit: words.text('signOut.title'),
    busy: words.text('signOut.title'),
    aside: inside.cancel,
    send: () => {
      inside.close();
      location.hash = paths.signOut;
      return Promise.resolve(undefined);
    },
  });
}

async function withPasskey(app: App, inside: Inside<boolean>): Promise<Problem | undefined> {
  const asked = await post('/auth/account/confirm/options', {});
  const options = asked.kind === 'ok' ? readOptions(asked.data) : undefined;
  if (options === undefined) return app.explain({ screen: 'account' }, asked);
  let credential;
  try {
    credential = await provePasskey(options, {});
  } catch {
    return problem([app.words.text('login.noPasskey')], { tone: 'information' });
  }
  return proved(app, inside, await post('/auth/account/confirm', { credential }));
}

function proved(app: App, inside: Inside<boolean>, outcome: Outcome): Problem | undefined {
  if (outcome.kind === 'ok') {
    inside.close(true);
    return undefined;
  }
  const p = app.explain({ screen: 'account' }, outcome);
  const { password, ...fields } = p.fields;
  return password === undefined ? p : { ...p, fields: { ...fields, current_password: password }, retype: 'current_password' };
}
