import assert from 'node:assert/strict';
import { test } from 'node:test';
import { columnsOf, queryOf, readState, resolve, shownOf, target, unknown, valuesOf, writeState } from '../src/explorer/address.ts';
import { Cells, keyOf } from '../src/explorer/cells.ts';
import { spans } from '../src/explorer/chart.ts';
import { texts } from '../src/explorer/export.ts';
import { groupsOf, rowsOfGroup, totals } from '../src/explorer/groups.ts';
import { equals, filterOf, type Condition } from '../src/explorer/condition.ts';
import { readable, readModel, type Column, type Kind } from '../src/explorer/model.ts';
import { Local, plain } from '../src/explorer/notation.ts';
import { change, narrowedTo, searched } from '../src/explorer/state.ts';
import { read, write } from '../src/explorer/typed.ts';
import { Words } from '../src/i18n.ts';

const doc = {
  $EntityContainer: 'S.C',
  S: {
    Product: {
      $Kind: 'EntityType', $Key: ['id'], id: { $Type: 'Edm.Int64' }, name: { $Type: 'Edm.String' }, category_id: { $Type: 'Edm.Int64' },
      price: { $Type: 'Edm.Decimal' }, status: { $Type: 'S.Status' }, home: { $Type: 'S.Address' }, secret: { '@UI.Hidden': true },
      category: { $Kind: 'NavigationProperty', $Type: 'S.Category', $ReferentialConstraint: { category_id: 'id' } },
    },
    Category: {
      $Kind: 'EntityType', $Key: ['code', 'year'], code: { '@Common.Label': 'Kürzel' }, year: { $Type: 'Edm.Int32' }, label: {},
      products: { $Kind: 'NavigationProperty', $Type: 'S.Product', $Collection: true },
      first: { $Kind: 'NavigationProperty', $Type: 'S.Product' },
    },
    Address: { $Kind: 'ComplexType', city: {} },
    Status: { $Kind: 'EnumType', Open: 0, 'Open@Common.Label': 'Offen', Done: 1 },
    Marks: { $Kind: 'EnumType', $IsFlags: true, New: 1, 'New@Common.Label': 'Neu', Sale: 2, 'Sale@Common.Label': 'Im Angebot' },
    C: {
      $Kind: 'EntityContainer',
      Products: { $Collection: true, $Type: 'S.Product', $NavigationPropertyBinding: { category: 'Categories' } },
      Categories: { $Collection: true, $Type: 'S.Category', $NavigationPropertyBinding: { products: 'Products', first: 'Products' } },
      Company: { $Type: 'S.Category' },
    },
    $Annotations: { 'S.C/Products': { '@Capabilities.SearchRestrictions': { Searchable: true }, '@Aggregation.ApplySupported': {} } },
  },
};
const sets = readModel(doc);
const products = sets.get('Products');
assert.ok(products !== undefined);

const edms: { [kind: string]: string } = { text: 'Edm.String', number: 'Edm.Decimal', day: 'Edm.Date', instant: 'Edm.DateTimeOffset', truth: 'Edm.Boolean', exact: 'Edm.Guid' };
const column = (kind: Kind, more: Partial<Column> = {}): Column => ({
  path: 'a', label: 'A', kind, edm: edms[kind] ?? 'S.Status', members: new Map(kind === 'choice' ? [['Open', 'Offen']] : []), adds: false, nullable: true, ...more,
});
const linked = column('text', { edm: 'Edm.Int64', by: 'to/name' });

/** The filter of what was typed; undefined where it cannot be read. */
function typed(c: Column, text: string, by: Local | typeof plain): string | undefined {
  const found = read(c, text, by);
  return found && filterOf(found, [c]);
}

