// Groups of rows by one column or two, of which days and times may go by year or month, and totals of numbers.

import { equals, type Condition } from './condition.ts';
import type { Column } from './model.ts';
import { plain } from './notation.ts';
import { valueAt, type Row } from './service.ts';
import { change, narrow, narrowed, type State } from './state.ts';
import { read } from './typed.ts';

/** The column that counts the rows of a group, which no property is called. */
export const countName = 'rows_in_group';

/** The totals that the page knows, as the service calls them, and their words. */
export const totalWords: { [total: string]: string } = { sum: 'explorer.sum', average: 'explorer.average', min: 'explorer.min', max: 'explorer.max' };

/** The words of parts of days. */
export const partWords: { [part: string]: string } = { year: 'explorer.year', month: 'explorer.month' };

/** What rows are grouped by: the values of a column, or the years or months of its days. */
export interface Group {
  /** How the address names it: a column, and .year or .month behind it. */
  name: string;
  column: Column;
  part: '' | 'year' | 'month';
  /** The paths of its values in a row of the answer. */
  paths: string[];
}

/** The group that a part of an address names; undefined where the column has none such. */
export function groupOf(name: string, columns: Column[]): Group | undefined {
  const [path = '', part = ''] = name.split('.');
  const column = columns.find((c) => c.path === path);
  if (column === undefined) return undefined;
  if (part === '') return { name, column, part, paths: [path, ...(column.by === undefined ? [] : [column.by])] };
  const known = Object.hasOwn(partWords, part) && (column.kind === 'day' || column.kind === 'instant');
  return known ? { name, column, part: part as Group['part'], paths: [`${path}_year`, ...(part === 'month' ? [`${path}_month`] : [])].map(aside) } : undefined;
}

/** A name that no property of the service is likely to have. */
const aside = (name: string): string => `group_${name}`;

/** What the rows of a state are grouped by; empty for rows by themselves. */
export function groupsOf(s: State, columns: Column[]): Group[] {
  const found = s.group.split(',').flatMap((name) => groupOf(name, columns) ?? []);
  return found.filter((g, i) => found.findIndex((other) => other.column === g.column) === i);
}

/** The columns that a total of this name means something for. A sum over several currencies or units means nothing. */
export function totalled(columns: Column[], total: string, by: Group[]): Column[] {
  const among = (c: Column): boolean => c.unit?.path === undefined || by.some((g) => g.column.path === c.unit?.path);
  const ordered = (c: Column): boolean => (total === 'min' || total === 'max') && (c.kind === 'day' || c.kind === 'instant');
  return columns.filter((c) => !c.path.includes('/') && !by.some((g) => g.column === c) && ((c.adds && among(c)) || ordered(c)));
}

const aggregates = (columns: Column[], total: string, by: Group[]): string[] => totalled(columns, total, by).map((c) => `${c.path} with ${total} as ${c.path}`);

/** The transformations that count rows by groups, with totals of each. */
export function groups(s: State, columns: Column[], filter: string, by: Group[]): string {
  const parts = by.flatMap((g) => (g.part === '' ? [] : g.paths.map((name, i) => `${['year', 'month'][i] ?? ''}(${g.column.path}) as ${name}`)));
  const computed = parts.length === 0 ? '' : `compute(${parts.join(',')})/`;
  const made = [`$count as ${countName}`, ...aggregates(columns, s.total || 'sum', by)];
  return `${narrowed(s, filter)}${computed}groupby((${by.flatMap((g) => g.paths).join(',')}),aggregate(${made.join(',')}))`;
}

/** The transformations for the totals of all rows. */
export function totals(s: State, columns: Column[], filter: string): string {
  return `${narrowed(s, filter)}aggregate(${aggregates(columns, s.total, []).join(',')})`;
}

/** The order of groups: by a column, or by all values of a group. */
export function orderOf(sort: string, by: Group[]): string {
  const [name = '', direction = ''] = sort.split(' ');
  const group = by.find((g) => g.name === name);
  const paths = group === undefined ? [name] : group.part === '' ? [group.column.by ?? name] : group.paths;
  return name === '' ? '' : paths.map((path) => (direction === 'desc' ? `${path} desc` : path)).join(',');
}

/** The state that shows the rows which a row of groups counts. */
export function rowsOfGroup(s: State, by: Group[], row: Row): State {
  return by.reduce((state, g) => {
    const found = conditionsOf(g, row);
    const others = g.part === '' ? [] : state.conditions.filter((c) => c.column === g.column.path);
    return narrow(state, g.column.path, [...others, ...found]);
  }, change(s, { group: '', sort: '', chart: '' }));
}

/** The days of UTC of a year or a month, as the service takes them apart. */
function conditionsOf(g: Group, row: Row): Condition[] {
  if (g.part === '') return [equals(g.column, valueAt(row, g.column.path))];
  const text = partText(g, row);
  return (text === undefined ? undefined : read(g.column, text, plain)) ?? [equals(g.column, null)];
}

/** A year or a month as ISO 8601 writes it; undefined for none. */
export function partText(g: Group, row: Row): string | undefined {
  const values = g.paths.map((path) => valueAt(row, path));
  if (values.some((v) => v === null || v === undefined)) return undefined;
  return values.map((v, i) => String(v).padStart(i === 0 ? 4 : 2, '0')).join('-');
}
