// The state of the page is its address: #/Products?name.has=ada&price.ge=10&~sort=price desc&~skip=50. What begins with ~ is no
// column. A column without an operator, as in price=>10, is of an older address: the notation of the service, with days of UTC.

import { equals, expression, filterOf, type Condition, type Operator, type Unread } from './condition.ts';
import { readable, type Column, type EntitySet, type Link, type Type } from './model.ts';
import { plain } from './notation.ts';
import { read } from './typed.ts';

export interface State {
  /** The resource, as it stands behind /odata/; empty for the list of sets. */
  path: string;
  /** What rows must meet. */
  conditions: Condition[];
  /** What was typed or stands in the address and is no condition. No rows are shown while there is any. */
  unread: Unread[];
  /** What was typed to search for. */
  search: string;
  /** A column, and " desc" behind it for the other direction; empty for the order of the key. */
  sort: string;
  skip: number;
  /** The column by whose values rows are counted and added up; empty for none. */
  group: string;
  /** Whether the sums over all rows are shown. */
  sums: boolean;
  /** Whether all columns are shown where annotations have a list of them. */
  all: boolean;
}

export const pageSize = 50;

/** The operator in an address of text that cannot be read. */
const unreadable = 'text';

/** Reads an address; what it says of columns is held against those of the place that it names. */
export function readState(hash: string, sets: Map<string, EntitySet>): State {
  const [path = '', query = ''] = split(hash.replace(/^#\/?/, ''), '?');
  const place = resolve(path, sets);
  const columns = place === undefined ? [] : columnsOf(place, sets);
  const state: State = { path, conditions: [], unread: [], search: '', sort: '', skip: 0, group: '', sums: false, all: false };
  for (const [name, value] of new URLSearchParams(query)) {
    if (name === '~search') state.search = value;
    else if (name === '~sort') state.sort = value;
    else if (name === '~skip') state.skip = /^\d{1,15}$/.test(value) ? Number(value) : 0;
    else if (name === '~group') state.group = value;
    else if (name === '~sums') state.sums = true;
    else if (name === '~all') state.all = true;
    else readCondition(state, columns, name, value);
  }
  return state;
}

/** Reads column.operator=value, or column=what was typed. */
function readCondition(state: State, columns: Column[], name: string, value: string): void {
  const [path, op] = split(name, '.');
  const column = columns.find((c) => c.path === path);
  if (op === '' && value === '') return;
  const condition: Condition = { column: path, op: op as Operator, value };
  const old = op === '' && column !== undefined ? read(column, value, plain) : undefined;
  if (old !== undefined) state.conditions.push(...old);
  else if (op !== '' && column !== undefined && expression(column, condition) !== undefined) state.conditions.push(condition);
  else state.unread.push({ column: path, text: value });
}

export function writeState(s: State): string {
  const query = new URLSearchParams();
  for (const { column, op, value } of s.conditions) query.append(`${column}.${op}`, value);
  for (const { column, text } of s.unread) query.append(`${column}.${unreadable}`, text);
  if (s.search !== '') query.set('~search', s.search);
  if (s.group !== '') query.set('~group', s.group);
  if (s.sort !== '') query.set('~sort', s.sort);
  if (s.sums) query.set('~sums', '1');
  if (s.all) query.set('~all', '1');
  if (s.skip > 0) query.set('~skip', String(s.skip));
  const text = query.toString();
  return `#/${s.path}${text === '' ? '' : `?${text}`}`;
}

/** The state in which a column has these conditions and no others. */
export function narrow(s: State, column: string, conditions: Condition[], unread?: string): State {
  const others = s.conditions.filter((c) => c.column !== column);
  const texts = s.unread.filter((u) => u.column !== column);
  return change(s, { conditions: [...others, ...conditions], unread: unread === undefined ? texts : [...texts, { column, text: unread }] });
}

/** The state that shows the rows of a group: those that have its value in the column. */
export function insideOf(s: State, c: Column, value: unknown): State {
  return narrow({ ...s, group: '', sort: '' }, c.path, [equals(c, value)]);
}

/** The columns that an address names and the place does not have. */
export function unknown(s: State, columns: Column[]): string[] {
  const named = [...s.unread.map((u) => u.column), s.group, s.sort.split(' ')[0] ?? ''];
  const known = (path: string): boolean => path === '' || columns.some((c) => c.path === path) || (path === countName && s.group !== '');
  return [...new Set(named.filter((path) => !known(path)))];
}

/** The same resource with other ways to look at it; another page begins at the first row unless it is named. */
export function change(s: State, to: Partial<State>): State {
  return { ...s, skip: 0, ...to };
}

function split(s: string, at: string): [string, string] {
  const i = s.indexOf(at);
  return i < 0 ? [s, ''] : [s.slice(0, i), s.slice(i + 1)];
}

/** What a path leads to. */
export interface Place {
  set: EntitySet;
  type: Type;
  /** Whether it is one row. */
  one: boolean;
  /** The addresses of what stands above it, with their labels. */
  above: { label: string; path: string }[];
  label: string;
}

/** Follows a path along the model; undefined where it leads nowhere. */
export function resolve(path: string, sets: Map<string, EntitySet>): Place | undefined {
  let place: Place | undefined;
  let walked = '';
  for (const segment of path.split('/')) {
    const [, name = '', key] = /^([^()]+)(\([^()]*\))?$/.exec(segment) ?? [];
    const above = place === undefined ? [] : [...place.above, { label: place.label, path: walked }];
    const link: Link | undefined = place?.one === true ? place.type.links.find((l) => l.name === name) : undefined;
    const set = sets.get(place === undefined ? name : link?.set ?? '');
    if (set === undefined) return undefined;
    const many = link === undefined ? !set.single : link.many;
    if (key !== undefined && !many) return undefined;
    const label = link?.label ?? set.label;
    place = { set, type: set.type, one: !many, above, label };
    if (key !== undefined) {
      const list = walked === '' ? name : `${walked}/${name}`;
      place = { ...place, one: true, above: [...above, { label, path: list }], label: decode(key.slice(1, -1)) };
    }
    walked = walked === '' ? segment : `${walked}/${segment}`;
  }
  return place;
}

function decode(s: string): string {
  try {
    return decodeURIComponent(s);
  } catch {
    return s;
  }
}

/** The columns of a place as they are shown: keys of other sets by the labels of their rows. */
export function columnsOf(place: Place, sets: Map<string, EntitySet>): Column[] {
  const labels = labelled(place.type, sets);
  return place.type.columns.map((c) => {
    const to = labels.get(c.path);
    return to === undefined ? c : { ...c, label: isSaid(c) ? c.label : to.link.label, kind: 'text', adds: false, by: `${to.link.name}/${to.title}` };
  });
}

/** Whether somebody has named a column: a service makes the words of its name otherwise, and "Category ID" is less than "Category". */
const isSaid = (c: Column): boolean => c.label.toLowerCase() !== readable(c.path).toLowerCase();

/** The columns of the table: those that annotations have for it, with those that the state is about. */
export function shownOf(s: State, type: Type, columns: Column[]): Column[] {
  if (s.all || type.list.length === 0) return columns;
  const named = [...s.conditions, ...s.unread].map((c) => c.column).concat(s.sort.split(' ')[0] ?? '');
  const listed = type.list.flatMap((path) => columns.find((c) => c.path === path) ?? []);
  return [...listed, ...columns.filter((c) => named.includes(c.path) && !listed.includes(c))];
}

/** The links whose label stands in place of a key in this type's columns, by their columns. */
export function labelled(type: Type, sets: Map<string, EntitySet>): Map<string, { link: Link; title: string }> {
  const found = new Map<string, { link: Link; title: string }>();
  for (const link of type.links) {
    const title = link.set === undefined ? undefined : sets.get(link.set)?.type.title;
    if (!link.many && link.column !== undefined && title !== undefined) found.set(link.column, { link, title });
  }
  return found;
}

/** A request of OData: its path below the service, and its options, not yet encoded. */
export interface Query {
  path: string;
  options: [string, string][];
}

/** The query for the rows that a state shows, without the number of rows that are passed over. */
export function queryOf(s: State, place: Place, sets: Map<string, EntitySet>): Query {
  const options: [string, string][] = [];
  const add = (name: string, value: string): void => void (value !== '' && options.push([name, value]));
  const columns = columnsOf(place, sets);
  const filter = filterOf(s.conditions, columns);
  const group = columns.find((c) => c.path === s.group);
  const [by = '', direction] = s.sort.split(' ');
  const sort = [columns.find((c) => c.path === by)?.by ?? by, ...(direction === 'desc' ? ['desc'] : [])].join(' ');
  if (!place.one && group !== undefined) {
    add('$apply', groups(s, columns, filter, group));
    add('$orderby', sort);
    return { path: s.path, options };
  }
  if (!place.one) {
    add('$filter', filter);
    add('$search', searched(s.search));
    add('$orderby', sort);
  }
  const expand = [...labelled(place.type, sets).values()].map(({ link, title }) => `${link.name}($select=${title})`);
  add('$expand', expand.join(','));
  return { path: s.path, options };
}

/** The column that counts the rows of a group, which no property is called. */
export const countName = 'rows_in_group';

/** The transformations that keep the rows of a state. */
export function narrowed(s: State, filter: string): string {
  const search = searched(s.search);
  return (filter === '' ? '' : `filter(${filter})/`) + (search === '' ? '' : `search(${search})/`);
}

/** Words and phrases that are searched for all at once; those that the language of searches knows stand in quotes (OData-URL 5.1.8). */
export function searched(typed: string): string {
  const list = [...typed.matchAll(/"([^"]+)"|[^\s"]+/g)].map(([word, phrase]) => ({ text: (phrase ?? word).trim(), phrase: phrase !== undefined }));
  const plainWord = (s: string): boolean => /^[\p{L}\p{N}]+$/u.test(s) && !/^(AND|OR|NOT)$/.test(s);
  return list.filter(({ text }) => text !== '').map(({ text, phrase }) => (!phrase && plainWord(text) ? text : `"${text}"`)).join(' ');
}

