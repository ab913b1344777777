import type { App } from '../app.ts';
import { h, more } from '../dom.ts';
import type { Problem } from '../faults.ts';
import { textField } from '../fields.ts';
import { Form } from '../form.ts';
import { post } from '../http.ts';
import type { Page } from '../page.ts';
import { goTo } from '../provider.ts';

/** The identity that somebody links by a link, where nothing else signs people in. */
export function firstIdentity(app: App): Page {
  const { words, boot } = app;
  const email = textField(words, {
    name: 'email',
    label: words.text('setPassword.account'),
    autocomplete: 'username',
    readonly: true,
  });
  email.set(app.reset?.email ?? '');
  const [first, ...others] = boot.identities;
  const buttons = others.map(({ name, label }) => {
    const start = (): void => void form.work(() => begin(app, name), button);
    const button = h('button', { type: 'button', class: 'secondary', id: `identity-${name}`, onclick: start }, words.text('login.identity', label));
    return button;
  });
  const form = new Form({
    words,
    announcer: app.announcer,
    fields: [],
    layout: [email.node],
    submit: words.text('login.identity', first?.label ?? ''),
    busy: words.text('login.working'),
    aside: more(...buttons),
    send: () => begin(app, first?.name ?? ''),
  });
  const intro = boot.appName ? words.text('firstIdentity.intro', boot.appName) : '';
  return { title: words.text('firstIdentity.title'), intro, body: [form.node], form };
}

async function begin(app: App, name: string): Promise<Problem | undefined> {
  const outcome = await post(`/auth/invitation/identities/${encodeURIComponent(name)}`, { ...app.reset });
  return goTo(app, 'firstIdentity', outcome, { purpose: 'signIn', name });
}
