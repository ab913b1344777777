// The table of rows: a heading for each column that sorts, a field that narrows down, and rows that are replaced below them.

import { h, setAttribute } from '../dom.ts';
import type { Words } from '../i18n.ts';
import { change, columnsOf, countName, filterOf, writeState, type Place, type State } from './address.ts';
import { Cells, keyOf } from './cells.ts';
import type { Column, EntitySet } from './model.ts';
import { valueAt, type Row } from './service.ts';

export interface TableOptions {
  place: Place;
  sets: Map<string, EntitySet>;
  words: Words;
  /** Goes to another state; typing replaces the address instead of adding to the history. */
  go(to: State, typing?: boolean): void;
  /** Asks for values that are often in a column, and gives them in time or not at all. */
  suggest(c: Column): Promise<{ value: string; count: string }[]>;
}

/** How each kind of column is narrowed down, in short. */
const hints: { [kind: string]: string } = {
  text: 'explorer.hint.text',
  number: 'explorer.hint.number',
  day: 'explorer.hint.day',
  instant: 'explorer.hint.day',
};

/** A table for one place, which is told of states and rows. The fields keep what is being typed. */
export class Table {
  readonly element: HTMLElement;
  private readonly o: TableOptions;
  private readonly cells: Cells;
  private readonly columns: Column[];
  /** The columns that can be narrowed down, whichever are shown. */
  private readonly all: Column[];
  private readonly head = h('tr', {});
  private readonly fields = h('tr', { class: 'filters' });
  private readonly body = h('tbody', {});
  private readonly foot = h('tfoot', {});
  private readonly caption = h('caption', { class: 'sr-only' });
  private readonly inputs = new Map<string, HTMLInputElement | HTMLSelectElement>();
  private state: State;
  private timer = 0;

  constructor(o: TableOptions, state: State) {
    this.o = o;
    this.state = state;
    this.cells = new Cells(o.words);
    this.all = columnsOf(o.place, o.sets);
    const group = this.all.find((c) => c.path === state.group);
    this.columns = group === undefined ? this.all : grouped(this.all, group, o.words);
    this.caption.textContent = o.place.label;
    for (const c of this.columns) this.fields.append(h('td', {}, this.field(c)));
    const table = h('table', {}, this.caption, h('thead', {}, this.head, this.fields), this.body, this.foot);
    this.element = h('div', { class: 'table', role: 'region', 'aria-label': o.place.label, tabindex: '0' }, table);
    this.update(state);
  }

  /** Whether the table has the columns of a state. */
  fits(place: Place, state: State): boolean {
    return place.type === this.o.place.type && place.label === this.o.place.label && state.group === this.state.group && state.path === this.state.path;
  }

  update(state: State): void {
    this.state = state;
    const { bad } = filterOf(state, this.all);
    const held = [...this.head.children].findIndex((th) => th.contains(document.activeElement)); // who sorts by keyboard stays there
    this.head.replaceChildren(...this.columns.map((c) => this.heading(c)));
    this.head.children[held]?.querySelector('button')?.focus();
    for (const [path, input] of this.inputs) {
      const typed = state.typed.get(path) ?? '';
      if (input !== document.activeElement && input.value !== typed) input.value = typed;
      setAttribute(input, 'aria-invalid', bad.includes(path) ? 'true' : null);
    }
  }

  show(rows: Row[]): void {
    const { place, sets } = this.o;
    this.body.replaceChildren(
      ...rows.map((row) => {
        const key = keyOf(place.type, row);
        const base = this.state.group !== '' || key === undefined ? undefined : place.set.name + key;
        return h('tr', {}, ...this.columns.map((c) => h('td', { class: c.kind === 'number' ? 'number' : null }, this.cell(c, row, base, sets))));
      }),
    );
    if (rows.length === 0) this.body.append(h('tr', {}, h('td', { colspan: this.columns.length, class: 'none' }, this.o.words.text('explorer.none'))));
    setAttribute(this.element, 'aria-busy', null);
  }

  private cell(c: Column, row: Row, base: string | undefined, sets: Map<string, EntitySet>): ReturnType<Cells['cell']> {
    const value = valueAt(row, c.by ?? c.path);
    if (c.path === this.state.group && typeof value !== 'object' && value !== undefined) {
      const narrowed = new Map(this.state.typed).set(c.path, c.kind === 'text' ? `=${String(value)}` : String(value));
      return h('a', { href: writeState(change(this.state, { group: '', typed: narrowed, sort: '' })) }, this.cells.text(c, value) || '–');
    }
    return this.cells.cell(this.o.place, sets, c, row, base);
  }

