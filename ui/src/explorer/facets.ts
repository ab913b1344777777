// The values of columns beside the table, each with the number of its rows.

import fallback from '../../i18n/messagebundle.properties?facets';
import de from '../../i18n/messagebundle_de.properties?facets';
import en from '../../i18n/messagebundle_en.properties?facets';
import { h } from '../dom.ts';
import { Words } from '../i18n.ts';
import { target, valuesOf, writeState } from './address.ts';
import type { Cells } from './cells.ts';
import { equals } from './condition.ts';
import { countName } from './groups.ts';
import type { Column } from './model.ts';
import { ask, rowsOf, valueAt, type Row } from './service.ts';
import { change, narrow, narrowedTo, type State } from './state.ts';

export interface FacetOptions {
  columns: Column[];
  lang: string;
  cells: Cells;
  state(): State;
  go(to: State): void;
}

/** How many values a column shows. */
const most = 10;

/** A column with its values. */
interface Facet {
  column: Column;
  box: HTMLDetailsElement;
  list: HTMLElement;
  /** The query whose values are shown or awaited; empty for none. */
  asked: string;
  running: AbortController;
}

/** The columns whose values are few enough to choose from, by their kind. */
export const hasFacet = (c: Column): boolean => ['text', 'truth', 'choice', 'exact'].includes(c.kind) && !c.path.includes('/');

export class Facets {
  readonly element: HTMLElement;
  private readonly o: FacetOptions;
  private readonly words: Words;
  private readonly facets: Facet[];

  constructor(o: FacetOptions) {
    this.o = o;
    this.words = new Words({ '': fallback, en, de }, o.lang);
    this.facets = o.columns.filter(hasFacet).map((column) => {
      const list = h('ul', { 'aria-label': column.label });
      const facet: Facet = { column, list, box: h('details', { 'data-column': column.path, ontoggle: () => this.update() }, h('summary', {}, column.label), list), asked: '', running: new AbortController() };
      return facet;
    });
    this.element = h('aside', { class: 'facets', 'aria-label': this.words.text('facets.title') }, ...this.facets.map((f) => f.box));
  }

  /** Shows the values under the conditions that hold now, of the columns that are open. */
  update(): void {
    for (const facet of this.facets) void this.fill(facet);
  }

  /** Ends what is awaited. */
  end(): void {
    for (const { running } of this.facets) running.abort();
  }

  private async fill(f: Facet): Promise<void> {
    const state = this.o.state();
    const query = f.box.open ? target({ path: state.path, options: valuesOf(state, this.o.columns, f.column) }, ['$top', String(most + 1)]) : '';
    if (query === f.asked) {
      this.mark(f, state);
      return;
    }
    f.running.abort();
    f.running = new AbortController();
    f.asked = query;
    if (query === '') return;
    const { signal } = f.running;
    if (f.list.childElementCount === 0) f.list.append(h('li', { class: 'hint' }, this.words.text('facets.loading')));
    f.list.setAttribute('aria-busy', 'true');
    const answer = await ask(query, signal, this.words.lang);
    if (answer.kind === 'gone' || signal.aborted) return;
    f.list.removeAttribute('aria-busy');
    if (answer.kind !== 'ok') {
      f.asked = '';
      f.list.replaceChildren(h('li', {}, h('span', { class: 'hint' }, this.words.text('facets.failed')), h('button', { type: 'button', class: 'small', onclick: () => this.update() }, this.words.text('facets.again'))));
      return;
    }
    this.show(f, state, rowsOf(answer.data));
  }

  private show(f: Facet, state: State, rows: Row[]): void {
    const held = f.list.contains(document.activeElement) ? (document.activeElement as HTMLElement).dataset['value'] : undefined;
    const { column } = f;
    const labels = rows.map((row) => column.by !== undefined && valueAt(row, column.by));
    const items = rows.slice(0, most).map((row, i) => {
      const value = valueAt(row, column.path);
      const twice = labels.filter((l) => l === labels[i]).length > 1;
      const seen = value === null || value === undefined ? h('i', { class: 'null' }, this.words.text('facets.null')) : column.by === undefined ? this.o.cells.seen(column, value, row) : this.o.cells.label(valueAt(row, column.by), value, twice);
      const condition = equals(column, value);
      const count = this.o.cells.local.numberText(String(valueAt(row, countName)));
      const toggle = (event: Event): void => {
        const now = this.o.state();
        const pressed = (event.currentTarget as HTMLElement).getAttribute('aria-pressed') === 'true';
        this.o.go(narrow(now, column.path, pressed ? [] : [condition]));
      };
      return h('li', {}, h('button', { type: 'button', class: 'facet', 'data-value': `${condition.op} ${condition.value}`, onclick: toggle }, h('span', {}, seen), ' ', h('span', { class: 'null' }, count)));
    });
    if (rows.length > most) {
      const all = change(narrow(state, column.path, []), { group: column.path, sort: `${countName} desc` });
      items.push(h('li', {}, h('a', { href: writeState(all) }, this.words.text('facets.more'))));
    }
    f.list.replaceChildren(...(items.length > 0 ? items : [h('li', { class: 'hint' }, this.words.text('facets.none'))]));
    this.mark(f, state);
    if (held !== undefined) f.list.querySelector<HTMLElement>(`[data-value="${CSS.escape(held)}"]`)?.focus();
  }

  /** Marks the value that is the condition of its column. */
  private mark(f: Facet, state: State): void {
    for (const button of f.list.querySelectorAll<HTMLElement>('[data-value]')) {
      button.setAttribute('aria-pressed', String(narrowedTo(state, f.column.path) === button.dataset['value']));
    }
  }
}
