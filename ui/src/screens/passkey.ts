import type { App } from '../app.ts';
import { problem, type Problem } from '../faults.ts';
import type { Form } from '../form.ts';
import { post } from '../http.ts';
import { provePasskey, readOptions, type Options } from '../passkeys.ts';
import { isObject, readIntent } from '../wire.ts';

/** A challenge lives for five minutes. A page that stays open asks for another one before, in milliseconds. */
const renewal = 4 * 60_000;
/** A browser that refuses sooner than this was not stopped by a person, in milliseconds. */
const refusal = 2_000;

/** Sign-in by passkey, at a button and among what the browser fills in. A browser does one at a time. */
export class PasskeySignIn {
  form: Form | undefined;
  private ceremony = new AbortController();
  private timer = 0;
  private left = false;

  constructor(
    private readonly app: App,
    /** Whether the person wants to stay signed in. */
    private readonly remember: () => boolean,
  ) {}

  /** Has the browser offer passkeys where the login is typed, until somebody takes one or the screen is left. */
  async autofill(): Promise<void> {
    const { signal } = this.begin();
    this.timer = window.setTimeout(() => void this.renew(), renewal);
    const credential = await this.filledIn(signal);
    if (credential !== undefined) await this.form?.work(() => this.signIn(credential));
  }

  private async filledIn(signal: AbortSignal): Promise<object | undefined> {
    const begun = Date.now();
    try {
      if (!(await PublicKeyCredential.isConditionalMediationAvailable?.())) return undefined;
      const options = await this.options();
      if (signal.aborted || !('challenge' in options)) return undefined;
      return await provePasskey(options, { mediation: 'conditional', signal });
    } catch {
      // Some browsers end this when somebody closes their list. It is offered again, unless the browser itself refuses.
      if (!signal.aborted && Date.now() - begun > refusal) void this.autofill();
      return undefined;
    }
  }

  /** Has the browser ask for a passkey at once. */
  async ask(): Promise<Problem | undefined> {
    const { signal } = this.begin();
    const options = await this.options();
    if (!('challenge' in options)) return this.again(options);
    try {
      return await this.signIn(await provePasskey(options, { signal }));
    } catch {
      if (signal.aborted) return undefined;
      return this.again(problem([this.app.words.text('login.noPasskey')], { tone: 'information' }));
    }
  }

  /** Ends what is under way; the screen is about to go. */
  leave(): void {
    this.left = true;
    this.begin();
  }

  private begin(): AbortController {
    window.clearTimeout(this.timer);
    this.ceremony.abort();
    this.ceremony = new AbortController();
    if (this.left) this.ceremony.abort();
    return this.ceremony;
  }

  private again(p: Problem): Problem {
    if (!this.left) void this.autofill();
    return p;
  }

  /** A tab that nobody sees asks for no challenge: a browser has one, and another tab may need its own. */
  private async renew(): Promise<void> {
    while (document.hidden) await new Promise((resolve) => document.addEventListener('visibilitychange', resolve, { once: true }));
    if (!this.left) await this.autofill();
  }

  private async options(): Promise<Options | Problem> {
    const outcome = await post('/auth/passkeys/options', {});
    const options = outcome.kind === 'ok' ? readOptions(outcome.data) : undefined;
    return options ?? this.app.explain({ screen: 'login' }, outcome);
  }

  private async signIn(credential: object): Promise<Problem | undefined> {
    const outcome = await post('/auth/passkeys/login', { credential, remember: this.remember() });
    if (outcome.kind !== 'ok') return this.again(this.app.explain({ screen: 'login' }, outcome));
    this.app.offered.note();
    const response = 'response' in credential && isObject(credential.response) ? credential.response : {};
    return this.app.signedIn(`passkey ${String(response.userHandle)}`, readIntent((outcome.data as { next?: unknown } | null)?.next));
  }
}
