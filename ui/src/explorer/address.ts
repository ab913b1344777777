// The state of the page is its address: #/Products?name.has=ada&price.ge=10&~sort=price desc&~skip=50. What begins with ~ is no
// column. A column without an operator, as in price=>10, is of an older address: the notation of the service, with days of UTC.

import { expression, filterOf, type Condition, type Operator } from './condition.ts';
import { countName, groupOf, groups, groupsOf, orderOf, totalWords } from './groups.ts';
import { readable, type Column, type EntitySet, type Link, type Type } from './model.ts';
import { plain } from './notation.ts';
import { everyColumn, narrowed, pageSizes, searched, usualSize, type State } from './state.ts';
import { read } from './typed.ts';

/** The operator in an address of text that cannot be read. */
const unreadable = 'text';

/** Reads an address; what it says of columns is held against those of the place that it names. */
export function readState(hash: string, sets: Map<string, EntitySet>): State {
  const [path = '', query = ''] = split(hash.replace(/^#\/?/, ''), '?');
  const place = resolve(path, sets);
  const columns = place === undefined ? [] : columnsOf(place, sets);
  const state: State = { path, conditions: [], unread: [], search: '', sort: '', skip: 0, group: '', total: '', chart: '', columns: [], size: usualSize };
  for (const [name, value] of new URLSearchParams(query)) {
    if (name === '~search') state.search = value;
    else if (name === '~sort') state.sort = value;
    else if (name === '~skip') state.skip = /^\d{1,15}$/.test(value) ? Number(value) : 0;
    else if (name === '~group') state.group = value;
    else if (name === '~total') state.total = Object.hasOwn(totalWords, value) ? value : '';
    else if (name === '~sums') state.total = 'sum'; // of older addresses
    else if (name === '~chart') state.chart = value;
    else if (name === '~columns') state.columns = value.split(',').filter((path) => path !== '');
    else if (name === '~all') state.columns = [everyColumn]; // of older addresses
    else if (name === '~size') state.size = pageSizes.find((n) => n === Number(value)) ?? usualSize;
    else readCondition(state, columns, name, value);
  }
  return state;
}

/** Reads column.operator=value, or column=what was typed. */
function readCondition(state: State, columns: Column[], name: string, value: string): void {
  const [path, op] = split(name, '.');
  const column = columns.find((c) => c.path === path);
  if (op === '' && value === '' && column !== undefined) return;
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
  if (s.total !== '') query.set('~total', s.total);
  if (s.chart !== '') query.set('~chart', s.chart);
  if (s.columns.length > 0) query.set('~columns', s.columns.join(','));
  if (s.size !== usualSize) query.set('~size', String(s.size));
  if (s.skip > 0) query.set('~skip', String(s.skip));
  const text = query.toString();
  return `#/${s.path}${text === '' ? '' : `?${text}`}`;
}

/** The columns that an address names and the place does not have. */
export function unknown(s: State, columns: Column[]): string[] {
  const groups = s.group.split(',').filter((name) => name !== '');
  const known = (path: string): boolean => path === '' || path === everyColumn || columns.some((c) => c.path === path) || (s.group !== '' && (path === countName || groups.includes(path)));
  const none = (paths: string[]): string[] => paths.filter((path) => !known(path));
  return [...new Set([...none(s.unread.map((u) => u.column)), ...groups.filter((name) => groupOf(name, columns) === undefined), ...none([s.sort.split(' ')[0] ?? '', s.chart, ...s.columns])])];
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

/** The columns of the table: those that were chosen, else those that annotations list, with those that the state is about. */
export function shownOf(s: State, type: Type, columns: Column[]): Column[] {
  const find = (paths: string[]): Column[] => [...new Set(paths.flatMap((path) => columns.find((c) => c.path === path || c.by === path) ?? []))];
  const chosen = find(s.columns);
  if (chosen.length > 0) return chosen;
  const listed = find(type.list);
  if (s.columns.includes(everyColumn) || listed.length === 0) return columns;
  const named = [...s.conditions, ...s.unread].map((c) => c.column).concat(s.sort.split(' ')[0] ?? '');
  return [...listed, ...columns.filter((c) => named.includes(c.path) && !listed.includes(c))];
}

/** The links whose label stands in place of a key in this type's columns, by their columns. */
export function labelled(type: Type, sets: Map<string, EntitySet>): Map<string, { link: Link; title: string }> {
  const found = new Map<string, { link: Link; title: string }>();
  for (const link of type.links) {
    const said = type.columns.find((c) => c.path === link.column)?.text?.split('/') ?? [];
    const to = link.set === undefined ? undefined : sets.get(link.set)?.type;
    const title = said.length === 2 && said[0] === link.name ? to?.columns.find((c) => c.path === said[1])?.path : to?.title;
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
  const by = groupsOf(s, columns);
  const [named = '', direction] = s.sort.split(' ');
  const sort = by.length > 0 ? orderOf(s.sort, by) : [columns.find((c) => c.path === named)?.by ?? named, ...(direction === 'desc' ? ['desc'] : [])].join(' ');
  if (!place.one && by.length > 0) {
    add('$apply', groups(s, columns, filter, by));
    add('$orderby', sort);
    return { path: s.path, options };
  }
  if (!place.one) {
    add('$filter', filter);
    add('$search', searched(s.search));
    add('$orderby', sort);
  }
  const labels = labelled(place.type, sets);
  const chosen = place.one ? [] : columns.filter((c) => s.columns.includes(c.path));
  if (chosen.length > 0) add('$select', selected(shownOf(s, place.type, columns), place.type));
  const expand = [...labels].filter(([path]) => chosen.length === 0 || chosen.some((c) => c.path === path)).map(([, { link, title }]) => `${link.name}($select=${title})`);
  add('$expand', expand.join(','));
  return { path: s.path, options };
}

/** The properties that rows of some columns need: these, their units and texts, and the key. */
function selected(columns: Column[], type: Type): string {
  const beside = columns.flatMap((c) => [c.unit?.path, c.by === undefined && c.text?.includes('/') === false ? c.text : undefined].filter((p) => p !== undefined));
  return [...new Set([...columns.map((c) => c.path), ...beside, ...type.key])].join(',');
}

/** The query for the values of a column and how many rows have each, under the conditions of the other columns. */
export function valuesOf(s: State, columns: Column[], c: Column, by = [c.path, ...(c.by === undefined ? [] : [c.by])].join(',')): [string, string][] {
  const filter = filterOf(s.conditions.filter(({ column }) => column !== c.path), columns);
  return [['$apply', `${narrowed(s, filter)}groupby((${by}),aggregate($count as ${countName}))`], ['$orderby', `${countName} desc`]];
}

/** Encodes what has a meaning of its own in a query, and leaves the rest for people to read. */
const encode = (s: string): string => encodeURIComponent(s).replace(/%(24|20|2C|2F|3A|40|3D)/gi, (all) => (all === '%20' ? '%20' : decodeURIComponent(all)));

/** The address of a query, relative to the service. */
export function target(q: Query, ...more: [string, string][]): string {
  const query = [...q.options, ...more].map(([name, value]) => `${name}=${encode(value)}`).join('&');
  return query === '' ? q.path : `${q.path}?${query}`;
}