  /** The sums below the rows; undefined takes them away. */
  total(sums: Row | undefined): void {
    if (sums === undefined) {
      this.foot.replaceChildren();
      return;
    }
    const cells = this.columns.map((c, i) => {
      const value = c.adds ? valueAt(sums, c.path) : undefined;
      return h(i === 0 ? 'th' : 'td', { class: 'number', scope: i === 0 ? 'row' : null }, i === 0 ? this.o.words.text('explorer.sum') : this.cells.text(c, value));
    });
    this.foot.replaceChildren(h('tr', {}, ...cells));
  }

  busy(): void {
    this.element.setAttribute('aria-busy', 'true');
  }

  private heading(c: Column): HTMLElement {
    const [by, direction] = this.state.sort.split(' ');
    const down = by === c.path && direction === 'desc';
    const up = by === c.path && !down;
    const sort = up ? `${c.path} desc` : down ? '' : c.path;
    const sortable = c.kind !== 'none';
    const sign = up ? ' ↑' : down ? ' ↓' : '';
    const inside = sortable
      ? h('button', { type: 'button', class: 'sort', onclick: () => this.o.go(change(this.state, { sort })) }, c.label, h('span', { 'aria-hidden': 'true' }, sign))
      : c.label;
    return h('th', { scope: 'col', class: c.kind === 'number' ? 'number' : null, 'aria-sort': up ? 'ascending' : down ? 'descending' : null }, inside);
  }

  private field(c: Column): HTMLElement | null {
    if (c.kind === 'none' || this.state.group !== '') return null;
    const label = this.o.words.text('explorer.filterBy', c.label);
    const typed = this.state.typed.get(c.path) ?? '';
    const input = c.kind === 'truth' || c.kind === 'choice' ? this.choice(c, label) : this.typing(c, label);
    input.value = typed;
    this.inputs.set(c.path, input);
    return input.dataset['list'] === undefined ? input : h('div', {}, input, h('datalist', { id: input.dataset['list'] }));
  }

  private choice(c: Column, label: string): HTMLSelectElement {
    const { words } = this.o;
    const options = c.kind === 'truth' ? [['true', words.text('explorer.true')], ['false', words.text('explorer.false')]] : [...c.members];
    const all = [['', words.text('explorer.all')], ...options];
    const select: HTMLSelectElement = h('select', { 'aria-label': label, onchange: () => this.typed(c, select.value) }, ...all.map(([v, t]) => h('option', { value: v }, t)));
    return select;
  }

  private typing(c: Column, label: string): HTMLInputElement {
    const list = c.kind === 'text' && this.o.place.set.sums ? `values-${c.path.replaceAll('/', '-')}` : null;
    const key = hints[c.kind];
    const hint = key === undefined ? undefined : this.o.words.text(key);
    const input: HTMLInputElement = h('input', {
      type: 'search', 'aria-label': label, title: hint, autocomplete: 'off', spellcheck: 'false',
      'data-list': list, list, oninput: () => this.typed(c, input.value),
      onfocus: () => list !== null && void this.fill(c, list),
    });
    return input;
  }

  private async fill(c: Column, id: string): Promise<void> {
    const found = await this.o.suggest(c);
    document.getElementById(id)?.replaceChildren(...found.map((f) => h('option', { value: `=${f.value}`, label: `${f.value} (${f.count})` })));
  }

  /** Waits for the end of typing. */
  private typed(c: Column, value: string): void {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => {
      const typed = new Map(this.state.typed);
      if (value === '') typed.delete(c.path);
      else typed.set(c.path, value);
      this.o.go(change(this.state, { typed }), true);
    }, 300);
  }
}

/** The columns of groups: what they are made by, how many rows they have, and the sums. */
function grouped(all: Column[], by: Column, words: Words): Column[] {
  const count: Column = { path: countName, label: words.text('explorer.rows'), kind: 'number', edm: 'Edm.Decimal', members: new Map(), adds: false };
  const sums = all.filter((c) => c.adds && c !== by && !c.path.includes('/'));
  return [by, count, ...sums.map((c) => ({ ...c, label: words.text('explorer.sumOf', c.label) }))];
}
