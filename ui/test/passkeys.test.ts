import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readAccount, readTokens } from '../src/account/wire.ts';
import { Offered } from '../src/offered.ts';
import { canUsePasskeys, decode, encode, readOptions } from '../src/passkeys.ts';
import { home, parseRoute } from '../src/route.ts';
import { readBootstrap } from '../src/wire.ts';

test('passkeys: bytes survive base64url', () => {
  const all = Uint8Array.from({ length: 256 }, (_, i) => i);
  for (const bytes of [all, all.slice(0, 0), all.slice(0, 1), all.slice(250, 252)]) assert.deepEqual(decode(encode(bytes)), bytes);
  assert.equal(encode(Uint8Array.of(251, 255, 254)), '-__-');
});

test('passkeys: options without a challenge are none', () => {
  assert.equal(readOptions({ publicKey: { challenge: 'AA' } })?.challenge, 'AA');
  for (const data of [null, {}, { publicKey: null }, { publicKey: {} }, { publicKey: { challenge: 1 } }]) assert.equal(readOptions(data), undefined);
});

test('passkeys: a program without them cannot use them', () => assert.equal(canUsePasskeys(), false));

test('offered: once, and never where nothing can be kept', () => {
  const items = new Map<string, string>();
  const store = { getItem: (k: string) => items.get(k) ?? null, setItem: (k: string, v: string) => void items.set(k, v) };
  const offered = new Offered(() => store);
  assert.equal(offered.yes, false);
  offered.note();
  assert.equal(offered.yes, true);
  const blocked = new Offered(() => {
    throw new Error('blocked');
  });
  blocked.note();
  assert.equal(blocked.yes, true);
});

test('account: the query names the screen, a fragment of the application does not', () => {
  assert.equal(home('?lang=de&account'), 'account');
  assert.equal(home('?redirect=/account'), 'signIn');
  assert.deepEqual(parseRoute('', 'account'), { screen: 'account' });
  assert.deepEqual(parseRoute('#/orders', 'account'), { screen: 'account' });
  assert.deepEqual(parseRoute('#/sign-out', 'account'), { screen: 'signOut' });
});

test('account: what the host leaves out or misspells is empty', () => {
  assert.equal(readAccount({}), undefined);
  assert.deepEqual(readAccount({ user: { id: '1', name: null, email: 7 }, passkeys: [{ id: 'p', last_used: null }, 3], sessions: null, steps: [{ plugin: 'totp' }] }), {
    name: '',
    email: '',
    recent: 0,
    password: false,
    passkeys: [{ id: 'p', name: '', created: '', used: '' }],
    identities: [],
    devices: [],
    sessions: [],
    tokens: false,
    steps: [{ plugin: 'totp', title: 'totp' }],
  });
  assert.deepEqual(readTokens({ tokens: [{ id: 't', name: 'Excel', route: null, created: 'c', expires: 'e', last_used: null }] }), [
    { id: 't', name: 'Excel', route: '', created: 'c', expires: 'e', used: '' },
  ]);
});

test('bootstrap: passwords unless the host says otherwise, passkeys only where it says so', () => {
  const read = (more: object): unknown => {
    const { passwords, passkeys } = readBootstrap({ routes: {}, ...more }) ?? {};
    return [passwords, passkeys];
  };
  assert.deepEqual(read({}), [true, false]);
  assert.deepEqual(read({ password: { sign_in: false }, passkeys: true }), [false, true]);
});