// What addresses had before they had conditions: the same rows as then.
const older: [Column, string, string | undefined][] = [
  [column('text'), "O'Hara", "contains(tolower(a),tolower('O''Hara'))"],
  [column('text'), "=O'Hara", "a eq 'O''Hara'"],
  [column('text'), '=', 'a eq null'],
  [column('number'), '5', 'a eq 5'],
  [column('number'), '>=-5.25', 'a ge -5.25'],
  [column('number'), '< 5', 'a lt 5'],
  [column('number'), '5 .. 10', 'a ge 5 and a le 10'],
  [column('number'), '5 or 1 eq 1', undefined],
  [column('number'), '1e3', undefined],
  [column('number'), '1.235,50', undefined],
  [column('day'), '2026', 'a ge 2026-01-01 and a le 2026-12-31'],
  [column('day'), '2026-02', 'a ge 2026-02-01 and a le 2026-02-28'],
  [column('day'), '2026-02-28', 'a eq 2026-02-28'],
  [column('day'), '2026-02-30', undefined],
  [column('day'), '2026-13', undefined],
  [column('day'), '>2026', 'a gt 2026-12-31'],
  [column('day'), '<=2026-05-01', 'a le 2026-05-01'],
  [column('day'), '9999', 'a ge 9999-01-01 and a le 9999-12-31'],
  [column('day'), '0001-01-01', 'a eq 0001-01-01'],
  [column('day'), '2025..2026', 'a ge 2025-01-01 and a le 2026-12-31'],
  [column('instant'), '2026-05-01', 'a ge 2026-05-01T00:00:00Z and a lt 2026-05-02T00:00:00Z'],
  [column('instant'), '9999', 'a ge 9999-01-01T00:00:00Z and a le 9999-12-31T23:59:59.999999Z'],
  [column('truth'), 'true', 'a eq true'],
  [column('truth'), '=', 'a eq null'],
  [column('truth'), 'yes', undefined],
  [column('choice'), 'Open', "a eq 'Open'"],
  [column('choice'), 'Offen', undefined],
  [column('choice'), "Open' or true", undefined],
  [column('exact'), '11111111-2222-3333-4444-555555555555', 'a eq 11111111-2222-3333-4444-555555555555'],
  [column('exact'), "1 or 'x'", undefined],
  [linked, 'Tent', "contains(tolower(to/name),tolower('Tent'))"],
];
for (const [c, text, want] of older) test(`explorer: an older address: ${c.kind} ${text}`, () => assert.equal(typed(c, text, plain), want));

