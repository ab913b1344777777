// One's own account: what one signs in with, and where one is signed in.

import type { App } from '../app.ts';
import { h, type Child } from '../dom.ts';
import { problem, type Problem } from '../faults.ts';
import { textField } from '../fields.ts';
import { Form } from '../form.ts';
import { change, get, post, type Outcome } from '../http.ts';
import type { Page } from '../page.ts';
import { canUsePasskeys } from '../passkeys.ts';
import { goTo } from '../provider.ts';
import { paths } from '../route.ts';
import { safeTarget } from '../target.ts';
import type { Trip } from '../trip.ts';
import { isObject, readIntent } from '../wire.ts';
import { ask, closeDialogs } from './dialog.ts';
import { addPasskey, signalAccepted } from './passkeys.ts';
import { changePassword } from './password.ts';
import { prover, type Prove } from './proof.ts';
import { button, linesOf, moment, sectionNode, titleOf, type Act, type Row, type Section } from './section.ts';
import { addToken } from './tokens.ts';
import { readAccount, readTokens, type Account, type Device, type LinkedIdentity, type Token } from './wire.ts';

/** The page of the account, or nothing where somebody was led elsewhere. */
export async function account(app: App): Promise<Page | undefined> {
  const known = await load(app);
  if (known === undefined) return undefined;
  if ('lines' in known) return app.trouble(known);
  const screen = new AccountScreen(app, known);
  const { name, email } = known.account;
  return {
    title: app.words.text('common.account'),
    intro: [name, email].filter(Boolean).join(' · '),
    body: [screen.node],
    wide: true,
    leave: closeDialogs,
    focus: screen.begun,
  };
}

interface Known {
  account: Account;
  tokens: Token[];
}

/** What the host says of the account; a problem, or nothing for somebody who has to do something else first. */
async function load(app: App): Promise<Known | Problem | undefined> {
  const outcome = await get('/auth/account');
  const read = outcome.kind === 'ok' ? readAccount(outcome.data) : undefined;
  if (read === undefined) return elsewhere(app, outcome) ? undefined : app.explain({ screen: 'account' }, outcome);
  const tokens = read.tokens ? await get('/auth/tokens') : undefined;
  return { account: read, tokens: tokens?.kind === 'ok' ? readTokens(tokens.data) : [] };
}

/** Whether somebody is led away: to the sign-in, which comes back here, or to the step that is open. */
function elsewhere(app: App, outcome: Outcome): boolean {
  if (outcome.kind !== 'fault') return false;
  if (outcome.status === 401) location.assign('/login?account');
  else if (outcome.status === 403 && outcome.fault.message === 'unsettled') void app.resume();
  else return false;
  return true;
}

class AccountScreen {
  readonly node = h('div', { class: 'account' });
  private readonly prove: Prove;
  private busy = false;
  /** The id of the button that was pressed last. */
  private pressed = '';

  constructor(
    private readonly app: App,
    private known: Known,
  ) {
    this.prove = prover(app, () => this.known.account, () => this.pressed);
    const { back } = app;
    app.back = undefined;
    this.pressed = back?.button ?? '';
    this.render(this.pressed.split('-')[0], back && this.cameBack(back));
  }

  /** The button that was pressed before the page was left for a provider. */
  get begun(): HTMLElement | undefined {
    return [...this.node.querySelectorAll('button')].find((b) => b.id === this.pressed);
  }

  /** What to say to somebody who comes back from a provider; the host says whether they have done there what they went for. */
  private cameBack({ purpose, name }: Trip): Problem | undefined {
    const { identities, recent } = this.known.account;
    const done = purpose === 'link' ? identities.some((i) => i.name === name && i.linked !== '') : recent > 0;
    return done ? problem([this.app.words.text(purpose === 'link' ? 'account.identityLinked' : 'account.confirmed')], { tone: 'success' }) : undefined;
  }

