// The state of the page is its address: #/Products?name=ada&price=>10&~sort=price desc&~skip=50. What begins with ~ is no column.

import { expression } from './filter.ts';
import { readable, type Column, type EntitySet, type Link, type Type } from './model.ts';

export interface State {
  /** The resource, as it stands behind /odata/; empty for the list of sets. */
  path: string;
  /** What was typed above the columns, by their paths. */
  typed: Map<string, string>;
  search: string;
  /** A column, and " desc" behind it for the other direction; empty for the order of the key. */
  sort: string;
  skip: number;
  /** The column by whose values rows are counted and added up; empty for none. */
  group: string;
  /** Whether the sums over all rows are shown. */
  sums: boolean;
}

export const pageSize = 50;

export function readState(hash: string): State {
  const [path = '', query = ''] = split(hash.replace(/^#\/?/, ''), '?');
  const state: State = { path, typed: new Map(), search: '', sort: '', skip: 0, group: '', sums: false };
  for (const [name, value] of new URLSearchParams(query)) {
    if (name === '~search') state.search = value;
    else if (name === '~sort') state.sort = value;
    else if (name === '~skip') state.skip = /^\d{1,15}$/.test(value) ? Number(value) : 0;
    else if (name === '~group') state.group = value;
    else if (name === '~sums') state.sums = true;
    else if (value !== '') state.typed.set(name, value);
  }
  return state;
}

export function writeState(s: State): string {
  const query = new URLSearchParams([...s.typed].filter(([, v]) => v !== ''));
  if (s.search !== '') query.set('~search', s.search);
  if (s.group !== '') query.set('~group', s.group);
  if (s.sort !== '') query.set('~sort', s.sort);
  if (s.sums) query.set('~sums', '1');
  if (s.skip > 0) query.set('~skip', String(s.skip));
  const text = query.toString();
  return `#/${s.path}${text === '' ? '' : `?${text}`}`;
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

/** The links whose label stands in place of a key in this type's columns, by their columns. */
export function labelled(type: Type, sets: Map<string, EntitySet>): Map<string, { link: Link; title: string }> {
  const found = new Map<string, { link: Link; title: string }>();
  for (const link of type.links) {
    const title = link.set === undefined ? undefined : sets.get(link.set)?.type.title;
    if (!link.many && link.column !== undefined && title !== undefined) found.set(link.column, { link, title });
  }
  return found;
}

/** The filter of all that was typed and can be read; bad are the columns where it cannot. */
export function filterOf(s: State, columns: Column[]): { filter: string; bad: string[] } {
  const parts: string[] = [];
  const bad: string[] = [];
  for (const [path, typed] of s.typed) {
    const column = columns.find((c) => c.path === path);
    const found = column === undefined ? undefined : expression({ ...column, path: column.by ?? column.path }, typed);
    if (found === undefined) bad.push(path);
    else parts.push(found);
  }
  return { filter: parts.map((p) => (parts.length > 1 && p.includes(' and ') ? `(${p})` : p)).join(' and '), bad };
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
  const { filter } = filterOf(s, columns);
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
    add('$search', s.search);
    add('$orderby', sort);
  }
  const expand = [...labelled(place.type, sets).values()].map(({ link, title }) => `${link.name}($select=${title})`);
  add('$expand', expand.join(','));
  return { path: s.path, options };
}

/** The column that counts the rows of a group, which no property is called. */
export const countName = 'rows_in_group';

const narrowed = (s: State, filter: string): string =>
  (filter === '' ? '' : `filter(${filter})/`) + (s.search === '' ? '' : `search(${s.search})/`);

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