// What people type, in their language and zone.
const people: [string, Column, string, string | undefined][] = [
  ['de', column('number'), '1.235,50', 'a eq 1235.50'],
  ['de', column('number'), '1.235', 'a eq 1235'],
  ['de', column('number'), '1235,5..2.000', 'a ge 1235.5 and a le 2000'],
  ['de', column('number'), '1.5', undefined],
  ['de', column('number', { unit: { value: 'EUR' } }), '>1.235,50 EUR', 'a gt 1235.50'],
  ['de', column('number'), '5 EUR', undefined],
  ['de', column('number'), '>=5 <10', 'a ge 5 and a lt 10'],
  ['en', column('number'), '1,235.50', 'a eq 1235.50'],
  ['en', column('number'), '1,23', undefined],
  ['en', column('number'), '1e3', undefined],
  ['en', column('number', { edm: 'Edm.Double' }), '1.5E-7', 'a eq 1.5E-7'],
  ['en', column('number', { edm: 'Edm.Double' }), '-INF', 'a eq -INF'],
  ['en', column('number', { edm: 'Edm.Double' }), '+01.5e+7', 'a eq 1.5E7'],
  ['de', column('number'), '-00.012,0..+0', 'a ge -12.0 and a le 0'],
  ['en', column('number', { edm: 'Edm.Double' }), '1E400', undefined],
  ['de', column('day'), '01.05.2026', 'a eq 2026-05-01'],
  ['de', column('day'), '1. Mai 2026', 'a eq 2026-05-01'],
  ['de', column('day'), '05.2026', 'a ge 2026-05-01 and a le 2026-05-31'],
  ['de', column('day'), '1.5.2026..3.5.2026', 'a ge 2026-05-01 and a le 2026-05-03'],
  ['de', column('day'), '01.05.26', undefined],
  ['de', column('day'), '>=1. Mai 2026 <=01.05.2026', 'a eq 2026-05-01'],
  ['de', column('number'), '5..5', 'a eq 5'],
  ['de', column('day'), '31.02.2026', undefined],
  ['en', column('day'), 'May 1, 2026', 'a eq 2026-05-01'],
  ['en', column('day'), '>1 May 2026', 'a gt 2026-05-01'],
  ['en', column('day'), '05/01/2026', undefined],
  ['de', column('instant'), '01.05.2026', 'a ge 2026-04-30T22:00:00Z and a lt 2026-05-01T22:00:00Z'],
  ['de', column('instant'), '01.05.2026, 01:30', 'a ge 2026-04-30T23:30:00Z and a lt 2026-04-30T23:31:00Z'],
  ['en', column('instant'), 'May 1, 2026, 1:30 AM', 'a ge 2026-04-30T23:30:00Z and a lt 2026-04-30T23:31:00Z'],
  ['en', column('instant'), '2026-05-01T01:30:00Z', 'a ge 2026-05-01T01:30:00Z and a lt 2026-05-01T01:30:01Z'],
  ['en', column('instant'), 'May 1, 2026, 13:30 AM', undefined],
  ['de', column('instant'), '29.03.2026', 'a ge 2026-03-28T23:00:00Z and a lt 2026-03-29T22:00:00Z'], // a day of 23 hours
  ['en', column('text'), '=""', "a eq ''"],
  ['en', column('text'), '="Frank "', "a eq 'Frank '"],
  ['en', column('text'), '"=5"', "contains(tolower(a),tolower('=5'))"],
  ['en', column('text'), '"no end', undefined],
  ['en', column('text'), '#16', "contains(tolower(a),tolower('#16'))"],
  ['en', linked, '#16', 'a eq 16'],
  ['en', linked, '#1 in town', "contains(tolower(to/name),tolower('#1 in town'))"],
  ['en', linked, '=Frank', "to/name eq 'Frank'"],
  ['en', linked, '=', 'a eq null'],
];
for (const [lang, c, text, want] of people) {
  test(`explorer: in ${lang}: ${c.kind} ${text}`, () => in_('Europe/Berlin', () => assert.equal(typed(c, text, new Local(lang)), want)));
}

/** Does something as in another zone. */
function in_(zone: string, act: () => void): void {
  const before = process.env['TZ'];
  process.env['TZ'] = zone;
  try {
    act();
  } finally {
    if (before === undefined) delete process.env['TZ'];
    else process.env['TZ'] = before;
  }
}

/** Numbers that look random and are the same each time (mulberry32). */
function random(seed: number): (n: number) => number {
  let a = seed;
  return (n) => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % n;
  };
}

const oddTexts = ['', ' ', 'Frank ', ' Frank', 'a\nb', '"', '""', '"a', "O'Hara", '=', '=5', '#16', '-', 'Größe, klein', 'x'.repeat(500), '\t', 'a  b', '5..10', '>5', 'null'];
const oddNumbers = ['0', '-1', '1234567.50', '9223372036854775807', '-9223372036854775808', '0.0000001', '99999999999999999999.99'];
const oddDays = ['0001-01-01', '0099-12-31', '1000-01-01', '1582-10-15', '2024-02-29', '2026-01-01', '2026-12-31', '9999-12-31'];
const oddInstants = ['0001-01-02T00:00:00Z', '1970-01-01T00:00:00Z', '2026-03-29T01:00:00Z', '2026-05-01T00:00:00Z', '2026-04-30T22:00:00Z', '2026-05-01T12:34:56Z', '2026-10-25T00:30:00Z', '9999-12-31T12:00:00Z'];
const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'America/Sao_Paulo', 'Asia/Kolkata', 'Pacific/Apia', 'Pacific/Kiritimati'];

