import type { App } from '../app.ts';
import { h } from '../dom.ts';
import { problem, type Problem } from '../faults.ts';
import { checkbox, textField } from '../fields.ts';
import { Form, type Values } from '../form.ts';
import { post } from '../http.ts';
import type { Page } from '../page.ts';
import { paths, type Route } from '../route.ts';
import { readIntent } from '../wire.ts';

/** Login, password, keep me signed in. */
export function signIn(app: App, route: Route): Page {
  const { words } = app;
  const forgot = h('a', { href: paths.forgotPassword, id: 'forgot' }, words.text('login.forgot'));
  const login = textField(words, {
    name: 'login',
    label: words.text(app.boot.byEmail ? 'login.address' : 'login.login'),
    autocomplete: 'username',
    inputmode: 'email',
    required: true,
    typed: (value) => void (app.login = value),
  });
  const password = textField(words, {
    name: 'password',
    label: words.text('login.password'),
    type: 'password',
    autocomplete: 'current-password',
    required: true,
  });
  const remember = checkbox({ name: 'remember', label: words.text('login.remember') });
  if (app.login) login.set(app.login);
  const form = new Form({
    words,
    announcer: app.announcer,
    fields: [login, password, remember],
    layout: [login.node, password.node, h('div', { class: 'row' }, remember.node, forgot)],
    submit: words.text('login.submit'),
    busy: words.text('login.working'),
    send: (values) => send(app, values),
  });
  app.notice ??= reason(app);
  if (route.brokenLink) {
    const link = h('a', { href: paths.forgotPassword }, words.text('login.newLink'));
    app.notice = problem([words.text('login.brokenLink')], { tone: 'warning', link });
  }
  const intro = app.boot.appName ? words.text('login.intro', app.boot.appName) : '';
  return { title: words.text('login.title'), intro, body: [form.node], form, focus: (app.login ? password : login).control };
}

/** Why somebody is here who did not ask for it. */
function reason(app: App): Problem | undefined {
  const { words } = app;
  if (!navigator.cookieEnabled) return problem([words.text('login.cookiesBlocked')], { tone: 'warning' });
  if (app.first && app.hasLeft()) return problem([words.text('signOut.done')], { tone: 'success' });
  const ended = app.boot.session === 'ended' && app.first;
  return ended ? problem([words.text('common.unauthenticated')], { tone: 'information' }) : undefined;
}

async function send(app: App, values: Values): Promise<Problem | undefined> {
  app.login = String(values.login);
  const outcome = await post('/auth/login', values);
  if (outcome.kind !== 'ok') return refused(app.explain({ screen: 'login' }, outcome));
  if (!navigator.cookieEnabled) return problem([app.words.text('login.cookiesBlocked')], { tone: 'warning' });
  app.draft.signedIn(app.login);
  return app.follow(readIntent((outcome.data as { next?: unknown } | null)?.next));
}

/** Which of the two is wrong nobody may learn: neither is marked, and the password is typed again. */
function refused(p: Problem): Problem {
  const { login, ...fields } = p.fields;
  if (login === undefined) return p;
  return { ...p, fields, lines: [...p.lines, ...login], retype: 'password' };
}
