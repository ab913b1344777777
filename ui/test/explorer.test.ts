import assert from 'node:assert/strict';
import { test } from 'node:test';
import { change, filterOf, queryOf, readState, resolve, target, totals, writeState, columnsOf } from '../src/explorer/address.ts';
import { Cells, keyOf } from '../src/explorer/cells.ts';
import { expression } from '../src/explorer/filter.ts';
import { readable, readModel, type Column, type Kind } from '../src/explorer/model.ts';
import { texts } from '../src/explorer/share.ts';
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

const column = (kind: Kind): Column => ({ path: 'a', label: 'A', kind, edm: '', members: new Map([['Open', 'Offen']]), adds: false });

const filters: [Kind, string, string | undefined][] = [
  ['text', "O'Hara", "contains(tolower(a),tolower('O''Hara'))"],
  ['text', "=O'Hara", "a eq 'O''Hara'"],
  ['text', '=', 'a eq null'],
  ['number', '5', 'a eq 5'],
  ['number', '>=-5.25', 'a ge -5.25'],
  ['number', '< 5', 'a lt 5'],
  ['number', '5 .. 10', 'a ge 5 and a le 10'],
  ['number', '5 or 1 eq 1', undefined],
  ['number', '1e3', undefined],
  ['day', '2026', 'a ge 2026-01-01 and a lt 2027-01-01'],
  ['day', '2026-02', 'a ge 2026-02-01 and a lt 2026-03-01'],
  ['day', '2026-02-28', 'a eq 2026-02-28'],
  ['day', '2026-02-30', undefined],
  ['day', '2026-13', undefined],
  ['day', '>2026', 'a ge 2027-01-01'],
  ['day', '<=2026-05-01', 'a le 2026-05-01'],
  ['day', '2025..2026', 'a ge 2025-01-01 and a lt 2027-01-01'],
  ['instant', '2026-05-01', 'a ge 2026-05-01T00:00:00Z and a lt 2026-05-02T00:00:00Z'],
  ['truth', 'true', 'a eq true'],
  ['truth', 'yes', undefined],
  ['choice', 'Open', "a eq 'Open'"],
  ['choice', 'Offen', undefined],
  ['choice', "Open' or true", undefined],
  ['exact', '11111111-2222-3333-4444-555555555555', 'a eq 11111111-2222-3333-4444-555555555555'],
  ['exact', "1 or 'x'", undefined],
];
for (const [kind, typed, want] of filters) {
  test(`explorer: ${kind} ${typed}`, () => assert.equal(expression(column(kind), typed), want));
}

test('explorer: a state is its address', () => {
  const hash = '#/Products?name=a%26b&price=%3E5&%7Esort=price+desc&%7Eskip=50';
  const state = readState(hash);
  assert.deepEqual([...state.typed], [['name', 'a&b'], ['price', '>5']]);
  assert.equal(state.skip, 50);
  assert.deepEqual(readState(writeState(state)), state);
  assert.equal(change(state, { search: 'x' }).skip, 0);
  assert.equal(readState('#/Products?~skip=-1').skip, 0);
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

test('explorer: queries', () => {
  const place = resolve('Products', sets);
  assert.ok(place !== undefined);
  const state = readState("#/Products?category_id=Tent&price=5..6&bogus=1&~sort=category_id+desc&~search=dome");
  const { bad } = filterOf(state, columnsOf(place, sets));
  assert.deepEqual(bad, ['bogus']);
  assert.equal(
    target(queryOf(state, place, sets)),
    "Products?$filter=contains(tolower(category/label),tolower('Tent'))%20and%20(price%20ge%205%20and%20price%20le%206)&$search=dome&$orderby=category/label%20desc&$expand=category($select=label)",
  );
  assert.equal(
    queryOf({ ...state, group: 'category_id', sort: 'rows_in_group desc', search: '' }, place, sets).options[0]?.[1],
    "filter(contains(tolower(category/label),tolower('Tent')) and (price ge 5 and price le 6))/groupby((category_id,category/label),aggregate($count as rows_in_group,price with sum as price))",
  );
  assert.equal(totals(readState('#/Products'), columnsOf(place, sets), ''), 'aggregate(price with sum as price)');
  assert.equal(target({ path: 'A', options: [['$filter', "a eq 'ü&#+%;'"]] }), "A?$filter=a%20eq%20'%C3%BC%26%23%2B%25%3B'");
});

test('explorer: texts for other programs cannot be left', () => {
  const all = texts(`https://a/odata/P?$filter=a eq 'x"'`);
  assert.equal(all['curl'], `curl -H 'Accept: application/json' 'https://a/odata/P?$filter=a eq %27x"%27'`);
  assert.equal(all['Power Query'], `OData.Feed("https://a/odata/P?$filter=a eq 'x""'", null, [Implementation = "2.0"])`);
});