// The text of a condition in its field means the same condition when somebody types it.
test('explorer: conditions, their texts and their addresses are the same', () => {
  const n = random(38);
  const one = <T>(list: T[]): T => list[n(list.length)] as T;
  const made: { [kind: string]: () => Condition[] } = {
    text: () => [one<Condition>([{ column: 'a', op: 'has', value: one(oddTexts) }, { column: 'a', op: 'eq', value: one(oddTexts) }, { column: 'a', op: 'null', value: '' }])],
    linked: () => [one<Condition>([equals(linked, one(oddNumbers.slice(3, 5))), equals(linked, null), { column: 'a', op: 'has', value: one(oddTexts) }])],
    number: () => bounds(one(oddNumbers), one(oddNumbers), ['eq', 'gt', 'ge', 'lt', 'le']),
    day: () => bounds(one(oddDays), one(oddDays), ['eq', 'gt', 'ge', 'lt', 'le']),
    instant: () => bounds(one(oddInstants), one(oddInstants), ['ge', 'lt']),
  };
  const bounds = (value: string, other: string, ops: Condition['op'][]): Condition[] => {
    const upper: Condition = { column: 'a', op: one(ops.includes('le') ? ['lt', 'le'] : ['lt']), value: other };
    return n(2) === 0 || value === other ? [{ column: 'a', op: one(ops), value }] : [{ column: 'a', op: 'ge', value }, upper];
  };
  const locals = new Map<string, Local>();
  for (let i = 0; i < 4000; i++) {
    const kind = one(Object.keys(made));
    const c = kind === 'linked' ? linked : column(kind as Kind);
    const conditions = made[kind]?.() ?? [];
    const zone = one(zones);
    const lang = one(['de', 'en']);
    in_(zone, () => {
      const local = locals.get(zone + lang) ?? new Local(lang);
      locals.set(zone + lang, local);
      const text = write(c, conditions, local);
      assert.deepEqual(read(c, text.replace(/[\r\n]/g, ''), local), conditions, `${kind} in ${lang}, ${zone}: ${text}`);
    });
  }
});

// What a cell shows, typed above its column, finds the row.
test('explorer: what is shown can be typed', () => {
  for (const zone of zones) {
    in_(zone, () => {
      for (const lang of ['de', 'en']) {
        const cells = new Cells(new Words({ '': {}, de: {}, en: {} }, lang));
        for (const [kind, values] of [['number', oddNumbers], ['day', oddDays], ['instant', oddInstants.filter((s) => s !== '2026-10-25T00:30:00Z')]] as const) {
          for (const value of values) {
            const c = column(kind, kind === 'number' ? { unit: { value: 'EUR' } } : {});
            const shown = cells.text(c, value);
            const found = read(c, shown, cells.local) ?? [];
            const [first, second] = found;
            const hit = kind === 'instant' ? first !== undefined && second !== undefined && Date.parse(first.value) <= Date.parse(value) && Date.parse(value) < Date.parse(second.value) : first?.op === 'eq' && first.value === value;
            assert.ok(hit, `${zone}, ${lang}: ${value} is shown as ${shown}, which is read as ${JSON.stringify(found)}`);
          }
        }
      }
    });
  }
});

test('explorer: no value, an empty text and blanks at the ends differ', () => {
  const c = column('text');
  const filters = [null, '', ' ', 'Frank', 'Frank '].map((value) => filterOf([equals(c, value)], [c]));
  assert.deepEqual(filters, ['a eq null', "a eq ''", "a eq ' '", "a eq 'Frank'", "a eq 'Frank '"]);
  assert.equal(filterOf([equals(linked, 'x or 1 eq 1')], [linked]), '');
});

test('explorer: a state is its address', () => {
  const state = readState('#/Products?name=a%26b&price=%3E5&%7Esort=price+desc&%7Eskip=50', sets);
  assert.deepEqual(state.conditions, [{ column: 'name', op: 'has', value: 'a&b' }, { column: 'price', op: 'gt', value: '5' }]);
  assert.equal(state.skip, 50);
  assert.equal(writeState(state), '#/Products?name.has=a%26b&price.gt=5&%7Esort=price+desc&%7Eskip=50');
  assert.deepEqual(readState(writeState(state), sets), state);
  assert.equal(change(state, { search: 'x' }).skip, 0);
  assert.equal(readState('#/Products?~skip=-1', sets).skip, 0);
});

