// The table of rows: a heading for each column that sorts, a field that narrows down, and rows that are replaced below them.

import { h, setAttribute, type Child } from '../dom.ts';
import type { Words } from '../i18n.ts';
import { columnsOf, shownOf, writeState, type Place } from './address.ts';
import { Cells, keyOf, mainOf } from './cells.ts';
import { countName, groupsOf, partText, partWords, rowsOfGroup, totalled, totalWords, type Group } from './groups.ts';
import type { Column, EntitySet } from './model.ts';
import { valueAt, type Row } from './service.ts';
import { change, narrow, type State } from './state.ts';
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
    const by = groupsOf(state, this.all);
    return by.length === 0 ? shownOf(state, this.o.place.type, this.all) : grouped(this.all, by, state.total || 'sum', this.o.words);
  }

  /** Whether the table has the columns of a state. */
  fits(place: Place, state: State): boolean {
    const same = place.type === this.o.place.type && place.label === this.o.place.label && state.group === this.state.group && (state.group === '' || state.total === this.state.total) && state.path === this.state.path;
    const paths = this.columns.map((c) => c.path);
    return same && state.columns.join() === this.state.columns.join() && (state.group !== '' || this.shown(state).every((c) => paths.includes(c.path)));
  }

  /** Whether a column has a field above it. */
  hasField(path: string): boolean {
    return this.inputs.has(path);
  }

  /** Shows a state; moved tells that fields with the focus show it, too. */
  update(state: State, moved: boolean): void {
    this.state = state;
    const held = [...this.head.children].findIndex((th) => th.contains(document.activeElement)); // who sorts by keyboard stays there
    this.head.replaceChildren(...this.columns.map((c) => this.heading(c)));
    this.head.children[held]?.querySelector('button')?.focus();
    for (const c of this.columns) this.fillIn(c, moved);
  }

  /** Shows the conditions of a column in its field, or what was typed and why it is none. */
  private fillIn(c: Column, also: boolean): void {
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
    const by = groupsOf(this.state, this.all);
    const cell = (c: Column, i: number, row: Row): Child => {
      const group = by[i];
      if (group === undefined) return this.cell(c, row);
      const inside = this.group(group, row, rows);
      return i > 0 ? inside : h('a', { href: writeState(rowsOfGroup(this.state, by, row)) }, inside);
    };
    const head = by.length > 0 ? this.columns[0] : this.main;
    this.body.replaceChildren(...rows.map((row) => h('tr', {}, ...this.columns.map((c, i) => h(c === head ? 'th' : 'td', { scope: c === head ? 'row' : null, class: c.kind === 'number' ? 'number' : null }, cell(c, i, row))))));
    if (rows.length === 0 && none !== '') this.body.append(h('tr', {}, h('td', { colspan: this.columns.length, class: 'none' }, h('span', {}, none))));
    setAttribute(this.element, 'aria-busy', null);
  }

  private cell(c: Column, row: Row): Child {
    const { place, sets } = this.o;
    const key = this.state.group === '' ? keyOf(place.type, row) : undefined;
    const cell = this.cells.cell(place, sets, c, row, key === undefined ? undefined : place.set.name + key, this.main);
    // The text of annotations precedes the value if no column shows it.
    const text = c.text === undefined || c.by !== undefined || this.columns.some((other) => other.path === c.text) ? undefined : valueAt(row, c.text);
    return typeof text === 'string' && text !== '' ? h('span', {}, text, ' ', h('span', { class: 'null' }, cell)) : cell;
  }

  /** The value of a group; of keys with the same label the keys differ. */
  private group(g: Group, row: Row, rows: Row[]): Node | string {
    const { column } = g;
    const value = g.part === '' ? valueAt(row, column.path) : partText(g, row);
    if (value === null || value === undefined) return h('i', { class: 'null' }, this.o.words.text('explorer.null'));
    if (g.part !== '') return this.cells.local.partText(String(value));
    if (column.by === undefined) return this.cells.seen(column, value, row);
    const label = valueAt(row, column.by);
    return this.cells.label(label, value, rows.some((other) => valueAt(other, column.by ?? '') === label && valueAt(other, column.path) !== value));
  }

  /** What a chart shows of groups: their names, and one of their columns. */
  bars(rows: Row[], path: string): { name: string; text: string; value: number | undefined }[] {
    const by = groupsOf(this.state, this.all);
    const c = this.columns.find((other) => other.path === path);
    return rows.map((row) => {
      const value = c === undefined ? undefined : valueAt(row, c.path);
      const name = by.map((g) => plainText(this.group(g, row, rows))).join(' · ');
      return { name, text: c === undefined ? '' : this.cells.text(c, value, row), value: value === null || value === undefined ? undefined : Number(value) };
    });
  }

  /** The columns that a chart can show. */
  charted(): Column[] {
    return this.columns.slice(groupsOf(this.state, this.all).length).filter((c) => c.kind === 'number');
  }

  /** The totals below the rows; undefined takes them away. */
  total(row: Row | undefined): void {
    if (row === undefined) {
      this.foot.replaceChildren();
      return;
    }
    const { total } = this.state;
    const columns = totalled(this.all, total, []);
    const name = this.o.words.text(totalWords[total] ?? '');
    const cells = this.columns.map((c, i) => {
      const text = columns.includes(c) ? this.cells.text(c, valueAt(row, c.path)) : '';
      return i === 0 ? h('th', { scope: 'row' }, [name, text].join(' ').trim()) : h('td', { class: c.kind === 'number' ? 'number' : null }, text);
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
      if (pending && input.isConnected) this.typed(c, input.value);
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

/** The columns of groups: what they are made by, how many rows they have, and the totals. */
function grouped(all: Column[], by: Group[], total: string, words: Words): Column[] {
  const count: Column = { path: countName, label: words.text('explorer.rows'), kind: 'number', edm: 'Edm.Decimal', members: new Map(), adds: false, nullable: false };
  const first = by.map(({ column, part, name }): Column => {
    if (part === '') return column;
    return { ...count, path: name, kind: 'exact', label: partLabel(column, part, words) };
  });
  const named = words.text(totalWords[total] ?? '');
  return [...first, count, ...totalled(all, total, by).map((c) => ({ ...c, label: `${c.label} (${named})` }))];
}

/** What the years or months of a column are called. Those of instants are parts of UTC. */
export function partLabel(c: Column, part: string, words: Words): string {
  return `${c.label} (${words.text(partWords[part] ?? '')}${c.kind === 'instant' ? ', UTC' : ''})`;
}

const plainText = (n: Node | string): string => (typeof n === 'string' ? n : n.textContent ?? '');