/** The transformations that count and add up rows by the values of a column. */
export function groups(s: State, columns: Column[], filter: string, by: Column): string {
  const sums = columns.filter((c) => c.adds && c !== by && !c.path.includes('/')).map((c) => `${c.path} with sum as ${c.path}`);
  return `${narrowed(s, filter)}groupby((${[by.path, ...(by.by === undefined ? [] : [by.by])].join(',')}),aggregate(${[`$count as ${countName}`, ...sums].join(',')}))`;
}

/** The transformations that add up all rows. */
export function totals(s: State, columns: Column[], filter: string): string {
  const sums = columns.filter((c) => c.adds && !c.path.includes('/')).map((c) => `${c.path} with sum as ${c.path}`);
  return `${narrowed(s, filter)}aggregate(${sums.join(',')})`;
}

/** Encodes what has a meaning of its own in a query, and leaves the rest for people to read. */
const encode = (s: string): string => encodeURIComponent(s).replace(/%(24|20|2C|2F|3A|40|3D)/gi, (all) => (all === '%20' ? '%20' : decodeURIComponent(all)));

/** The address of a query, relative to the service. */
export function target(q: Query, ...more: [string, string][]): string {
  const query = [...q.options, ...more].map(([name, value]) => `${name}=${encode(value)}`).join('&');
  return query === '' ? q.path : `${q.path}?${query}`;
}
