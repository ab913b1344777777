import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Words } from '../src/i18n.ts';
import { parseProperties } from '../src/properties.ts';

const parsed: [name: string, text: string, want: Record<string, string>][] = [
  ['empty', '', {}],
  ['pairs', 'a=1\nb = 2\nc: 3\nd 4', { a: '1', b: '2', c: '3', d: '4' }],
  ['comments and blank lines', '# x\n! y\n\n  # z\na=1', { a: '1' }],
  ['a byte order mark and CRLF', '\uFEFFa=1\r\nb=2\r\n', { a: '1', b: '2' }],
  ['signs within a value', 'a=b=c: d # e', { a: 'b=c: d # e' }],
  ['escapes', 'a=\\u00e4\\n\\t\\\\ \\= \\:', { a: 'ä\n\t\\ = :' }],
  ['escapes in a key', 'a\\ b\\=c=1', { 'a b=c': '1' }],
  ['continued lines', 'a=one \\\n   two \\\n\tthree\nb=1', { a: 'one two three', b: '1' }],
  ['an escaped backslash at the end continues nothing', 'a=x\\\\\nb=1', { a: 'x\\', b: '1' }],
  ['UTF-8 as it is', 'a=Größe …', { a: 'Größe …' }],
  ['a name of the prototype', '__proto__=x\nconstructor=y', JSON.parse('{"__proto__":"x","constructor":"y"}')],
];
for (const [name, text, want] of parsed) {
  test(`properties: ${name}`, () => assert.deepEqual({ ...parseProperties(text) }, { ...want }));
}

const refused: [name: string, text: string, want: RegExp][] = [
  ['a key twice', 'a=1\n\na=2', /line 3: a is there twice/],
  ['no value', 'a=1\nb', /line 2/],
  ['no key', '=x', /line 1/],
  ['a bad escape', 'a=\\u12', /line 1: bad escape/],
];
for (const [name, text, want] of refused) {
  test(`properties: refuses ${name}`, () => assert.throws(() => parseProperties(text), want));
}

const bundles = {
  '': { hello: 'Hello {0}', 'n.one': '{0} second', 'n.other': '{0} seconds', only: 'default' },
  de: { hello: 'Hallo {0}', 'n.one': '{0} Sekunde', 'n.other': '{0} Sekunden' },
  'de-AT': { hello: 'Servus {0}' },
  ar: { 'n.one': 'واحدة', 'n.few': '{0} few', 'n.other': '{0} other' },
};
const languages: [locale: string, lang: string, hello: string][] = [
  ['en', 'en', 'Hello Ada'],
  ['en-GB', 'en', 'Hello Ada'],
  ['de', 'de', 'Hallo Ada'],
  ['de-DE', 'de', 'Hallo Ada'],
  ['de-AT', 'de-AT', 'Servus Ada'],
  ['de_AT', 'de-AT', 'Servus Ada'],
  ['fr', 'en', 'Hello Ada'],
  ['', 'en', 'Hello Ada'],
  ['toString', 'en', 'Hello Ada'],
];
for (const [locale, lang, hello] of languages) {
  test(`words: ${locale || 'no locale'} speaks ${lang}`, () => {
    const words = new Words(bundles, locale);
    assert.equal(words.text('hello', 'Ada'), hello);
    assert.equal(words.lang, lang);
  });
}

test('words: a text missing in a language comes from the default', () => {
  assert.equal(new Words(bundles, 'de-AT').text('only'), 'default');
});
test('words: a parameter is put in as it is', () => {
  assert.equal(new Words(bundles, 'en').text('hello', '{0} $& <b>'), 'Hello {0} $& <b>');
});
test('words: a parameter that is missing stays visible', () => {
  assert.equal(new Words(bundles, 'en').text('hello'), 'Hello {0}');
});
test('words: plurals by the rules of the language', () => {
  const de = new Words(bundles, 'de');
  assert.equal(de.plural('n', 1), '1 Sekunde');
  assert.equal(de.plural('n', 0), '0 Sekunden');
  const ar = new Words(bundles, 'ar');
  assert.equal(ar.plural('n', 3), '3 few');
  assert.equal(ar.plural('n', 11), '11 other', 'a form that the bundle lacks is the other one');
});
test('words: an own property, not one of the prototype', () => {
  assert.equal(new Words(bundles, 'en').find('constructor'), undefined);
});
