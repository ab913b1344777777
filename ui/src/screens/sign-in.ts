import type { App } from '../app.ts';
import { h, more } from '../dom.ts';
import { problem, type Problem } from '../faults.ts';
import { checkbox, textField, type Field } from '../fields.ts';
import { Form, type Values } from '../form.ts';
import { change, post } from '../http.ts';
import type { Page } from '../page.ts';
import { canUsePasskeys } from '../passkeys.ts';
import { paths, type Route } from '../route.ts';
import { strip } from '../strip.ts';
import { readIntent } from '../wire.ts';
import { identityLinks } from './identities.ts';
import { PasskeySignIn } from './passkey.ts';

/** The ways to sign in that the host has and the browser knows. */
export function signIn(app: App, route: Route): Page {
  const { words } = app;
  app.notice ??= reason(app);
  if (route.brokenLink) {
    const link = app.boot.passwords ? { link: h('a', { href: paths.forgotPassword }, words.text('login.newLink')) } : {};
    app.notice = problem([words.text('login.brokenLink')], { tone: 'warning', ...link });
  }
  const intro = app.boot.appName ? words.text('login.intro', app.boot.appName) : '';
  const ways = app.boot.passwords ? withPassword(app) : withoutPassword(app);
  const title = words.text('login.title');
  // Somebody who listens hears what will be linked before they type.
  return app.boot.pending === null ? { title, intro, ...ways } : { title, intro, ...ways, body: [...awaited(app), ...ways.body], focus: undefined };
}

/** The identity that the next sign-in links. It stays in sight until then: another person may have left it behind. */
function awaited(app: App): HTMLElement[] {
  const { boot, words } = app;
  const { name = '', label = '', account = '' } = boot.pending ?? {};
  const forget = async (): Promise<void> => {
    const outcome = await change('DELETE', `/auth/identity/${encodeURIComponent(name)}`);
    if (outcome.kind === 'ok') boot.pending = null;
    app.go('signIn', outcome.kind === 'ok' ? problem([words.text('login.notLinked')], { tone: 'success' }) : app.explain({ screen: 'login' }, outcome));
  };
  const no = h('button', { type: 'button', class: 'secondary', id: 'forget', onclick: () => void forget() }, words.text('login.doNotLink'));
  return [strip('information', h('p', {}, words.text('login.pending', account ? `${label} (${account})` : label)), h('p', {}, words.text('login.pendingHint')), no)];
}

type Ways = Pick<Page, 'body' | 'form' | 'focus' | 'leave'>;

/** Login, password, keep me signed in; and passkeys, as autofill and at a button. */
function withPassword(app: App): Ways {
  const { words } = app;
  const byPasskey = app.boot.passkeys && canUsePasskeys();
  const forgot = h('a', { href: paths.forgotPassword, id: 'forgot' }, words.text('login.forgot'));
  const login = textField(words, {
    name: 'login',
    label: words.text(app.boot.byEmail ? 'login.address' : 'login.login'),
    autocomplete: byPasskey ? 'username webauthn' : 'username',
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
  const offer = byPasskey && !app.offered.yes ? checkbox({ name: 'passkey_offer', label: words.text('login.makePasskey') }) : undefined;
  if (app.login) login.set(app.login);
  const passkey = byPasskey ? new PasskeySignIn(app, () => remember.value() === true) : undefined;
  const button = passkey && h('button', { type: 'button', class: 'secondary', id: 'passkey' }, words.text('login.passkey'));
  const form = new Form({
    words,
    announcer: app.announcer,
    fields: [login, password, remember],
    layout: [login.node, password.node, h('div', { class: 'row' }, remember.node, forgot), offer?.node],
    submit: words.text('login.submit'),
    busy: words.text('login.working'),
    aside: more(button, ...identityLinks(app)),
    send: (values) => send(app, values, offer),
  });
  if (passkey) {
    passkey.form = form;
    button?.addEventListener('click', () => void form.work(() => passkey.ask(), button));
    void passkey.autofill();
  }
  return { body: [form.node], form, focus: (app.login ? password : login).control, leave: () => passkey?.leave() };
}

/** A passkey and identities at buttons, and nothing else. */
function withoutPassword(app: App): Ways {
  const { words } = app;
  if (!app.boot.passkeys || !canUsePasskeys()) {
    const links = identityLinks(app);
    if (links.length === 1) links[0]?.setAttribute('class', 'primary');
    if (links.length > 0 || !app.boot.passkeys) return { body: [h('div', { class: 'actions' }, ...links)] };
    return { body: [strip('warning', h('p', {}, words.text('login.passkeysUnknown')))] };
  }
  const remember = checkbox({ name: 'remember', label: words.text('login.remember') });
  const passkey = new PasskeySignIn(app, () => remember.value() === true);
  const form = new Form({
    words,
    announcer: app.announcer,
    fields: [remember],
    layout: [h('div', { class: 'row' }, remember.node)],
    submit: words.text('login.passkey'),
    busy: words.text('login.working'),
    aside: more(...identityLinks(app)),
    send: () => passkey.ask(),
  });
  passkey.form = form;
  return { body: [form.node], form, leave: () => passkey.leave() };
}

/** Why somebody is here who did not ask for it. */
function reason(app: App): Problem | undefined {
  const { words } = app;
  if (app.first && app.hasLeft()) return problem([words.text('signOut.done')], { tone: 'success' });
  if (!navigator.cookieEnabled || (app.first && app.hasLost())) return app.withoutCookies();
  const ended = app.boot.session === 'ended' && app.first;
  return ended ? problem([words.text('common.unauthenticated')], { tone: 'information' }) : undefined;
}

async function send(app: App, values: Values, offer: Field | undefined): Promise<Problem | undefined> {
  app.login = String(values.login);
  const outcome = await post('/auth/login', values);
  if (outcome.kind !== 'ok') return refused(app.explain({ screen: app.boot.byEmail ? 'loginByEmail' : 'login' }, outcome));
  if (offer) app.offered.note();
  app.wantsPasskey = offer?.value() === true;
  return app.signedIn(app.login, readIntent((outcome.data as { next?: unknown } | null)?.next));
}

/** Which of the two is wrong nobody may learn: neither is marked, and the password is typed again. */
function refused(p: Problem): Problem {
  const { login, ...fields } = p.fields;
  if (login === undefined) return p;
  return { ...p, fields, lines: [...p.lines, ...login], retype: 'password' };
}
