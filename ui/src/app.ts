// The app: what it knows, which screen is shown, where the browser goes next.

import { Draft } from './draft.ts';
import { explain, problem, type Problem, type Vocabulary } from './faults.ts';
import type { Values } from './form.ts';
import { get, type Outcome } from './http.ts';
import { Words, type Bundles } from './i18n.ts';
import { frame, type Frame } from './frame.ts';
import { Offered } from './offered.ts';
import type { Page } from './page.ts';
import { home, parseRoute, paths, type Route, type Screen } from './route.ts';
import { Announcer, strip } from './strip.ts';
import { safeTarget, withFragment } from './target.ts';
import { Trips, type Trip } from './trip.ts';
import { readIntent, type Bootstrap, type Intent } from './wire.ts';

/** Makes the screens, and the page that ends the way where there is no screen to go back to. */
export interface Screens extends Record<Screen, (app: App, route: Route) => Page> {
  trouble(app: App, problem: Problem): Page;
  onward(app: App, go: () => void, why: 'circle' | 'silence'): Page;
  /** Offers a passkey to somebody who has asked for one, and goes on in any case. */
  offer(app: App, go: () => void): void;
}

/** How long a target may take before the page says so, in milliseconds: one that answers 204 leaves it where it is. */
const patience = 10_000;

/** Where the tab keeps when somebody signed out or signed in, and for how long that is the reason to be at the sign-in, in milliseconds. */
const leftKey = 'vestibule.left';
const enteredKey = 'vestibule.entered';
const notedFor = 30_000;

export class App {
  readonly announcer = new Announcer();
  words: Words;
  /** The fragment that the user came with. It is not ours and goes on to the target. */
  private kept = '';
  /** The open intent of this session. */
  intent: Intent | null;
  /** Said once on the next screen. */
  notice: Problem | undefined;
  readonly draft = new Draft(() => sessionStorage);
  readonly offered = new Offered(() => localStorage);
  private readonly trips = new Trips(() => sessionStorage);
  /** What somebody began on the account screen before the page was left for a provider. */
  back: Trip | undefined;
  /** The login to start with: after a reset, the address that it was for. */
  login = '';
  /** Somebody has asked at the sign-in for a passkey, which is made before they go on. */
  wantsPasskey = false;
  /** Somebody has signed in since the page was loaded. */
  private entered = false;
  /** A link to set a password that was read and scrubbed; it lives as long as the page. */
  reset: { token: string; email: string } | undefined;
  /** Whether that link invites somebody who has no password yet. */
  readonly invited = new URLSearchParams(location.search).has('invited');

  private page: Page | undefined;
  private shown: Screen | undefined;
  private readonly left = new Map<Screen, string>();
  private readonly frame: Frame;

  constructor(
    readonly boot: Bootstrap,
    private bundles: Bundles,
    private readonly screens: Screens,
    root: HTMLElement,
  ) {
    this.words = new Words(bundles, boot.locale);
    this.intent = boot.next;
    this.frame = frame(boot, this.announcer, root, (lang) => this.speak(lang));
  }

  start(): void {
    const state: unknown = history.state;
    if (typeof state === 'object' && state !== null && 'kept' in state) this.kept = String(state.kept);
    this.comeBack(this.trips.end());
    window.addEventListener('hashchange', () => this.render());
    window.addEventListener('pageshow', (e) => e.persisted && location.reload());
    window.addEventListener('offline', () => this.connection('common.offlineBanner', 'warning'));
    window.addEventListener('online', () => this.connection('common.backOnline', 'success'));
    document.addEventListener('click', (e) => this.rememberLink(e));
    this.render();
  }

  /** Goes to a screen, with something to say there. The entry in the history is replaced: what was left is over. */
  go(screen: Screen, notice?: Problem): void {
    this.notice = notice;
    // A step stands in the session, not in the address: going back to it must not hand its name on to the target.
    history.replaceState(history.state, '', screen === 'orgSetup' ? location.pathname + location.search + this.kept : paths[screen]);
    this.render({ screen });
  }

  /** Whether no page was shown before. */
  get first(): boolean {
    return this.page === undefined;
  }

  /** Notes that the page is left for a provider. Who comes back may be another person. */
  leaveFor(trip: Omit<Trip, 'fragment'>): void {
    this.draft.forget();
    this.trips.begin({ ...trip, fragment: this.kept });
  }

  /** Takes the fragment of a sign-in that has ended here. Somebody who has given it up is still a guest, and gets none. */
  private comeBack(trip: Trip | undefined): void {
    if (trip?.purpose !== 'signIn') this.back = trip;
    else if (this.intent !== null || this.boot.pending !== null) this.kept = trip.fragment ?? '';
  }