  /** Shows what is known, with what is to be said in one section. The focus stays, or goes to the heading of that section. */
  private render(section = '', said?: Problem): void {
    const held = this.node.contains(document.activeElement) ? document.activeElement?.id : undefined;
    const all = this.sections().map((s) => sectionNode(this.app.words, s, s.key === section ? said : undefined));
    this.node.replaceChildren(...all, ...this.away());
    if (said) this.announce(said);
    if (held === undefined && said === undefined) return;
    (document.getElementById(held ?? '') ?? document.getElementById(titleOf(section)))?.focus();
  }

  private announce(said: Problem): void {
    const text = linesOf(this.app.words, said).join(' ');
    if (said.tone === 'error' || said.tone === 'warning') this.app.announcer.alert(text);
    else this.app.announcer.say(text);
  }

  private readonly start = (section: string, act: Act): void => void this.run(section, act);

  /** Does one thing at a time, and shows what has become of it. */
  private async run(section: string, act: Act): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    this.pressed = document.activeElement?.id ?? '';
    this.node.setAttribute('aria-busy', 'true');
    const said = await act.run();
    const known = said === undefined ? undefined : await load(this.app);
    this.busy = false;
    this.node.removeAttribute('aria-busy');
    if (known !== undefined && 'account' in known) this.known = known;
    if (said !== undefined) this.render(section, said);
  }

  /** What to say of an outcome; nothing where somebody was led away, or has changed their mind. */
  private result(outcome: Outcome | undefined, done: string): Problem | undefined {
    if (outcome === undefined || elsewhere(this.app, outcome)) return undefined;
    if (outcome.kind !== 'ok') return this.app.explain({ screen: 'account' }, outcome);
    return problem([this.app.words.text(done)], { tone: 'success' });
  }

  private sections(): Section[] {
    const { passkeys, devices, steps, tokens } = this.known.account;
    const { boot } = this.app;
    const identities = this.allIdentities();
    return [
      ...(boot.passwords ? [this.password()] : []),
      ...(boot.passkeys || passkeys.length > 0 ? [this.passkeys()] : []),
      ...(identities.length > 0 ? [this.identities(identities)] : []),
      ...(steps.length > 0 ? [this.steps()] : []),
      this.sessions(),
      ...(devices.length > 0 ? [this.devices()] : []),
      ...(tokens ? [this.tokens()] : []),
    ];
  }

  private password(): Section {
    const { words } = this.app;
    const { password } = this.known.account;
    const run = async (): Promise<Problem | undefined> =>
      (await changePassword(this.app, this.known.account, this.prove)) ? problem([words.text('account.passwordChanged')], { tone: 'success' }) : undefined;
    const act = { key: 'change', label: words.text(password ? 'account.changePassword' : 'account.setPassword'), run };
    return {
      key: 'password',
      title: words.text('login.password'),
      intro: password ? undefined : words.text('account.noPassword'),
      rows: [],
      below: [button('password', act, this.start)],
    };
  }

  private passkeys(): Section {
    const { words, boot } = this.app;
    const rows = this.known.account.passkeys.map((p): Row => {
      const row = { id: p.id, name: p.name || words.text('account.passkey') };
      const acts: Act[] = [
        { key: 'rename', label: words.text('account.rename'), run: () => this.rename(p.id, row.name) },
        { key: 'remove', label: words.text('account.remove'), run: () => this.removePasskey(p.id, row.name) },
      ];
      const used = p.used === '' ? words.text('account.neverUsed') : moment(words, 'account.lastUsed', p.used);
      return { ...row, facts: [moment(words, 'account.created', p.created), used], acts: acts.map((act) => button('passkeys', act, this.start, row)) };
    });
    const add = { key: 'add', label: words.text('account.addPasskey'), run: () => addPasskey(this.app, this.prove) };
    const can = boot.passkeys && canUsePasskeys();
    return {
      key: 'passkeys',
      title: words.text('account.passkeys'),
      intro: words.text('account.passkeysIntro'),
      rows,
      none: words.text('account.noPasskeys'),
      below: [can ? button('passkeys', add, this.start) : h('p', { class: 'hint' }, words.text(boot.passkeys ? 'login.passkeysUnknown' : 'account.passkeysOff'))],
    };
  }

  private async rename(id: string, before: string): Promise<Problem | undefined> {
    const { words } = this.app;
    const name = textField(words, { name: 'name', label: words.text('account.passkeyName'), autocomplete: 'off', maxlength: 100, required: true });
    name.set(before);
    const path = `/auth/account/passkeys/${encodeURIComponent(id)}`;
    return this.form('account.renamePasskey', 'account.save', [name], (values) => this.prove(() => change('PATCH', path, values)), 'account.renamed');
  }

  private async removePasskey(id: string, name: string): Promise<Problem | undefined> {
    const path = `/auth/account/passkeys/${encodeURIComponent(id)}`;
    const said = await this.remove('account.removePasskey', name, 'account.removePasskeyIntro', path, 'account.passkeyRemoved');
    if (said?.tone === 'success') void signalAccepted();
    return said;
  }

  /** The providers of the host, and those that somebody has an account of and that the host has no longer. */
  private allIdentities(): LinkedIdentity[] {
    const { identities } = this.known.account;
    const others = this.app.boot.identities.filter((i) => identities.every((known) => known.name !== i.name));
    return [...identities, ...others.map(({ name, label }) => ({ name, label, linked: '' }))];
  }

  private identities(all: LinkedIdentity[]): Section {
    const { words } = this.app;
    const rows = all.map((i): Row => {
      const row = { id: i.name, name: i.label };
      const path = `/auth/account/identities/${encodeURIComponent(i.name)}`;
      const unlink = (): Promise<Problem | undefined> => this.remove('account.removeIdentity', i.label, 'account.removeIdentityIntro', path, 'account.identityRemoved', 'account.unlink');
      const act: Act =
        i.linked === ''
          ? { key: 'link', label: words.text('account.link'), run: () => this.link(i.name, path) }
          : { key: 'unlink', label: words.text('account.unlink'), run: unlink };
      const fact = i.linked === '' ? words.text('account.notLinked') : moment(words, 'account.linked', i.linked);
      return { ...row, facts: [fact], acts: [button('identities', act, this.start, row)] };
    });
    return { key: 'identities', title: words.text('account.identities'), intro: words.text('account.identitiesIntro'), rows };
  }

  /** Leaves for a provider, to link the account that the person has there. */
  private async link(name: string, path: string): Promise<Problem | undefined> {
    const outcome = await this.prove(() => post(path, {}));
    if (outcome === undefined || elsewhere(this.app, outcome)) return undefined;
    return goTo(this.app, 'account', outcome, { purpose: 'link', name, button: `identities-unlink-${name}` });
  }

  private steps(): Section {
    const { words } = this.app;
    const rows = this.known.account.steps.map(({ plugin, title }): Row => {
      const row = { id: plugin, name: title };
      const act = { key: 'open', label: words.text('account.openStep'), run: () => this.openStep(plugin) };
      return { ...row, facts: [], acts: [button('steps', act, this.start, row)] };
    });
    return { key: 'steps', title: words.text('account.steps'), rows };
  }

  private async openStep(plugin: string): Promise<Problem | undefined> {
    const outcome = await this.prove(() => post(`/auth/account/steps/${encodeURIComponent(plugin)}`, {}));
    if (outcome?.kind !== 'ok') return this.result(outcome, '');
    return this.app.follow(isObject(outcome.data) ? readIntent(outcome.data.next) : null);
  }

  private sessions(): Section {
    const { words } = this.app;
    const rows = this.known.account.sessions.map((s): Row => {
      const row = this.browserRow(s);
      const path = `/auth/account/sessions/${encodeURIComponent(s.id)}`;
      const act = this.ending(path, 'account.sessionEnded');
      const leave = h('a', { href: paths.signOut, class: 'secondary' }, words.text('signOut.title'));
      return {
        ...row,
        mark: s.current && words.text('account.thisBrowser'),
        facts: [moment(words, 'account.signedIn', s.created, 'minute'), moment(words, 'account.lastSeen', s.used, 'minute')],
        acts: [s.current ? leave : button('sessions', act, this.start, row)],
      };
    });
    return { key: 'sessions', title: words.text('account.sessions'), rows };
  }

  private devices(): Section {
    const { words } = this.app;
    const rows = this.known.account.devices.map((d): Row => {
      const row = this.browserRow(d);
      const act = this.ending(`/auth/account/devices/${encodeURIComponent(d.id)}`, 'account.deviceEnded');
      const facts = [moment(words, 'account.signedIn', d.created), moment(words, 'account.lastUsed', d.used, 'minute')];
      return { ...row, facts, acts: [button('devices', act, this.start, row)] };
    });
    return { key: 'devices', title: words.text('account.devices'), intro: words.text('account.devicesIntro'), rows };
  }

  private browserRow(d: Device): Pick<Row, 'id' | 'name'> {
    return { id: d.id, name: d.browser || this.app.words.text('account.unknownBrowser') };
  }

  /** Ends a session or a device, at once: whoever it was signs in again. */
  private ending(path: string, done: string): Act {
    return { key: 'end', label: this.app.words.text('account.end'), run: async () => this.result(await change('DELETE', path), done) };
  }

  private tokens(): Section {
    const { words } = this.app;
    const rows = this.known.tokens.map((t): Row => {
      const row = { id: t.id, name: t.name };
      const path = `/auth/tokens/${encodeURIComponent(t.id)}`;
      const run = (): Promise<Problem | undefined> => this.remove('account.removeToken', t.name, 'account.removeTokenIntro', path, 'account.tokenRemoved');
      const act = { key: 'remove', label: words.text('account.remove'), run };
      const used = t.used === '' ? words.text('account.neverUsed') : moment(words, 'account.lastUsed', t.used);
      const facts: Child[] = [moment(words, 'account.created', t.created), moment(words, 'account.expires', t.expires), used];
      return { ...row, mark: t.route, facts, acts: [button('tokens', act, this.start, row)] };
    });
    const run = async (): Promise<Problem | undefined> =>
      (await addToken(this.app, this.prove)) ? problem([words.text('account.tokenAdded')], { tone: 'success' }) : undefined;
    return {
      key: 'tokens',
      title: words.text('account.tokens'),
      intro: words.text('account.tokensIntro'),
      rows,
      none: words.text('account.noTokens'),
      below: [button('tokens', { key: 'add', label: words.text('account.addToken'), run }, this.start)],
    };
  }

  /** Asks whether something is to end, since it does not come back, and ends it. */
  private remove(title: string, name: string, intro: string, path: string, done: string, submit = 'account.remove'): Promise<Problem | undefined> {
    return this.form(title, submit, [], () => this.prove(() => change('DELETE', path)), done, this.app.words.text(intro, name));
  }

  /** Asks in a dialog, and says afterwards what was done. What is not a field's is said in the dialog. */
  private async form(
    title: string,
    submit: string,
    fields: ReturnType<typeof textField>[],
    act: (values: Record<string, string | boolean>) => Promise<Outcome | undefined>,
    done: string,
    intro?: string,
  ): Promise<Problem | undefined> {
    const { words } = this.app;
    return ask<Problem>(words, {
      title: words.text(title),
      ...(intro === undefined ? {} : { intro }),
      form: ({ close, announcer, cancel }) =>
        new Form({
          words,
          announcer,
          fields,
          layout: fields.map((f) => f.node),
          submit: words.text(submit),
          busy: words.text('account.working'),
          aside: cancel,
          send: async (values) => {
            const outcome = await act(values);
            if (outcome === undefined) return problem([words.text('account.notConfirmed')], { tone: 'information' });
            const said = this.result(outcome, done);
            if (said?.tone !== 'success') return said;
            close(said);
            return undefined;
          },
        }),
    });
  }

  /** The way back to the application. */
  private away(): HTMLElement[] {
    const { words, boot } = this.app;
    const target = safeTarget(boot.routes.dashboard) ?? safeTarget(boot.routes.home);
    return target === undefined ? [] : [h('p', {}, h('a', { href: target, class: 'back' }, words.text('account.back', boot.appName)))];
  }
}
