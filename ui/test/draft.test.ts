import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Draft } from '../src/draft.ts';

function memory(): Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> {
  const items = new Map<string, string>();
  return {
    getItem: (k) => items.get(k) ?? null,
    setItem: (k, v) => void items.set(k, v),
    removeItem: (k) => void items.delete(k),
  };
}

const typed = { org_name: 'Analytical Engines' };

function kept(store = memory()): Draft {
  const draft = new Draft(() => store);
  draft.signedIn('ada@example.com');
  draft.keep('Ada', typed);
  return draft;
}

test('draft: the same person gets it back, however the login is written', () => {
  const draft = kept();
  draft.signedIn(' ADA@example.com ');
  assert.deepEqual(draft.of('Ada'), typed);
});

test('draft: another login does not get it, nor does the first one afterwards', () => {
  const draft = kept();
  draft.signedIn('grace@example.com');
  assert.equal(draft.of('Ada'), undefined);
  draft.signedIn('ada@example.com');
  assert.equal(draft.of('Ada'), undefined);
});

test('draft: another name in the intent does not get it', () => assert.equal(kept().of('Grace'), undefined));

test('draft: nothing is kept when nobody has signed in on this page', () => {
  const draft = new Draft(memory);
  draft.keep('Ada', typed);
  draft.signedIn('ada@example.com');
  assert.equal(draft.of('Ada'), undefined);
});

test('draft: the login outlives a reload, the values do not', () => {
  const store = memory();
  kept(store);
  const reloaded = new Draft(() => store);
  assert.equal(reloaded.of('Ada'), undefined);
  reloaded.keep('Ada', typed);
  reloaded.signedIn('ada@example.com');
  assert.deepEqual(reloaded.of('Ada'), typed);
});

test('draft: forget drops the login too', () => {
  const draft = kept();
  draft.forget();
  draft.keep('Ada', typed);
  assert.equal(draft.of('Ada'), undefined);
});

test('draft: nothing is kept where the browser blocks storage', () => {
  const draft = new Draft(() => {
    throw new DOMException('blocked', 'SecurityError');
  });
  draft.signedIn('ada@example.com');
  draft.keep('Ada', typed);
  assert.equal(draft.of('Ada'), undefined);
});

test('draft: a session that another tab began does not get it, whatever the name', () => {
  const draft = kept();
  assert.equal(draft.of('Ada'), undefined);
});