test('explorer: an address that cannot be read keeps what it says', () => {
  const columns = columnsOf(resolve('Products', sets) ?? assert.fail(), sets);
  for (const [query, text, missing] of [
    ['price=cheap', 'cheap', []], ['price.text=1.5.2', '1.5.2', []], ['price.ge=5 or 1 eq 1', '5 or 1 eq 1', []], ['price.near=5', '5', []], ['name.is=5', '5', []],
    ['status.eq=Lost', 'Lost', []], ['bogus=1', '1', ['bogus']], ['bogus.eq=1', '1', ['bogus']], ['secret.eq=1', '1', ['secret']], ['bogus', '', ['bogus']],
  ] as const) {
    const state = readState(`#/Products?${query}`, sets);
    assert.deepEqual([state.conditions, state.unread.map((u) => u.text), unknown(state, columns)], [[], [text], [...missing]], query);
    assert.deepEqual(readState(writeState(state), sets), state, query);
  }
  assert.deepEqual(unknown(readState('#/Products?~group=nope&~sort=nope2+desc', sets), columns), ['nope', 'nope2']);
  assert.deepEqual(unknown(readState('#/Products?~group=name&~sort=rows_in_group+desc', sets), columns), []);
});

test('explorer: words to search for', () => {
  for (const [text, want] of [['red tent', 'red tent'], ['"red tent"', '"red tent"'], ['x-y', '"x-y"'], ['"x-y"', '"x-y"'], ['AND', '"AND"'], ['"', ''], ['a"b', 'a b']] as const) assert.equal(searched(text), want, text);
});

test('explorer: sets, columns, labels', () => {
  assert.deepEqual(products.type.columns.map((c) => c.path), ['id', 'name', 'category_id', 'price', 'status', 'home/city']);
  assert.deepEqual([products.searchable, products.sums, sets.get('Categories')?.sums, sets.get('Company')?.single], [true, true, false, true]);
  assert.equal(sets.get('Categories')?.type.columns[0]?.label, 'Kürzel');
  assert.equal(readable('releasedOn_day'), 'Released on day');
  assert.equal(readModel('nothing').size, 0);
});

test('explorer: members of an enumeration by their labels', () => {
  const marked = { ...doc.S.Product, marks: { $Type: 'S.Marks' } };
  const columns = readModel({ ...doc, S: { ...doc.S, Product: marked } }).get('Products')?.type.columns ?? [];
  const shown = (path: string, value: unknown): string => {
    const found = columns.find((c) => c.path === path);
    assert.ok(found !== undefined);
    return new Cells(new Words({ '': {} }, 'de')).text(found, value);
  };
  assert.deepEqual([...(columns.find((c) => c.path === 'status')?.members ?? [])], [['Open', 'Offen'], ['Done', 'Done']]);
  assert.deepEqual([shown('status', 'Open'), shown('status', 'Done'), shown('status', '7')], ['Offen', 'Done', '7']);
  assert.deepEqual([shown('marks', 'New,Sale'), shown('marks', 'Sale'), shown('name', 'New,Sale')], ['Neu, Im Angebot', 'Im Angebot', 'New,Sale']);
});

test('explorer: a key of another set is called what somebody called it, or as where it leads', () => {
  const header = { '@UI.HeaderInfo': { TypeName: 'Rubrik', TypeNamePlural: 'Rubriken' } };
  const called = (label: string | undefined, more: object): string[] => {
    const named = { ...doc.S.Product, category_id: { $Type: 'Edm.Int64', '@Common.Label': label } };
    const all = readModel({ ...doc, S: { ...doc.S, Product: named, Category: { ...doc.S.Category, ...more } } });
    const place = resolve('Products', all);
    assert.ok(place !== undefined);
    return [columnsOf(place, all).find((c) => c.path === 'category_id')?.label ?? '', place.type.links[0]?.label ?? ''];
  };
  assert.deepEqual(called('Warengruppe', header), ['Warengruppe', 'Rubrik']);
  assert.deepEqual(called('Category ID', header), ['Rubrik', 'Rubrik']);
  assert.deepEqual(called(undefined, {}), ['Category', 'Category']);
});