  /** Notes that somebody signs out, for the next sign-in of this tab. */
  leave(): void {
    this.note(leftKey);
  }

  /** Reports whether somebody has just signed out in this tab. Told once. */
  hasLeft(): boolean {
    return this.noted(leftKey);
  }

  /**
   * Reports whether the sign-in of a moment ago led straight back here: the browser has not kept its cookie. Somebody who
   * saw a page of the application in between comes from that page.
   */
  hasLost(): boolean {
    return this.noted(enteredKey) && this.boot.session !== 'ended' && document.referrer.startsWith(location.origin + location.pathname);
  }

  private note(key: string): void {
    try {
      sessionStorage.setItem(key, String(Date.now()));
    } catch {
      // the browser blocks storage: the page that follows shows it by itself, or nothing does
    }
  }

  private noted(key: string): boolean {
    try {
      const at = Number(sessionStorage.getItem(key));
      sessionStorage.removeItem(key);
      return at > Date.now() - notedFor;
    } catch {
      return false;
    }
  }

  /** Does what an intent says. Only its kind decides. Returns what went wrong, or nothing when the user moves on. */
  follow(intent: Intent | null): Problem | undefined {
    switch (intent?.kind) {
      case 'redirect':
        return this.redirect(intent);
      case 'org_setup':
        this.intent = intent;
        this.go('orgSetup');
        return undefined;
      case undefined:
        return problem([this.words.text('common.failed', 200)]);
      default:
        return problem([this.words.text('common.unknownStep', intent?.kind ?? '')]);
    }
  }

  /** Says that the browser keeps no cookie, and what to do. */
  withoutCookies(): Problem {
    return problem([this.words.text('login.cookiesBlocked')], { tone: 'warning' });
  }

  /** Goes on after a sign-in. Who is what one draft is kept for: the login, or the account that a passkey names. */
  signedIn(who: string, next: Intent | null): Problem | undefined {
    if (!navigator.cookieEnabled) return this.withoutCookies();
    this.draft.signedIn(who);
    this.entered = true;
    this.note(enteredKey);
    const stopped = this.follow(next);
    if (stopped === undefined && next?.kind !== 'redirect') void this.prove();
    return stopped;
  }

  /** Asks for the session before somebody fills in a step: a browser may drop the cookie without a word. */
  private async prove(): Promise<void> {
    const outcome = await get('/auth/intents/current');
    if (outcome.kind === 'fault' && outcome.status === 401) this.backTo(this.withoutCookies());
  }

  private backTo(notice: Problem | undefined): void {
    this.intent = null;
    this.go('signIn', notice);
  }

  /** Asks the host which step is open and does it. */
  async resume(): Promise<void> {
    const outcome = await get('/auth/intents/current');
    if (outcome.kind === 'fault' && outcome.status === 401) {
      this.sessionEnded();
      return;
    }
    const data = outcome.kind === 'ok' ? (outcome.data as { next?: unknown } | null) : null;
    const intent = readIntent(data?.next);
    this.fail(intent === null ? this.explain({ screen: 'orgSetup' }, outcome) : this.follow(intent));
  }

  /** The name in the open intent, or nothing. */
  get person(): string {
    const name = this.intent?.payload.personName;
    return typeof name === 'string' ? name : '';
  }

  /** Back to sign-in. What was typed into a step is kept for the same person. Who had no session is not told that it ended. */
  sessionEnded(typed?: Values): void {
    if (typed === undefined) this.draft.drop();
    else this.draft.keep(this.person, typed);
    const key = typed === undefined ? 'common.unauthenticated' : 'login.sessionEnded';
    const never = this.boot.session === 'guest' && !this.entered;
    this.backTo(never ? undefined : problem([this.words.text(key)], { tone: 'information' }));
  }

  explain(vocabulary: Vocabulary, outcome: Outcome): Problem {
    return explain(this.words, { defaults: { password_too_short: this.boot.minLength }, ...vocabulary }, outcome);
  }

  /** Takes the words of a module that was loaded on demand. */
  learn(more: Bundles): void {
    const own = this.bundles;
    this.bundles = Object.fromEntries([...new Set([...Object.keys(own), ...Object.keys(more)])].map((lang) => [lang, { ...more[lang], ...own[lang] }]));
    this.words = new Words(this.bundles, this.boot.locale);
  }

  /** Shows a problem that ends the way, if there is one: there is no form to go back to. */
  fail(p: Problem | undefined): void {
    if (p !== undefined) this.show(this.trouble(p));
  }

  trouble(p: Problem): Page {
    return this.screens.trouble(this, p);
  }

