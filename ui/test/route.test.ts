import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseRoute } from '../src/route.ts';

const cases: [name: string, hash: string, want: object][] = [
  ['nothing', '', { screen: 'signIn' }],
  ['a lone number sign', '#', { screen: 'signIn' }],
  ['the root', '#/', { screen: 'signIn' }],
  ['forgot password', '#/forgot-password', { screen: 'forgotPassword' }],
  ['org setup', '#/org-setup', { screen: 'orgSetup' }],
  ['sign out', '#/sign-out', { screen: 'signOut' }],
  ['a reset link', '#/set-password/abc/ada%40example.com', { screen: 'setPassword', token: 'abc', email: 'ada@example.com' }],
  ['a reset link with an unescaped at', '#/set-password/abc/ada@example.com', { screen: 'setPassword', token: 'abc', email: 'ada@example.com' }],
  ['a reset link with a plus', '#/set-password/a+b/ada%2Bx@example.com', { screen: 'setPassword', token: 'a+b', email: 'ada+x@example.com' }],
  ['a reset link with a slash in the token', '#/set-password/a%2Fb/a@b.c', { screen: 'setPassword', token: 'a/b', email: 'a@b.c' }],
  ['a scrubbed reset link', '#/set-password', { screen: 'signIn', brokenLink: true }],
  ['a reset link without address', '#/set-password/abc', { screen: 'signIn', brokenLink: true }],
  ['a reset link with an empty token', '#/set-password//a@b.c', { screen: 'signIn', brokenLink: true }],
  ['a reset link with too much', '#/set-password/abc/a@b.c/d', { screen: 'signIn', brokenLink: true }],
  ['a reset link with a bad escape', '#/set-password/abc/%zz', { screen: 'signIn', brokenLink: true }],
  ['a fragment of the page behind', '#orders/17', { screen: 'signIn', foreign: '#orders/17' }],
  ['a hash route of the page behind', '#/orders?x=1', { screen: 'signIn', foreign: '#/orders?x=1' }],
  ['another case', '#/Forgot-Password', { screen: 'signIn', foreign: '#/Forgot-Password' }],
  ['a name that only begins like ours', '#/set-passwords', { screen: 'signIn', foreign: '#/set-passwords' }],
];

for (const [name, hash, want] of cases) {
  test(`route: ${name}`, () => assert.deepEqual(parseRoute(hash), want));
}
