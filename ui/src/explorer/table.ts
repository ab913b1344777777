// The table of rows: a heading for each column that sorts, a field that narrows down, and rows that are replaced below them.

import { h, setAttribute } from '../dom.ts';
import type { Words } from '../i18n.ts';
import { change, columnsOf, countName, insideOf, narrow, shownOf, writeState, type Place, type State } from './address.ts';
import { Cells, keyOf, mainOf } from './cells.ts';
import type { Column, EntitySet } from './model.ts';
import { valueAt, type Row } from './service.ts';
import { read, write } from './typed.ts';

export interface TableOptions {
  place: Place;
  sets: Map<string, EntitySet>;
  words: Words;
  /** Goes to another state; typing replaces the address instead of adding to the history. */
  go(to: State, typing?: boolean): void;
  /** Asks for values that are often in a column, and gives them in time or not at all. */
  suggest(c: Column): Promise<{ value: string; count: string }[]>;
}

/** How a kind of column is narrowed down, in short, and what is wrong with what cannot be read above it. */
const kinds: { [kind: string]: { hint?: string; fault: string } } = {
  text: { hint: 'explorer.hint.text', fault: 'explorer.unread.text' },
  number: { hint: 'explorer.hint.number', fault: 'explorer.unread.number' },
  day: { hint: 'explorer.hint.day', fault: 'explorer.unread.day' },
  instant: { hint: 'explorer.hint.day', fault: 'explorer.unread.day' },
};

export const faultOf = (c: Column, words: Words): string => words.text(kinds[c.kind]?.fault ?? 'explorer.unread.other');

/** The value of the choice of rows without a value. */
const noValue = '=';

