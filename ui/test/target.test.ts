import assert from 'node:assert/strict';
import { test } from 'node:test';
import { safeTarget, withFragment } from '../src/target.ts';

const good = [
  '/',
  '/dashboard',
  '/a?b=c#d',
  '/a:b',
  '/javascript:alert(1)',
  'https://app.example.com/x',
  'http://127.0.0.1:3000/',
  'HTTPS://app.example.com',
  'https://[::1]:8080/x',
];
for (const target of good) {
  test(`target: takes ${target}`, () => assert.equal(safeTarget(target), target));
}

const bad: unknown[] = [
  '',
  'dashboard',
  './dashboard',
  '?a',
  '#a',
  '//evil.example',
  '/\\evil.example',
  '\\\\evil.example',
  '/a\\b',
  'javascript:alert(1)',
  'JaVaScRiPt:alert(1)',
  ' javascript:alert(1)',
  'java\nscript:alert(1)',
  'data:text/html,x',
  'vbscript:x',
  'blob:https://a/b',
  'file:///etc/passwd',
  'https:/evil.example',
  'https:evil.example',
  'https://',
  'https:///evil.example',
  'https://user@evil.example/',
  'https://app.example.com:pw@evil.example/',
  'https://a b/',
  '/a\tb',
  '/a\u0000b',
  '/a\u0085b',
  ' /a',
  null,
  undefined,
  17,
  {},
];
for (const target of bad) {
  test(`target: refuses ${JSON.stringify(target)}`, () => assert.equal(safeTarget(target), undefined));
}

test('fragment: appended to a target without one', () => assert.equal(withFragment('/a?b', '#/c'), '/a?b#/c'));
test('fragment: the target keeps its own', () => assert.equal(withFragment('/a#x', '#/c'), '/a#x'));
test('fragment: an empty one of the target counts as its own', () => assert.equal(withFragment('/a#', '#/c'), '/a#'));
test('fragment: none to append', () => assert.equal(withFragment('/a', ''), '/a'));