test('explorer: places', () => {
  const here = resolve("Categories(code='a%2Fb',year=1)/products(3)/category", sets);
  assert.equal(here?.set.name, 'Categories');
  assert.equal(here?.one, true);
  assert.deepEqual(here?.above.map((a) => a.path), [
    'Categories', "Categories(code='a%2Fb',year=1)", "Categories(code='a%2Fb',year=1)/products", "Categories(code='a%2Fb',year=1)/products(3)",
  ]);
  for (const path of ['Nothing', 'Products/category', 'Products(1)/name', 'Company(1)', 'Products(1)(2)']) assert.equal(resolve(path, sets), undefined, path);
});

test('explorer: the address of rows', () => {
  assert.equal(keyOf(products.type, { id: '9007199254740993' }), '(9007199254740993)');
  const category = sets.get('Categories');
  assert.ok(category !== undefined);
  assert.equal(keyOf(category.type, { code: "a/b'(c)", year: 1 }), "(code='a%2Fb''%28c%29',year=1)");
  assert.equal(keyOf(category.type, { code: null, year: 1 }), undefined);
});

// The service quotes a binary, and the key of a row need not be shown.
test('explorer: the address of rows with keys that are binary or hidden', () => {
  const keyed = (key: object): string | undefined => {
    const type = readModel({ ...doc, S: { ...doc.S, Product: { $Kind: 'EntityType', $Key: ['id'], id: key, name: {} } } }).get('Products')?.type;
    return type && keyOf(type, { id: '-_8' });
  };
  assert.equal(keyed({ $Type: 'Edm.Binary' }), "(binary'-_8')");
  assert.equal(keyed({ '@UI.Hidden': true }), "('-_8')");
  assert.deepEqual(products.type.columns.map((c) => c.path).includes('secret'), false);
  const blob: Column = { ...column('text'), edm: 'Edm.Binary', by: 'to/name' };
  assert.equal(filterOf([equals(blob, '-_8')], [blob]), "a eq binary'-_8'");
  assert.equal(filterOf([equals(blob, "' or 1 eq 1")], [blob]), '');
});

test('explorer: NaN of a group is a condition, though NaN equals nothing', () => {
  const measure: Column = { ...column('number'), edm: 'Edm.Double' };
  assert.deepEqual(['NaN', '-INF'].map((value) => filterOf([equals(measure, value)], [measure])), ['a ne a', 'a eq -INF']);
});

test('explorer: an instant of a group is a condition', () => {
  const at = column('instant');
  assert.equal(filterOf([equals(at, '2026-05-01T10:00:00.25Z')], [at]), 'a eq 2026-05-01T10:00:00.25Z');
});

test('explorer: queries', () => {
  const place = resolve('Products', sets);
  assert.ok(place !== undefined);
  const state = readState('#/Products?category_id=Tent&price=5..6&~sort=category_id+desc&~search=dome', sets);
  assert.equal(
    target(queryOf(state, place, sets)),
    "Products?$filter=contains(tolower(category/label),tolower('Tent'))%20and%20price%20ge%205%20and%20price%20le%206&$search=dome&$orderby=category/label%20desc&$expand=category($select=label)",
  );
  assert.equal(
    queryOf({ ...state, group: 'category_id', sort: 'rows_in_group desc', search: '' }, place, sets).options[0]?.[1],
    "filter(contains(tolower(category/label),tolower('Tent')) and price ge 5 and price le 6)/groupby((category_id,category/label),aggregate($count as rows_in_group,price with sum as price))",
  );
  assert.equal(totals(readState('#/Products?~sums=1', sets), columnsOf(place, sets), ''), 'aggregate(price with sum as price)');
  assert.equal(target({ path: 'A', options: [['$filter', "a eq 'ü&#+%;'"]] }), "A?$filter=a%20eq%20'%C3%BC%26%23%2B%25%3B'");
});

