// The dashboard: figures and a table of products, read from /odata/ as any other
// client would. Pages follow @odata.nextLink; nothing counts rows by itself.

const lang = document.documentElement.lang;
const words = {
  en: { of: (shown, all) => `${shown} of ${all} products`, empty: 'No product fits.', all: 'All categories', out: 'sold out',
        fault: (what) => `The data could not be read (${what}).`, gone: 'Your session has ended. Please sign in again.' },
  de: { of: (shown, all) => `${shown} von ${all} Artikeln`, empty: 'Kein Artikel passt.', all: 'Alle Kategorien', out: 'ausverkauft',
        fault: (what) => `Die Daten konnten nicht gelesen werden (${what}).`, gone: 'Ihre Sitzung ist zu Ende. Bitte melden Sie sich neu an.' },
}[lang];
const integer = new Intl.NumberFormat(lang);
const money = new Intl.NumberFormat(lang, { style: 'currency', currency: 'EUR' });

const $ = (id) => document.getElementById(id);
const pageSize = 25;
const state = { order: 'name', descending: false, next: null, shown: 0, turn: 0 };
const categories = new Map();

// read fetches one OData address and returns its body.
async function read(url, headers = {}) {
  const answer = await fetch(url, { headers: { Accept: 'application/json', ...headers } });
  if (answer.status === 401) {
    throw new Error(words.gone);
  }
  if (!answer.ok) {
    const body = await answer.json().catch(() => ({}));
    throw new Error(words.fault(body.error?.message ?? answer.status));
  }
  return answer.json();
}

// query writes an address. Spaces become %20: a plus would do, but reads worse.
function query(set, options) {
  const pairs = Object.entries(options).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return `/odata/${set}?${pairs.join('&')}`;
}

function show(fault) {
  $('fault').textContent = fault instanceof TypeError ? words.fault('offline') : (fault?.message ?? '');
  $('fault').hidden = !fault;
}

// count fills one figure: no rows are asked for, only how many there are.
async function count(id, set, filter) {
  const options = { $top: 0, $count: true };
  if (filter) options.$filter = filter;
  const body = await read(query(set, options));
  $(id).textContent = integer.format(body['@odata.count']);
}

async function loadCategories() {
  const body = await read(query('Categories', { $select: 'id,parent_id,name', $orderby: 'name' }));
  const select = $('category');
  select.append(new Option(words.all, ''));
  for (const c of body.value) {
    categories.set(c.id, c.name);
    if (c.parent_id !== null) select.append(new Option(c.name, c.id));
  }
}

function firstPage() {
  const filters = [];
  if ($('category').value) filters.push(`category_id eq ${$('category').value}`);
  if ($('stocked').checked) filters.push('stock gt 0 and discontinued eq false');
  const options = {
    $select: 'id,name,category_id,color,price,stock',
    $orderby: `${state.order} ${state.descending ? 'desc' : 'asc'}`,
    $count: true,
  };
  if (filters.length) options.$filter = filters.join(' and ');
  return query('Products', options);
}

function cell(text, ...classes) {
  const td = document.createElement('td');
  td.className = classes.join(' ');
  td.textContent = text;
  return td;
}

function row(p) {
  const tr = document.createElement('tr');
  const level = p.stock === 0 ? 'none' : p.stock < 20 ? 'low' : 'good';
  tr.append(
    cell(p.name, 'name'),
    cell(categories.get(p.category_id) ?? '', 'optional'),
    cell(p.color ?? '–', 'optional'),
    cell(money.format(p.price), 'number'),
    cell(p.stock === 0 ? words.out : integer.format(p.stock), 'number', level),
  );
  return tr;
}

// load shows a page: the first one replaces what is there, the others follow it.
// An answer that was overtaken by a newer question is thrown away, so that the
// button need not be locked, which would take the focus from it.
async function load(url, first) {
  const turn = ++state.turn;
  $('products').ariaBusy = 'true';
  try {
    const body = await read(url, { Prefer: `odata.maxpagesize=${pageSize}` });
    if (turn !== state.turn) return;
    const rows = body.value.map(row);
    if (first) {
      $('rows').replaceChildren(...rows);
      state.shown = 0;
    } else {
      $('rows').append(...rows);
    }
    state.shown += rows.length;
    state.next = body['@odata.nextLink'] ?? null;
    $('more').hidden = state.next === null;
    $('shown').textContent = state.shown === 0 ? words.empty
      : words.of(integer.format(state.shown), integer.format(body['@odata.count']));
    $('address').textContent = decodeURIComponent(url.replace(location.origin, ''));
    $('address').href = url;
    show(null);
  } catch (fault) {
    if (turn === state.turn) show(fault);
  } finally {
    if (turn === state.turn) $('products').ariaBusy = 'false';
  }
}

const restart = () => load(firstPage(), true);

for (const button of document.querySelectorAll('th button')) {
  button.addEventListener('click', () => {
    const field = button.dataset.field;
    state.descending = field === state.order && !state.descending;
    state.order = field;
    for (const th of document.querySelectorAll('th[aria-sort]')) th.removeAttribute('aria-sort');
    button.closest('th').ariaSort = state.descending ? 'descending' : 'ascending';
    restart();
  });
}
$('category').addEventListener('change', restart);
$('stocked').addEventListener('change', restart);
$('more').addEventListener('click', () => load(state.next, false));

try {
  await loadCategories();
  await Promise.all([
    restart(),
    count('count-products', 'Products'),
    count('count-out', 'Products', 'stock eq 0'),
    count('count-orders', 'Orders'),
    count('count-open', 'Orders', 'shipped_at eq null'),
  ]);
} catch (fault) {
  show(fault);
}
