import type { App } from '../app.ts';
import { h } from '../dom.ts';
import { problem, type Problem } from '../faults.ts';
import { textField, type Field } from '../fields.ts';
import { Form, type Values } from '../form.ts';
import { post } from '../http.ts';
import type { Page } from '../page.ts';
import { paths } from '../route.ts';
import { safeTarget } from '../target.ts';
import { backLink } from './forgot-password.ts';

/** The new password, typed twice. The account is shown, and read by password managers, but not changed here. */
export function setPassword(app: App): Page {
  const { words, boot } = app;
  const email = textField(words, {
    name: 'email',
    label: words.text('setPassword.account'),
    autocomplete: 'username',
    readonly: true,
  });
  const { password, confirmation } = newPassword(app);
  email.set(app.reset?.email ?? '');
  const form = new Form({
    words,
    announcer: app.announcer,
    fields: [password, confirmation],
    layout: [email.node, password.node, confirmation.node],
    submit: words.text('setPassword.submit'),
    busy: words.text('setPassword.working'),
    aside: backLink(app),
    check: (values) => checkPassword(app, values),
    send: (values) => send(app, values),
  });
  const intro = app.invited && boot.appName ? words.text('setPassword.invitedIntro', boot.appName) : '';
  const title = words.text(app.invited ? 'setPassword.invitedTitle' : 'setPassword.title');
  return { title, intro, body: [form.node], form, focus: password.control };
}

/** The two fields of a new password. */
export function newPassword(app: App): { password: Field; confirmation: Field } {
  const { words, boot } = app;
  const least = boot.minLength;
  const count = h('span', { class: 'optional' });
  const password = textField(words, {
    name: 'password',
    label: words.text('setPassword.password'),
    type: 'password',
    autocomplete: 'new-password',
    required: true,
    hint: least > 0 ? words.plural('setPassword.hint', least) : '',
    aside: count,
    typed: (value) => {
      const n = [...value].length;
      const text = n < least ? words.text('setPassword.count', n, least) : words.text('setPassword.enough');
      count.textContent = n > 0 && least > 0 ? text : '';
    },
  });
  const confirmation = textField(words, {
    name: 'password_confirmation',
    label: words.text('setPassword.confirmation'),
    type: 'password',
    autocomplete: 'new-password',
    required: true,
  });
  return { password, confirmation };
}

export function checkPassword(app: App, values: Values): Record<string, string[]> {
  const { words, boot } = app;
  const password = String(values.password);
  if ([...password].length < boot.minLength) return { password: [words.plural('setPassword.password_too_short', boot.minLength)] };
  if (password === values.password_confirmation) return {};
  return { password_confirmation: [words.text('setPassword.password_confirmation_mismatch')] };
}

async function send(app: App, values: Values): Promise<Problem | undefined> {
  const outcome = await post('/auth/reset-password', { ...app.reset, ...values });
  if (outcome.kind !== 'ok') return failed(app, app.explain({ screen: 'setPassword' }, outcome));
  app.login = app.reset?.email ?? '';
  app.reset = undefined;
  app.intent = null; // the reset has ended every session of the user
  const done = app.invited ? 'setPassword.invitedSuccess' : 'setPassword.reset_success';
  const redirect = safeTarget((outcome.data as { redirect?: unknown } | null)?.redirect);
  const elsewhere = redirect !== undefined && new URL(redirect, location.href).pathname !== location.pathname;
  if (elsewhere) location.assign(redirect);
  else app.go('signIn', problem([app.words.text(done)], { tone: 'success' }));
  return undefined;
}

/** A link that has run out cannot be mended at a field: say it above the form, with the way to a new one. */
function failed(app: App, p: Problem): Problem {
  const { email, ...fields } = p.fields;
  if (email === undefined) return p;
  const link = h('a', { href: paths.forgotPassword }, app.words.text('setPassword.newLink'));
  return { ...p, fields, lines: [...p.lines, ...email], link };
}
