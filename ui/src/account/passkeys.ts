// Passkeys of an account: making one, and telling the browser which ones are left.

import type { App } from '../app.ts';
import { problem, type Problem } from '../faults.ts';
import { post } from '../http.ts';
import { makePasskey, readOptions } from '../passkeys.ts';
import { isObject, str } from '../wire.ts';
import type { Prove } from './proof.ts';

/** Makes a passkey. It returns what to say, undefined where the person gave no fresh proof. */
export async function addPasskey(app: App, prove: Prove): Promise<Problem | undefined> {
  const asked = await prove(() => post('/auth/account/passkeys/options', {}));
  if (asked === undefined) return undefined;
  const options = asked.kind === 'ok' ? readOptions(asked.data) : undefined;
  if (options === undefined) return app.explain({ screen: 'account' }, asked);
  let credential: object;
  try {
    credential = await makePasskey(options);
  } catch (err) {
    return refusal(app, err);
  }
  const made = await prove(() => post('/auth/account/passkeys', { credential, name: deviceName(app) }));
  if (made?.kind !== 'ok') return made && app.explain({ screen: 'account' }, made);
  return problem([app.words.text('account.passkeyMade')], { tone: 'success' });
}

/** Why a browser makes none: the device has one already, the person has changed their mind, or it cannot. */
function refusal(app: App, err: unknown): Problem {
  const name = err instanceof DOMException ? err.name : '';
  if (name === 'InvalidStateError') return problem([app.words.text('account.passkey_known')], { tone: 'information' });
  if (name === 'NotAllowedError' || name === 'AbortError') return problem([app.words.text('account.passkeyNotMade')], { tone: 'information' });
  return problem([app.words.text('account.passkeyImpossible')]);
}

/** What a new passkey is called until its person gives it another name: the system that has made it. */
function deviceName(app: App): string {
  const agent = navigator.userAgent;
  const systems = ['iPhone', 'iPad', 'Android', 'CrOS', 'Windows', 'Mac OS', 'Linux'];
  const system = systems.find((s) => agent.includes(s));
  return system?.replace('CrOS', 'Chromebook').replace('Mac OS', 'Mac') ?? app.words.text('account.passkey');
}

/** Tells the browser which passkeys the account still has, so that it stops offering an ended one. */
export async function signalAccepted(): Promise<void> {
  if (typeof PublicKeyCredential !== 'function' || typeof PublicKeyCredential.signalAllAcceptedCredentials !== 'function') return;
  const asked = await post('/auth/account/passkeys/options', {});
  const options = asked.kind === 'ok' ? readOptions(asked.data) : undefined;
  if (!isObject(options?.rp) || !isObject(options.user)) return;
  const known: unknown[] = Array.isArray(options.excludeCredentials) ? options.excludeCredentials : [];
  try {
    await PublicKeyCredential.signalAllAcceptedCredentials({
      rpId: str(options.rp.id) || location.hostname,
      userId: str(options.user.id),
      allAcceptedCredentialIds: known.filter(isObject).map((c) => str(c.id)),
    });
  } catch {
    // the browser keeps the ended passkey; the host refuses it
  }
}
