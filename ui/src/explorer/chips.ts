// The conditions that hold, each with a button that takes it away.

import { h } from '../dom.ts';
import type { Words } from '../i18n.ts';
import type { Cells } from './cells.ts';
import type { Condition } from './condition.ts';
import type { Column } from './model.ts';
import { change, narrow, type State } from './state.ts';
import { write } from './typed.ts';

/** What people read of the conditions of a column. */
function told(c: Column, conditions: Condition[], cells: Cells, words: Words): string {
  const [first] = conditions;
  if (first?.op === 'null') return words.text('explorer.null');
  const plain = first !== undefined && (c.kind === 'truth' || c.kind === 'choice');
  return plain ? cells.text(c, first.value) : write(c, conditions, cells.local);
}

/** A list of the conditions of a state; go shows the state without one. */
export function chips(state: State, columns: Column[], cells: Cells, words: Words, go: (to: State) => void): HTMLElement | undefined {
  const list = columns.flatMap((c) => {
    const conditions = state.conditions.filter((condition) => condition.column === c.path);
    return conditions.length === 0 ? [] : [{ text: `${c.label}: ${told(c, conditions, cells, words)}`, without: narrow(state, c.path, []) }];
  });
  if (state.search !== '') list.push({ text: `${words.text('explorer.search')}: ${state.search}`, without: change(state, { search: '' }) });
  if (list.length === 0) return undefined;
  if (list.length > 1) list.push({ text: '', without: change(state, { conditions: [], search: '' }) });
  const items = list.map(({ text, without }) => {
    const name = text === '' ? words.text('explorer.removeAll') : words.text('explorer.remove', text);
    const inside = text === '' ? [name] : [h('span', {}, text), h('span', { 'aria-hidden': 'true' }, '✕')];
    return h('li', {}, h('button', { type: 'button', class: 'small chip', 'aria-label': name, onclick: () => go(without) }, ...inside));
  });
  return h('ul', { class: 'chips', 'aria-label': words.text('explorer.filters') }, ...items);
}
