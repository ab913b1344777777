import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readAccount } from '../src/account/wire.ts';
import { Trips } from '../src/trip.ts';
import { readBootstrap } from '../src/wire.ts';

function memory(): Map<string, string> & Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> {
  const items = new Map<string, string>();
  return Object.assign(items, {
    getItem: (k: string) => items.get(k) ?? null,
    setItem: (k: string, v: string) => void items.set(k, v),
    removeItem: (k: string) => void items.delete(k),
  });
}

test('trip: it ends once, and leaves nothing behind', () => {
  const store = memory();
  new Trips(() => store).begin({ purpose: 'signIn', name: 'company', fragment: '#/orders/17' });
  const back = new Trips(() => store);
  assert.equal(back.end()?.fragment, '#/orders/17');
  assert.equal(back.end(), undefined);
  assert.equal(store.size, 0);
});

test('trip: another one replaces it', () => {
  const store = memory();
  const trips = new Trips(() => store);
  trips.begin({ purpose: 'signIn', name: 'company', fragment: '#/orders/17' });
  trips.begin({ purpose: 'link', name: 'other' });
  assert.equal(trips.end()?.purpose, 'link');
  assert.equal(trips.end(), undefined);
});

test('trip: one that took too long is gone', () => {
  const store = memory();
  let now = 0;
  const trips = new Trips(() => store, () => now);
  trips.begin({ purpose: 'confirm', name: 'company' });
  now = 10 * 60_000 - 1;
  assert.equal(trips.end()?.purpose, 'confirm');
  trips.begin({ purpose: 'confirm', name: 'company' });
  now *= 2;
  now += 1;
  assert.equal(trips.end(), undefined);
  assert.equal(store.size, 0);
});

test('trip: what cannot be kept or read is none', () => {
  const blocked = new Trips(() => {
    throw new Error('blocked');
  });
  blocked.begin({ purpose: 'signIn', name: 'company' });
  assert.equal(blocked.end(), undefined);
  const store = memory();
  store.setItem('vestibule.trip', '{');
  assert.equal(new Trips(() => store).end(), undefined);
  assert.equal(store.size, 0);
});

test('identities: what the host says is read, and nothing else begins a sign-in', () => {
  const url = '/auth/identity/company';
  const boot = readBootstrap({ routes: {}, identities: [{ name: 'company', label: 'Company account', url }, { name: 'plain', url: '/auth/identity/plain' }, { name: 'x', url: 'javascript:alert(1)' }, 7] });
  assert.deepEqual(boot?.identities, [
    { name: 'company', label: 'Company account', url },
    { name: 'plain', label: 'plain', url: '/auth/identity/plain' },
  ]);
  assert.equal(boot?.pending, null);
  assert.deepEqual(readBootstrap({ routes: {}, pending: { name: 'company', label: '', account: 7 } })?.pending, { name: 'company', label: 'company', account: '' });
  assert.deepEqual(readBootstrap({ routes: {} })?.identities, []);
  const account = readAccount({ user: {}, recent: 30, identities: [{ name: 'company', label: 'Company account', linked: null }] });
  assert.deepEqual([account?.recent, account?.identities], [30, [{ name: 'company', label: 'Company account', linked: '' }]]);
});
