import type { App } from '../app.ts';
import { h } from '../dom.ts';
import type { Problem } from '../faults.ts';
import { textField } from '../fields.ts';
import { Form, type Values } from '../form.ts';
import { post } from '../http.ts';
import type { Page } from '../page.ts';
import { paths } from '../route.ts';
import { strip } from '../strip.ts';

/** Asks for the address; the answer is the same whether there is an account or not. */
export function forgotPassword(app: App): Page {
  const { words } = app;
  const email = textField(words, {
    name: 'email',
    label: words.text('forgotPassword.address'),
    type: 'email',
    autocomplete: 'email',
    required: true,
    typed: (value) => void (app.login = value),
  });
  if (app.login.includes('@')) email.set(app.login);
  const form = new Form({
    words,
    announcer: app.announcer,
    fields: [email],
    layout: [email.node],
    submit: words.text('forgotPassword.submit'),
    busy: words.text('forgotPassword.working'),
    aside: backLink(app),
    send: (values) => send(app, values),
  });
  return {
    title: words.text('forgotPassword.title'),
    intro: words.text('forgotPassword.intro'),
    body: [form.node],
    form,
    focus: email.control,
  };
}

async function send(app: App, values: Values): Promise<Problem | undefined> {
  const email = String(values.email);
  const outcome = await post('/auth/forgot-password', { email });
  if (outcome.kind !== 'ok') return app.explain({ screen: 'forgotPassword' }, outcome);
  if (email.includes('@')) app.login = email;
  app.show(sent(app, email));
  return undefined;
}

function sent(app: App, email: string): Page {
  const { words } = app;
  const text = words.text('forgotPassword.reset_link_sent', email);
  const again = (): void => app.go('forgotPassword');
  const button = h('button', { type: 'button', class: 'secondary', onclick: again }, words.text('forgotPassword.again'));
  app.announcer.say(text);
  return {
    title: words.text('forgotPassword.sentTitle'),
    body: [
      strip('success', h('p', {}, text)),
      h('p', { class: 'hint' }, words.text('forgotPassword.hint')),
      h('div', { class: 'actions' }, button, backLink(app)),
    ],
  };
}

export function backLink(app: App): HTMLElement {
  return h('a', { href: paths.signIn, class: 'back' }, app.words.text('common.backToSignIn'));
}