test('explorer: annotations for tables and numbers', () => {
  const item = (path: string): object => ({ '@type': 'UI.DataField', Value: { $Path: path } });
  const Product = { ...doc.S.Product, '@UI.LineItem': [item('name'), item('price'), item('nothing')], price: { $Type: 'Edm.Decimal', '@Measures.ISOCurrency': 'EUR' }, weight: { $Type: 'Edm.Double', '@Measures.Unit': { $Path: 'name' } } };
  const all = readModel({ ...doc, S: { ...doc.S, Product } });
  const place = resolve('Products', all) ?? assert.fail();
  const columns = columnsOf(place, all);
  const shown = (hash: string): string[] => shownOf(readState(hash, all), place.type, columns).map((c) => c.path);
  assert.deepEqual(shown('#/Products'), ['name', 'price']);
  assert.deepEqual(shown('#/Products?status.eq=Open&~sort=id'), ['name', 'price', 'id', 'status']);
  assert.deepEqual(shown('#/Products?~all=1'), columns.map((c) => c.path));
  assert.deepEqual(shown('#/Products?~columns=price,id,price'), ['price', 'id']);
  assert.deepEqual(shown('#/Products?~columns=*'), columns.map((c) => c.path));
  const query = (hash: string): string => target(queryOf(readState(hash, all), place, all));
  assert.equal(query('#/Products?~columns=weight,price'), 'Products?$select=weight,price,name,id');
  assert.equal(query('#/Products?~columns=category_id'), 'Products?$select=category_id,id&$expand=category($select=label)');
  assert.deepEqual(unknown(readState('#/Products?~columns=price,nope', all), columns), ['nope']);
  assert.equal(writeState(readState('#/Products?~columns=price,id&~size=100&~skip=100', all)), '#/Products?%7Ecolumns=price%2Cid&%7Esize=100&%7Eskip=100');
  assert.equal(readState('#/Products?~size=7', all).size, 50);
  const cells = new Cells(new Words({ '': {}, de: {} }, 'de'));
  const text = (path: string, value: unknown, row?: { [name: string]: unknown }): string => cells.text(columns.find((c) => c.path === path) ?? assert.fail(), value, row);
  assert.deepEqual([text('price', '1235.50'), text('weight', 2.5, { name: 'kg' }), text('weight', 2.5)], ['1.235,50 EUR', '2,5 kg', '2,5']);
});

test('explorer: the text of annotations stands for a key', () => {
  const item = (path: string): object => ({ Value: { $Path: path } });
  const Product = { ...doc.S.Product, '@UI.LineItem': [item('name'), item('category/code')], category_id: { $Type: 'Edm.Int64', '@Common.Text': { $Path: 'category/code' } } };
  const all = readModel({ ...doc, S: { ...doc.S, Product } });
  const place = resolve('Products', all) ?? assert.fail();
  const columns = columnsOf(place, all);
  assert.equal(columns.find((c) => c.path === 'category_id')?.by, 'category/code');
  assert.deepEqual(shownOf(readState('#/Products', all), place.type, columns).map((c) => c.path), ['name', 'category_id']);
  assert.equal(target(queryOf(readState('#/Products', all), place, all)), 'Products?$expand=category($select=code)');
});

test('explorer: texts for other programs cannot be left', () => {
  const all = texts(`https://a/odata/P?$filter=a eq 'x"'`);
  assert.equal(all['curl'], `curl -H 'Accept: application/json' 'https://a/odata/P?$filter=a eq %27x"%27'`);
  assert.equal(all['Power Query'], `OData.Feed("https://a/odata/P?$filter=a eq 'x""'", null, [Implementation = "2.0"])`);
  assert.equal(texts('https://a/P', `vst_a'b`)['curl'], `curl -H 'Accept: application/json' -H 'Authorization: Bearer vst_a'\\''b' 'https://a/P'`);
});

