import assert from 'node:assert/strict';
import { test } from 'node:test';
import de from '../i18n/messagebundle_de.properties';
import fallback from '../i18n/messagebundle.properties';
import { codeText, explain, throttleSeconds } from '../src/faults.ts';
import { retrySeconds, type Outcome } from '../src/http.ts';
import { Words } from '../src/i18n.ts';
import { waitText } from '../src/strip.ts';
import { readAnswer, readBootstrap, readFault, readIntent } from '../src/wire.ts';

const en = new Words({ '': fallback, en: {}, de }, 'en');
const german = new Words({ '': fallback, en: {}, de }, 'de');
const login = { screen: 'login' };

function faulty(status: number, body: unknown, retryAfter = 0): Outcome {
  return { kind: 'fault', status, fault: readFault(body), retryAfter };
}

test('fault: at its field', () => {
  const p = explain(en, login, faulty(422, { message: 'credentials_do_not_match', errors: { login: ['credentials_do_not_match'] } }));
  assert.deepEqual(p.fields, { login: ['Email, user name or password is wrong.'] });
  assert.deepEqual(p.lines, []);
});
test('fault: throttled, with the seconds of the code', () => {
  const p = explain(en, login, faulty(429, { message: 'auth_throttle|42|1', errors: { login: ['auth_throttle|42|1'] } }, 60));
  assert.equal(p.wait, 42);
  assert.deepEqual(p.fields, {});
  assert.deepEqual(p.lines, ['Too many attempts.']);
});
test('fault: a password that rests, at its field and without a wait', () => {
  const p = explain(en, login, faulty(429, { message: 'password_rests', errors: { login: ['password_rests'] } }));
  assert.equal(p.wait, 0);
  assert.deepEqual(p.fields, { login: ['Too many wrong passwords were tried. Choose “Forgot password?” to set a new one.'] });
});
test('fault: throttled, with the header alone', () => assert.equal(explain(en, login, faulty(429, null, 17)).wait, 17));
test('fault: throttled, without either', () => assert.equal(explain(en, login, faulty(429, null)).wait, 60));
test('fault: 503 waits as the host says and names the request', () => {
  const p = explain(german, { screen: 'orgSetup' }, faulty(503, { message: 'handler_unavailable', request_id: 'r1' }, 5));
  assert.equal(p.wait, 5);
  assert.equal(p.requestId, 'r1');
  assert.match(p.lines.join(), /Angaben lassen sich im Moment nicht speichern/);
});
test('fault: a page of a proxy in between', () => {
  assert.deepEqual(explain(en, login, faulty(502, '<html>')).lines, ['Something went wrong (502). Please try again.']);
});
test('fault: a code that nobody knows is shown as it is', () => {
  assert.deepEqual(explain(en, login, faulty(422, { message: 'Please call us.' })).lines, ['Please call us.']);
});

test('fault: a choice is not filled in', () => {
  const errors = { company_size: ['required'], org_name: ['required'] };
  const p = explain(en, { screen: 'orgSetup', choices: ['company_size'] }, faulty(422, { message: 'required', errors }));
  assert.deepEqual(p.fields, { company_size: ['Please choose one.'], org_name: ['Please fill this in.'] });
});

const codes: [screen: string, code: string, want: string][] = [
  ['login', 'required', 'Please fill this in.'],
  ['setPassword', 'password_too_short', 'Please use at least 12 characters.'],
  ['setPassword', 'password_too_short|1', 'Please use at least 1 character.'],
  ['forgotPassword', 'email', 'Please enter an email address, such as ada@example.com.'],
  ['login', 'email', 'Please enter an email address, such as ada@example.com.'],
  ['orgSetup', 'unauthenticated', 'Your session has ended. Please sign in again.'],
  ['orgSetup', 'no such code', 'no such code'],
  ['orgSetup', '', ''],
  ['orgSetup', 'constructor', 'constructor'],
];
for (const [screen, code, want] of codes) {
  test(`code: ${screen} ${code || '(empty)'}`, () => {
    assert.equal(codeText(en, { screen, defaults: { password_too_short: 12 } }, code), want);
  });
}

const throttles: [code: string, want: number][] = [
  ['auth_throttle|30|1', 30],
  ['auth_throttle|3600|60', 3600],
  ['auth_throttle|30', 30],
  ['auth_throttle', 0],
  ['auth_throttle|x|1', 0],
  ['auth_throttle|-5|1', 0],
  ['required', 0],
];
for (const [code, want] of throttles) {
  test(`throttle: ${code}`, () => assert.equal(throttleSeconds(code), want));
}

const waits: [seconds: number, want: string][] = [
  [1, 'You can try again in 1 second.'],
  [59, 'You can try again in 59 seconds.'],
  [120, 'You can try again in 120 seconds.'],
  [121, 'You can try again in 3 minutes.'],
  [3600, 'You can try again in 60 minutes.'],
  [-1, 'You can try again in 0 seconds.'],
];
for (const [seconds, want] of waits) {
  test(`wait: ${seconds} s`, () => assert.equal(waitText(en, seconds), want));
}

const now = Date.UTC(2026, 10, 21, 12, 0, 0);
const headers: [header: string | null, want: number][] = [
  [null, 0],
  ['17', 17],
  [' 17 ', 17],
  ['99999999', 86_400],
  ['-1', 0],
  ['soon', 0],
  ['Sat, 21 Nov 2026 12:00:30 GMT', 30],
  ['Sat, 21 Nov 2026 11:00:00 GMT', 0],
];
for (const [header, want] of headers) {
  test(`Retry-After: ${header}`, () => assert.equal(retrySeconds(header, now), want));
}

test('wire: a bootstrap of nothing is none', () => {
  for (const data of [{}, null, [], 'x', { locale: 'de' }]) assert.equal(readBootstrap(data), undefined);
});
test('wire: a bootstrap with wrong types falls back to what is safe', () => {
  const boot = readBootstrap({ routes: { home: 1, terms: '/t' }, logo: {}, password: 'x', next: 'redirect', locale: 7 });
  assert.equal(boot?.routes.home, null);
  assert.equal(boot?.routes.terms, '/t');
  assert.equal(boot?.logo, '');
  assert.equal(boot?.locale, 'en');
  assert.equal(boot?.minLength, 0);
  assert.equal(boot?.next, null);
});
test('wire: an intent is known by its kind', () => {
  assert.deepEqual(readIntent({ kind: 'redirect', version: '9', payload: { target: '/x' } }), { kind: 'redirect', payload: { target: '/x' } });
  assert.deepEqual(readIntent({ kind: 'quiz' }), { kind: 'quiz', payload: {} });
  for (const data of [null, {}, { kind: 1 }, [], 'redirect']) assert.equal(readIntent(data), null);
});
test('wire: a next step by the convention, and one that is not', () => {
  const step = { fields: { org_name: ['taken', 7], function: 'lone', empty: [] }, message: 'hm' };
  const answer = readAnswer({ status: 'needs_more_input', next_step: step, errors: null, next: null });
  assert.deepEqual(answer.fields, { org_name: ['taken'], function: ['lone'] });
  assert.equal(answer.message, 'hm');
  for (const next_step of [null, 'x', [1], { fields: 'x', message: 4 }]) {
    assert.deepEqual(readAnswer({ status: 'needs_more_input', next_step }).fields, {});
  }
});
