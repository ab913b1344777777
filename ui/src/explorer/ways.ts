// The choices above a table: what rows are grouped by, which totals are shown, and a chart of them.

import { h } from '../dom.ts';
import type { Words } from '../i18n.ts';
import type { Place } from './address.ts';
import { countName, groupOf, partWords, totalled, totalWords } from './groups.ts';
import type { Column } from './model.ts';
import type { State } from './state.ts';
import { partLabel } from './table.ts';

export interface Ways {
  elements: HTMLElement[];
  /** Shows the choices of a state. */
  update(state: State): void;
}

/** The choices for a place; charted are the columns that a chart of its groups can show. */
export function ways(state: State, place: Place, columns: Column[], charted: Column[], words: Words, go: (to: Partial<State>) => void): Ways {
  const elements: HTMLElement[] = [];
  const updates: ((s: State) => void)[] = [];
  const choice = (label: string, options: [string, string][], read: (s: State) => string, chosen: (value: string) => void): void => {
    const select: HTMLSelectElement = h('select', { 'aria-label': words.text(label), onchange: () => chosen(select.value) }, ...options.map(([value, text]) => h('option', { value }, text)));
    elements.push(select);
    updates.push((s) => void (select.value = read(s)));
  };
  if (!place.set.sums) return { elements, update: () => undefined };
  const [first = '', second = ''] = state.group.split(',');
  const options = columns.flatMap((c): [string, string][] => {
    if (c.kind === 'none' || c.path.includes('/') || place.type.key.includes(c.path)) return [];
    const parts = c.kind === 'day' || c.kind === 'instant' ? Object.keys(partWords).map((part): [string, string] => [`${c.path}.${part}`, words.text('explorer.by', partLabel(c, part, words))]) : [];
    return [...(c.kind === 'instant' ? [] : [[c.path, words.text('explorer.by', c.label)] as [string, string]]), ...parts];
  });
  // Groups of months come in their order, others by how many rows they have.
  const order = (names: string[]): string => (names.some((name) => name.includes('.')) || names.length === 0 ? '' : `${countName} desc`);
  const group = (...names: string[]): void => {
    const list = names.filter((name) => name !== '');
    go({ group: list.join(','), sort: order(list), total: '', chart: state.chart === '' || list.length === 0 ? '' : countName });
  };
  choice('explorer.group', [['', words.text('explorer.rowByRow')], ...options], () => first, (value) => group(value, ...(value === '' ? [] : [second])));
  if (first !== '') {
    const used = groupOf(first, columns)?.column.path;
    const others = options.filter(([name]) => name.split('.')[0] !== used);
    choice('explorer.second', [['', words.text('explorer.noSecond')], ...others], () => second, (value) => group(first, value));
  }
  const named = Object.entries(totalWords).filter(([total]) => totalled(columns, total, []).length > 0).map(([total, key]): [string, string] => [total, words.text(key)]);
  if (named.length > 0 && first === '') choice('explorer.total', [['', words.text('explorer.noTotal')], ...named], (s) => s.total, (total) => go({ total }));
  if (named.length > 0 && first !== '') choice('explorer.total', named, (s) => s.total || 'sum', (total) => go({ total, sort: state.sort }));
  if (first !== '') choice('explorer.chart', [['', words.text('explorer.noChart')], ...charted.map((c): [string, string] => [c.path, words.text('explorer.chartOf', c.label)])], (s) => s.chart, (chart) => go({ chart }));
  return { elements, update: (s) => updates.forEach((update) => update(s)) };
}