  /** Takes new words while the page is open, for those who write them. What was typed stays. */
  reword(bundles: Bundles): void {
    const values = this.page?.form?.values();
    this.bundles = bundles;
    this.words = new Words(this.bundles, this.boot.locale);
    this.render();
    if (values) this.page?.form?.fill(values);
  }

  /** Changes the language. The fragment and what was typed stay, and the address says so to a reload. */
  private speak(lang: string): void {
    this.boot.locale = lang;
    const url = new URL(location.href);
    url.searchParams.set('lang', lang);
    history.replaceState(history.state, '', url);
    this.reword(this.bundles);
    document.getElementById(`language-${lang}`)?.focus();
  }

  private redirect({ payload, waits }: Intent): Problem | undefined {
    const safe = safeTarget(payload.target);
    if (safe === undefined) return problem([this.words.text('common.unsafeTarget')]);
    this.draft.forget();
    this.trips.end(); // one that was begun in another tab
    const go = (): void => {
      location.replace(withFragment(safe, this.kept)); // back leads to where the sign-in was asked for
      setTimeout(() => this.show(this.screens.onward(this, go, 'silence')), patience);
    };
    if (waits) {
      this.show(this.screens.onward(this, go, 'circle'));
      return undefined;
    }
    if (this.wantsPasskey) {
      this.wantsPasskey = false;
      this.screens.offer(this, go);
      return undefined;
    }
    this.announcer.say(this.words.text('login.login_success'), true);
    go();
    return undefined;
  }

  /** Shows what the address bar says, or the step that is due. */
  private render(route = this.arrive(parseRoute(location.hash, home(location.search)))): void {
    if (this.intent !== null && this.isDue(route)) {
      this.fail(this.follow(this.intent));
      return;
    }
    const page = this.screens[route.screen](this, route);
    const back = this.shown !== undefined && this.shown !== route.screen ? this.left.get(route.screen) : undefined;
    this.left.delete(route.screen);
    this.shown = route.screen;
    this.show(page, back);
  }

  /** Whether the open intent comes before what the address says. Who has nothing left to do has no business at the other screens. */
  private isDue({ screen, brokenLink }: Route): boolean {
    if (screen === 'signIn') return !brokenLink;
    if (screen === 'account') return !this.settled;
    if (this.intent?.kind !== 'redirect') return false;
    return screen === 'orgSetup' || (screen === 'forgotPassword' && this.settled);
  }

  /** Whether somebody was done before they came here: the host has told the page where they go. */
  private get settled(): boolean {
    return this.boot.session === 'settled';
  }

  /** Takes what a fragment carries: one that is not ours is kept, a token leaves the address bar at once. */
  private arrive(route: Route): Route {
    if (route.foreign !== undefined) this.kept = route.foreign;
    if (route.token !== undefined && route.email !== undefined) this.reset = { token: route.token, email: route.email };
    const ofReset = route.screen === 'setPassword' || route.brokenLink;
    history.replaceState({ kept: this.kept }, '', ofReset ? paths.setPassword : location.href);
    return route.brokenLink && this.reset !== undefined ? { screen: 'setPassword' } : route;
  }

  /** Puts a page on the screen and the focus where the reader expects it. */
  show(page: Page, back?: string): void {
    const first = this.first;
    this.page?.form?.dispose();
    this.page?.leave?.();
    this.page = page;
    this.announcer.leave();
    const notice = this.notice;
    this.notice = undefined;
    const above = notice && page.form === undefined ? [strip(notice.tone, ...notice.lines)] : [];
    this.frame.show({ ...page, body: [...above, ...page.body] }, this.words);
    const link = back === undefined ? null : document.getElementById(back);
    const target = link ?? (first ? page.focus : undefined) ?? this.frame.heading;
    target.focus();
    if (notice && page.form) page.form.show(notice, false);
    else if (notice) this.announcer.say(notice.lines.join(' '));
  }

  /** Shows a page in place of one that was loading, unless the reader has gone elsewhere. A link or button outside of it keeps the focus. */
  exchange(loading: Page, page: Page): void {
    if (this.page !== loading) return;
    const held = document.activeElement;
    this.show(page);
    if (held instanceof HTMLElement && held.isConnected && held !== document.body && held !== this.frame.heading) held.focus();
    else page.focus?.focus();
  }

  private rememberLink(event: MouseEvent): void {
    const link = event.target instanceof Element ? event.target.closest('a[id]') : null;
    if (link && this.shown) this.left.set(this.shown, link.id);
  }

  private connection(key: string, tone: Problem['tone']): void {
    const text = this.words.text(key);
    this.frame.banner(tone, text);
    this.announcer.say(text);
  }
}
