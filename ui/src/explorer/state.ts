// What the page shows of a resource, and how one state is made of another.

import type { Condition, Unread } from './condition.ts';

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
  /** What rows are grouped by, with commas between: columns, of days also column.year and column.month; empty for none. */
  group: string;
  /** The total of numbers that is shown; empty for none, or for sums of groups. */
  total: string;
  /** The column whose totals a chart of groups shows; empty for no chart. */
  chart: string;
  /** The paths of the columns of the table in their order: none for those of annotations, everyColumn for all. */
  columns: string[];
  /** How many rows a page has. */
  size: number;
}

export const pageSizes = [25, 50, 100, 200];
export const usualSize = 50;

/** The choice of all columns in their own order. */
export const everyColumn = '*';

/** The state in which a column has these conditions and no others. */
export function narrow(s: State, column: string, conditions: Condition[], unread?: string): State {
  const others = s.conditions.filter((c) => c.column !== column);
  const texts = s.unread.filter((u) => u.column !== column);
  return change(s, { conditions: [...others, ...conditions], unread: unread === undefined ? texts : [...texts, { column, text: unread }] });
}

/** The same resource with other ways to look at it; another page begins at the first row unless it is named. */
export function change(s: State, to: Partial<State>): State {
  return { ...s, skip: 0, ...to };
}

/** The transformations that keep the rows of a state. */
export function narrowed(s: State, filter: string): string {
  const search = searched(s.search);
  return (filter === '' ? '' : `filter(${filter})/`) + (search === '' ? '' : `search(${search})/`);
}

/** The one condition of a column as its operator and value; empty where there are none or several. */
export function narrowedTo(s: State, column: string): string {
  const [first, second] = s.conditions.filter((c) => c.column === column);
  return first === undefined || second !== undefined ? '' : `${first.op} ${first.value}`;
}

/** Words and phrases that are searched for all at once; those that the language of searches knows stand in quotes (OData-URL 5.1.8). */
export function searched(typed: string): string {
  const list = [...typed.matchAll(/"([^"]+)"|[^\s"]+/g)].map(([word, phrase]) => ({ text: (phrase ?? word).trim(), phrase: phrase !== undefined }));
  const plainWord = (s: string): boolean => /^[\p{L}\p{N}]+$/u.test(s) && !/^(AND|OR|NOT)$/.test(s);
  return list.filter(({ text }) => text !== '').map(({ text, phrase }) => (!phrase && plainWord(text) ? text : `"${text}"`)).join(' ');
}