test('explorer: groups by months, two at once, with totals', () => {
  const Product = { ...doc.S.Product, made: { $Type: 'Edm.Date', $Nullable: true }, at: { $Type: 'Edm.DateTimeOffset', $Nullable: true }, fee: { $Type: 'Edm.Decimal', '@Measures.ISOCurrency': { $Path: 'name' } } };
  const all = readModel({ ...doc, S: { ...doc.S, Product } });
  const place = resolve('Products', all) ?? assert.fail();
  const columns = columnsOf(place, all);
  const apply = (hash: string): string => queryOf(readState(hash, all), place, all).options.map(([, value]) => value).join(' | ');
  assert.equal(
    apply('#/Products?price.ge=5&~group=at.month,category_id&~total=average&~sort=at.month+desc'),
    'filter(price ge 5)/compute(year(at) as group_at_year,month(at) as group_at_month)/groupby((group_at_year,group_at_month,category_id,category/label),aggregate($count as rows_in_group,price with average as price)) | group_at_year desc,group_at_month desc',
  );
  assert.equal(apply('#/Products?~group=made.year&~total=max'), 'compute(year(made) as group_made_year)/groupby((group_made_year),aggregate($count as rows_in_group,price with max as price,at with max as at))');
  // A sum over several currencies is none, unless each group has one.
  assert.equal(apply('#/Products?~group=name'), 'groupby((name),aggregate($count as rows_in_group,price with sum as price,fee with sum as fee))');
  assert.equal(totals(readState('#/Products?~total=min', all), columns, ''), 'aggregate(price with min as price,made with min as made,at with min as at)');
  assert.deepEqual(unknown(readState('#/Products?~group=at.week,price.month,made.year&~sort=made.year', all), columns), ['at.week', 'price.month']);

  const leads = (hash: string, row: { [name: string]: unknown }): string => {
    const state = readState(hash, all);
    return writeState(rowsOfGroup(state, groupsOf(state, columns), row));
  };
  const month = { group_at_year: 2026, group_at_month: 2, category_id: '7' };
  assert.equal(leads('#/Products?at.ge=2026-02-10T00:00:00Z&~group=at.month,category_id&~chart=rows_in_group', month), '#/Products?at.ge=2026-02-10T00%3A00%3A00Z&at.ge=2026-02-01T00%3A00%3A00Z&at.lt=2026-03-01T00%3A00%3A00Z&category_id.is=7');
  assert.equal(leads('#/Products?~group=made.month', { group_made_year: 9999, group_made_month: 12 }), '#/Products?made.ge=9999-12-01&made.le=9999-12-31');
  assert.equal(leads('#/Products?~group=at.year', { group_at_year: 9999 }), '#/Products?at.ge=9999-01-01T00%3A00%3A00Z&at.le=9999-12-31T23%3A59%3A59.999999Z');
  assert.equal(leads('#/Products?~group=at.year', { group_at_year: null }), '#/Products?at.null=');
  assert.equal(new Local('de').partText('2026-05'), 'Mai 2026');
});

test('explorer: bars of a chart', () => {
  assert.deepEqual(spans([10, 5, undefined, 0]), [{ from: 0, size: 1 }, { from: 0, size: 0.5 }, undefined, { from: 0, size: 0 }]);
  assert.deepEqual(spans([3, -1]), [{ from: 0.25, size: 0.75 }, { from: 0, size: 0.25 }]);
  assert.deepEqual(spans([0]), [{ from: 0, size: 0 }]);
});

test('explorer: values of a column', () => {
  const state = readState('#/Products?category_id.is=1&price.ge=5&~search=dome', sets);
  const columns = columnsOf(resolve('Products', sets) ?? assert.fail(), sets);
  const find = (path: string): Column => columns.find((c) => c.path === path) ?? assert.fail();
  assert.deepEqual(valuesOf(state, columns, find('category_id')), [['$apply', 'filter(price ge 5)/search(dome)/groupby((category_id,category/label),aggregate($count as rows_in_group))'], ['$orderby', 'rows_in_group desc']]);
  assert.equal(valuesOf(state, columns, find('name'))[0]?.[1], 'filter(category_id eq 1 and price ge 5)/search(dome)/groupby((name),aggregate($count as rows_in_group))');
  assert.deepEqual(['category_id', 'price', 'name'].map((path) => narrowedTo(state, path)), ['is 1', 'ge 5', '']);
});