/** A field above a column, and the place below it for what is wrong with what was typed. */
interface Field {
  input: HTMLInputElement | HTMLSelectElement;
  fault: HTMLElement;
}

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
  private readonly inputs = new Map<string, Field>();
  private readonly main: Column | undefined;
  private state: State;
  private timer = 0;

  constructor(o: TableOptions, state: State) {
    this.o = o;
    this.state = state;
    this.cells = new Cells(o.words);
    this.all = columnsOf(o.place, o.sets);
    this.columns = this.shown(state);
    this.main = mainOf(o.place.type, this.columns);
    this.caption.textContent = o.place.label;
    for (const c of this.columns) this.fields.append(h('td', {}, ...this.field(c)));
    const table = h('table', { onkeydown: alongRow }, this.caption, h('thead', {}, this.head, this.fields), this.body, this.foot);
    this.element = h('div', { class: 'table', role: 'region', 'aria-label': o.place.label, tabindex: '0' }, table);
  }

  private shown(state: State): Column[] {
    const group = this.all.find((c) => c.path === state.group);
    return group === undefined ? shownOf(state, this.o.place.type, this.all) : grouped(this.all, group, this.o.words);
  }

  /** Whether the table has the columns of a state. */
  fits(place: Place, state: State): boolean {
    const same = place.type === this.o.place.type && place.label === this.o.place.label && state.group === this.state.group && state.path === this.state.path;
    const paths = this.columns.map((c) => c.path);
    return same && state.all === this.state.all && (state.group !== '' || this.shown(state).every((c) => paths.includes(c.path)));
  }

  /** Whether a column has a field above it. */
  hasField(path: string): boolean {
    return this.inputs.has(path);
  }

  update(state: State): void {
    this.state = state;
    const held = [...this.head.children].findIndex((th) => th.contains(document.activeElement)); // who sorts by keyboard stays there
    this.head.replaceChildren(...this.columns.map((c) => this.heading(c)));
    this.head.children[held]?.querySelector('button')?.focus();
    for (const c of this.columns) this.fillIn(c);
  }

  /** Shows the conditions of a column in its field, or what was typed and why it is none. */
  private fillIn(c: Column, also = false): void {
    const field = this.inputs.get(c.path);
    if (field === undefined) return;
    const { input, fault } = field;
    const unread = this.state.unread.find((u) => u.column === c.path);
    const text = unread?.text ?? write(c, this.state.conditions.filter((condition) => condition.column === c.path), this.cells.local);
    if ((also || input !== document.activeElement) && input.value !== text) {
      if (input instanceof HTMLSelectElement && unread !== undefined) input.append(h('option', { value: text }, text));
      input.value = text;
    }
    const wrong = unread === undefined ? '' : faultOf(c, this.o.words);
    if (fault.textContent !== wrong) fault.textContent = wrong;
    setAttribute(input, 'aria-invalid', unread === undefined ? null : 'true');
    setAttribute(input, 'aria-describedby', unread === undefined ? null : fault.id);
  }

  /** Shows rows; none says why there are none, and is empty where something else on the page does. */
  show(rows: Row[], none: string): void {
    const group = this.columns.find((c) => c.path === this.state.group);
    const labels = rows.map((row) => group?.by !== undefined && valueAt(row, group.by));
    this.body.replaceChildren(
      ...rows.map((row, i) => {
        const twice = labels.filter((l) => l === labels[i]).length > 1;
        return h('tr', {}, ...this.columns.map((c) => h('td', { class: c.kind === 'number' ? 'number' : null }, c === group ? this.group(c, row, twice) : this.cell(c, row))));
      }),
    );
    if (rows.length === 0 && none !== '') this.body.append(h('tr', {}, h('td', { colspan: this.columns.length, class: 'none' }, none)));
    setAttribute(this.element, 'aria-busy', null);
  }

  private cell(c: Column, row: Row): ReturnType<Cells['cell']> {
    const { place, sets } = this.o;
    const key = this.state.group === '' ? keyOf(place.type, row) : undefined;
    return this.cells.cell(place, sets, c, row, key === undefined ? undefined : place.set.name + key, this.main);
  }

  /** The value of a group, which leads to the rows that it counts. */
  private group(c: Column, row: Row, twice: boolean): HTMLElement {
    const value = valueAt(row, c.path);
    const to = insideOf(this.state, c, value);
    if (value === null || value === undefined) return h('a', { href: writeState(to) }, h('i', { class: 'null' }, this.o.words.text('explorer.null')));
    return h('a', { href: writeState(to) }, c.by === undefined ? this.cells.seen(c, value, row) : this.cells.label(valueAt(row, c.by), value, twice));
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

  private field(c: Column): Node[] {
    if (c.kind === 'none' || this.state.group !== '') return [];
    const label = this.o.words.text('explorer.filterBy', c.label);
    const input = c.kind === 'truth' || c.kind === 'choice' ? this.choice(c, label) : this.typing(c, label);
    const fault = h('p', { class: 'wrong', id: `wrong-${c.path.replaceAll('/', '-')}` });
    this.inputs.set(c.path, { input, fault });
    const { list } = input.dataset;
    return list === undefined ? [input, fault] : [input, h('datalist', { id: list }), fault];
  }

  private choice(c: Column, label: string): HTMLSelectElement {
    const { words } = this.o;
    const options = c.kind === 'truth' ? [['true', words.text('explorer.true')], ['false', words.text('explorer.false')]] : [...c.members];
    const all = [['', words.text('explorer.all')], ...options, ...(c.nullable ? [[noValue, words.text('explorer.null')]] : [])];
    const select: HTMLSelectElement = h('select', { 'aria-label': label, onchange: () => this.typed(c, select.value) }, ...all.map(([v, t]) => h('option', { value: v }, t)));
    return select;
  }

  private typing(c: Column, label: string): HTMLInputElement {
    const list = c.kind === 'text' && this.o.place.set.sums ? `values-${c.path.replaceAll('/', '-')}` : null;
    const hint = kinds[c.kind]?.hint;
    let pending = false;
    const settle = (): void => {
      clearTimeout(this.timer);
      if (pending) this.typed(c, input.value);
      pending = false;
    };
    const input: HTMLInputElement = h('input', {
      type: 'search', class: c.kind === 'day' || c.kind === 'instant' ? 'day' : null, 'aria-label': label, title: hint === undefined ? undefined : this.o.words.text(hint), autocomplete: 'off', spellcheck: 'false',
      'data-list': list, list,
      oninput: () => {
        clearTimeout(this.timer);
        pending = true;
        this.timer = window.setTimeout(settle, 300); // the end of typing
      },
      onchange: settle,
      onblur: () => this.fillIn(c, true),
      onfocus: () => list !== null && void this.fill(c, list),
    });
    return input;
  }

  private async fill(c: Column, id: string): Promise<void> {
    const found = await this.o.suggest(c);
    const typed = (value: string): string => write(c, [{ column: c.path, op: 'eq', value }], this.cells.local);
    document.getElementById(id)?.replaceChildren(...found.map((f) => h('option', { value: typed(f.value), label: `${f.value} (${f.count})` })));
  }

  /** Makes conditions of what was typed, or keeps it as what cannot be read. */
  private typed(c: Column, value: string): void {
    const found = value.trim() === '' ? [] : read(c, value, this.cells.local);
    this.o.go(narrow(this.state, c.path, found ?? [], found === undefined ? value : undefined), true);
  }
}

/** Leads from link to link of a row by the arrow keys. */
function alongRow(event: KeyboardEvent): void {
  const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
  const links = event.target instanceof HTMLAnchorElement ? [...(event.target.closest('tr')?.querySelectorAll('a') ?? [])] : [];
  const next = step === 0 ? undefined : links[links.indexOf(event.target as HTMLAnchorElement) + step];
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
}

/** The columns of groups: what they are made by, how many rows they have, and the sums. */
function grouped(all: Column[], by: Column, words: Words): Column[] {
  const count: Column = { path: countName, label: words.text('explorer.rows'), kind: 'number', edm: 'Edm.Decimal', members: new Map(), adds: false, nullable: false };
  const sums = all.filter((c) => c.adds && c !== by && !c.path.includes('/'));
  return [by, count, ...sums.map((c) => ({ ...c, label: words.text('explorer.sumOf', c.label) }))];
}
