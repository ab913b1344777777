// The page: sets on one side, and on the other what the address names.

import { h } from '../dom.ts';
import type { Words } from '../i18n.ts';
import { strip } from '../strip.ts';
import { change, columnsOf, countName, narrowed, pageSize, queryOf, readState, resolve, target, totals, unknown, writeState, type Place, type Query, type State } from './address.ts';
import { Cells, keyOf } from './cells.ts';
import { filterOf } from './condition.ts';
import { Memory } from './memory.ts';
import type { Column, EntitySet } from './model.ts';
import { ask, root, rowsOf, valueAt, type Answer, type Row } from './service.ts';
import { share } from './share.ts';
import { faultOf, Table } from './table.ts';
import { write } from './typed.ts';
import { Waiting } from './wait.ts';

/** How many rows are counted before anybody asks for more. */
const counted = 10_000;

/** How long suggestions may take, in milliseconds: they are there at once or not at all. */
const patience = 200;

/** The parts of the page around a table. */
interface Tools {
  search: HTMLInputElement | undefined;
  group: HTMLSelectElement;
  sums: HTMLInputElement;
  faults: HTMLElement;
  below: HTMLElement;
  elsewhere: HTMLElement;
}

export class View {
  private readonly sets: Map<string, EntitySet>;
  private readonly words: Words;
  private readonly main: HTMLElement;
  private readonly nav: HTMLElement;
  private readonly status: HTMLElement;
  private readonly numbers: Intl.NumberFormat;
  private readonly cells: Cells;
  private readonly memory = new Memory();
  private readonly wait: Waiting;
  private running = new AbortController();
  private table: Table | undefined;
  private tools: Tools | undefined;
  private drawn: string | undefined;

  constructor(sets: Map<string, EntitySet>, words: Words, parts: { main: HTMLElement; nav: HTMLElement; status: HTMLElement }) {
    this.sets = sets;
    this.words = words;
    this.main = parts.main;
    this.nav = parts.nav;
    this.status = parts.status;
    this.numbers = new Intl.NumberFormat(words.lang);
    this.cells = new Cells(words);
    this.wait = new Waiting(words, (text) => this.say(text));
  }

  start(): void {
    this.memory.start();
    window.addEventListener('hashchange', () => void this.show(true));
    void this.show(true);
  }

  private state(): State {
    return readState(location.hash, this.sets);
  }

  private go(to: State, typing = false): void {
    if (typing) {
      history.replaceState(null, '', writeState(to));
      void this.show(false);
    } else {
      location.hash = writeState(to);
    }
  }

  /** Shows what the address names. moved tells that the person went there, so that the heading gets the focus on another place. */
  private async show(moved: boolean): Promise<void> {
    this.running.abort();
    this.running = new AbortController();
    this.wait.end();
    const { signal } = this.running;
    const state = this.state();
    const spot = this.memory.spot();
    this.memory.leave();
    // An older address is replaced by the conditions that it means.
    if (state.path !== '' && writeState(state) !== location.hash) history.replaceState(history.state, '', writeState(state));
    this.mark(state);
    const arrived = (): void => {
      if (signal.aborted) return;
      if (moved && spot === undefined && this.drawn !== undefined && this.drawn !== state.path) this.main.querySelector('h1')?.focus();
      this.drawn = state.path;
      if (moved) this.memory.arrive(spot);
      else this.memory.stay();
    };
    const place = resolve(state.path, this.sets);
    if (place !== undefined && !place.one) {
      await this.rows(state, place, signal, arrived);
      return;
    }
    if (place !== undefined) await this.row(state, place, signal);
    else if (state.path === '') this.overview();
    else this.replace('', null, this.words.text('explorer.nowhere'), strip('error', this.words.text('explorer.nowhereText', state.path)));
    arrived();
  }

  /** Says that something is awaited, until it is there or somebody stops it. */
  private waitFor(shown: () => void): void {
    this.wait.begin(() => {
      this.running.abort();
      this.wait.end();
      shown();
      this.memory.stay();
    });
  }

  /** The message after a stop. */
  private stopped(): HTMLElement {
    const again = h('button', { type: 'button', class: 'small', onclick: () => void this.show(false) }, this.words.text('explorer.again'));
    this.say(this.words.text('explorer.stopped'));
    queueMicrotask(() => again.focus());
    const box = strip('warning', this.words.text('explorer.stopped'));
    box.append(again);
    return box;
  }

  private mark(state: State): void {
    const current = state.path.split(/[(/]/)[0] ?? '';
    const items = [...this.sets.values()].map((s) =>
      h('li', {}, h('a', { href: `#/${s.name}`, 'aria-current': s.name === current ? 'page' : null }, s.label)),
    );
    this.nav.replaceChildren(h('ul', {}, ...items));
  }

  private replace(path: string, above: Node | null, title: string, ...body: (Node | null)[]): void {
    this.table = undefined;
    this.tools = undefined;
    const heading = h('h1', { tabindex: '-1', 'data-path': path }, title);
    document.title = [title, this.words.text('explorer.title')].join(' · ');
    this.main.replaceChildren(...[above, h('div', { class: 'top' }, heading, this.wait.element), ...body].filter((n): n is Node => n !== null));
  }

  private overview(): void {
    const items = [...this.sets.values()].map((s) =>
      h('li', {}, h('a', { href: `#/${s.name}` }, s.label), h('span', { class: 'hint' }, this.words.plural('explorer.columns', s.type.columns.length))),
    );
    this.replace('', null, this.words.text('explorer.title'), h('p', { class: 'intro' }, this.words.text('explorer.intro')), h('ul', { class: 'sets' }, ...items));
  }

  /** The way back to where a row or a list was found. */
  private above(place: Place): HTMLElement | null {
    if (place.above.length === 0) return null;
    const items = place.above.map((a) => h('li', {}, h('a', { href: `#/${a.path}` }, a.label)));
    return h('nav', { class: 'above', 'aria-label': this.words.text('explorer.above') }, h('ol', {}, ...items));
  }

  private async row(state: State, place: Place, signal: AbortSignal): Promise<void> {
    const query = queryOf(state, place, this.sets);
    this.waitFor(() => this.replace(state.path, this.above(place), place.label, this.stopped()));
    const answer = await ask(target(query), signal, this.words.lang);
    if (answer.kind === 'gone') return;
    this.wait.end();
    if (answer.kind !== 'ok') {
      this.replace(state.path, this.above(place), place.label, this.fault(answer));
      return;
    }
    const { data } = answer;
    const key = keyOf(place.type, data);
    const base = key === undefined ? undefined : place.set.name + key;
    const title = place.type.title === undefined ? undefined : valueAt(data, place.type.title);
    const list = columnsOf(place, this.sets).flatMap((c) => [h('dt', {}, c.label), h('dd', {}, this.cells.cell(place, this.sets, c, data, base))]);
    const links = place.type.links
      .filter((l) => l.set !== undefined && base !== undefined)
      .map((l) => h('li', {}, h('a', { href: `#/${base ?? ''}/${l.name}` }, l.label)));
    const related = links.length === 0 ? null : h('section', {}, h('h2', {}, this.words.text('explorer.related')), h('ul', { class: 'sets' }, ...links));
    const elsewhere = share(this.absolute(query), undefined, this.words, (t) => this.say(t));
    this.replace(state.path, this.above(place), typeof title === 'string' && title.trim() !== '' ? title : place.label, h('dl', {}, ...list), related, elsewhere);
  }

  private async rows(state: State, place: Place, signal: AbortSignal, arrived: () => void): Promise<void> {
    const table = this.prepare(state, place);
    const columns = columnsOf(place, this.sets);
    const tools = this.tools;
    if (tools === undefined) return;
    const nothing = (text: string, ...faults: Node[]): void => {
      table.show([], text);
      table.total(undefined);
      tools.faults.replaceChildren(...faults);
      tools.below.replaceChildren();
      arrived();
    };
    const unread = this.unread(state, columns);
    if (unread.length > 0 || state.unread.length > 0) {
      tools.elsewhere.replaceChildren();
      nothing(this.words.text('explorer.notAsked'), ...unread);
      this.say(state.unread.map((u) => this.unreadText(u.column, columns)).join(' '));
      return;
    }
    tools.faults.replaceChildren(...this.active(state, columns));
    const query = queryOf(state, place, this.sets);
    table.busy();
    this.waitFor(() => nothing('', this.stopped()));
    const skip: [string, string][] = state.skip > 0 ? [['$skip', String(state.skip)]] : [];
    const answer = await ask(target(query, ...skip), signal, this.words.lang, pageSize);
    if (answer.kind === 'gone') return;
    this.wait.end();
    // Below the rows, which would push it down.
    tools.elsewhere.replaceChildren(this.share(query, signal));
    if (answer.kind !== 'ok') {
      nothing('', this.fault(answer));
      return;
    }
    const rows = rowsOf(answer.data);
    table.show(rows, this.words.text('explorer.none'));
    arrived();
    this.waitFor(() => tools.faults.append(this.stopped()));
    await Promise.all([this.below(state, place, rows.length, answer.data['@odata.nextLink'] !== undefined, signal), this.sums(state, place, table, signal)]);
    if (!signal.aborted) this.wait.end();
  }

  /** What the address says and no field above the table shows. */
  private unread(state: State, columns: Column[]): HTMLElement[] {
    const missing = unknown(state, columns);
    const strips = missing.map((path) => strip('warning', this.words.text('explorer.unknown', path)));
    const others = state.unread.filter(({ column }) => !missing.includes(column) && this.table?.hasField(column) !== true);
    strips.push(...others.map(({ column, text }) => strip('warning', `${this.unreadText(column, columns)} (${text})`)));
    const rest = { ...state, unread: state.unread.filter(({ column }) => this.table?.hasField(column) === true) };
    const known = (path: string): string => (missing.includes(path.split(' ')[0] ?? '') ? '' : path);
    const without = change(rest, { group: known(state.group), sort: known(state.sort) });
    strips.at(-1)?.append(h('a', { class: 'button', href: writeState(without) }, this.words.text('explorer.without')));
    return strips;
  }

  private unreadText(path: string, columns: Column[]): string {
    const column = columns.find((c) => c.path === path);
    return column === undefined ? this.words.text('explorer.unknown', path) : `${column.label}: ${faultOf(column, this.words)}`;
  }

  /** The conditions that hold where no field shows them: above groups. */
  private active(state: State, columns: Column[]): HTMLElement[] {
    const texts = columns.flatMap((c) => {
      const text = this.table?.hasField(c.path) === true ? '' : write(c, state.conditions.filter((condition) => condition.column === c.path), this.cells.local);
      return text === '' ? [] : `${c.label} ${text}`;
    });
    return texts.length === 0 ? [] : [h('p', { class: 'hint' }, this.words.text('explorer.active', texts.join(' · ')))];
  }

  /** The query for other programs, and the file of all its rows. */
  private share(query: Query, signal: AbortSignal): HTMLElement {
    const csv: Query = { path: query.path, options: query.options.filter(([name]) => name !== '$expand') };
    const counted: Query = { path: query.path, options: csv.options.filter(([name]) => name !== '$orderby') };
    const count = async (): Promise<number | undefined> => {
      const answer = await ask(target(counted, ['$count', 'true'], ['$top', '0']), signal, this.words.lang);
      const n = answer.kind === 'ok' ? Number(answer.data['@odata.count']) : NaN;
      return Number.isFinite(n) ? n : undefined;
    };
    return share(this.absolute(query), { url: root + target(csv, ['$format', 'csv']), count }, this.words, (t) => this.say(t));
  }

  /** The table and the tools of a place, made anew only where another place is shown: what is being typed stays. */
  private prepare(state: State, place: Place): Table {
    if (this.table?.fits(place, state) !== true || this.tools === undefined) {
      this.table = undefined;
      const table = new Table({ place, sets: this.sets, words: this.words, go: (to, typing) => this.go(to, typing), suggest: (c) => this.suggest(place, c) }, state);
      const { ways, group, sums } = this.ways(state, place);
      const tools = { search: this.search(place), group, sums, below: h('div', { class: 'below' }), elsewhere: h('div', {}), faults: h('div', {}) };
      const bar = h('div', { class: 'tools' }, tools.search, ...ways, this.help());
      this.replace(state.path, this.above(place), place.label, bar, tools.faults, table.element, tools.below, tools.elsewhere);
      this.table = table;
      this.tools = tools;
    }
    const { search, group, sums } = this.tools;
    this.table.update(state);
    if (search !== undefined && search !== document.activeElement) search.value = state.search;
    group.value = state.group;
    sums.checked = state.sums;
    return this.table;
  }

  /** How to narrow down, for those who wonder. */
  private help(): HTMLElement {
    const keys = ['explorer.help.text', 'explorer.help.number', 'explorer.help.day', 'explorer.help.key'];
    const lines = keys.map((key) => h('li', {}, this.words.text(key)));
    return h('details', { class: 'help' }, h('summary', {}, this.words.text('explorer.help')), h('ul', {}, ...lines));
  }

  private search(place: Place): HTMLInputElement | undefined {
    if (!place.set.searchable) return undefined;
    const label = this.words.text('explorer.search');
    let timer = 0;
    const input: HTMLInputElement = h('input', {
      type: 'search', placeholder: label, 'aria-label': label,
      oninput: () => {
        clearTimeout(timer);
        timer = window.setTimeout(() => this.go(change(this.state(), { search: input.value.trim() }), true), 300);
      },
    });
    return input;
  }

  /** The choices of another way to look: by the values of a column, or with sums. */
  private ways(state: State, place: Place): { ways: (Node | null)[]; group: HTMLSelectElement; sums: HTMLInputElement } {
    const columns = columnsOf(place, this.sets);
    const able = columns.filter((c) => c.kind !== 'none' && c.kind !== 'instant' && !c.path.includes('/') && !place.type.key.includes(c.path));
    const options = [['', this.words.text('explorer.rowByRow')], ...able.map((c) => [c.path, this.words.text('explorer.by', c.label)])];
    const group: HTMLSelectElement = h(
      'select',
      { 'aria-label': this.words.text('explorer.group'), onchange: () => this.go(change(this.state(), { group: group.value, sort: group.value === '' ? '' : `${countName} desc`, sums: false })) },
      ...options.map(([value, label]) => h('option', { value }, label)),
    );
    const adds = place.set.sums && state.group === '' && columns.some((c) => c.adds && !c.path.includes('/'));
    const sums: HTMLInputElement = h('input', { type: 'checkbox', onchange: () => this.go(change(this.state(), { sums: sums.checked })) });
    const all: HTMLInputElement = h('input', { type: 'checkbox', checked: state.all, onchange: () => this.go(change(this.state(), { all: all.checked })) });
    const label = (box: Node, key: string): Node => h('label', { class: 'check' }, box, this.words.text(key));
    const listed = state.group === '' && place.type.list.length > 0;
    return { group, sums, ways: [place.set.sums ? group : null, adds ? label(sums, 'explorer.sums') : null, listed ? label(all, 'explorer.allColumns') : null] };
  }

  /** Values that are often in a column, with how often. What does not come at once is not waited for. */
  private async suggest(place: Place, c: Column): Promise<{ value: string; count: string }[]> {
    const state = this.state();
    const filter = filterOf(state.conditions.filter(({ column }) => column !== c.path), columnsOf(place, this.sets));
    const apply = `${narrowed(state, filter)}groupby((${c.by ?? c.path}),aggregate($count as ${countName}))`;
    const query: Query = { path: state.path, options: [['$apply', apply], ['$orderby', `${countName} desc`], ['$top', '8']] };
    const answer = await ask(target(query), AbortSignal.timeout(patience), this.words.lang);
    if (answer.kind !== 'ok') return [];
    return rowsOf(answer.data).flatMap((row: Row) => {
      const value = valueAt(row, c.by ?? c.path);
      return typeof value === 'string' && value !== '' ? [{ value, count: this.count(valueAt(row, countName)) }] : [];
    });
  }

  private count(n: unknown): string {
    const value = Number(n);
    return Number.isFinite(value) ? this.numbers.format(value) : String(n);
  }

  /** Which rows these are, of how many, and the ways to the pages before and behind. */
  private async below(state: State, place: Place, here: number, more: boolean, signal: AbortSignal): Promise<void> {
    const below = this.tools?.below;
    if (below === undefined) return;
    const from = this.numbers.format(here === 0 ? 0 : state.skip + 1);
    const to = this.numbers.format(state.skip + here);
    const range = h('span', {}, this.words.text('explorer.range', from, to));
    const total = h('span', {});
    const page = (skip: number, key: string): HTMLElement => h('a', { class: 'button', href: writeState({ ...state, skip }) }, this.words.text(key));
    below.replaceChildren(
      h('p', { class: 'hint' }, range, ' ', total),
      h('nav', { 'aria-label': this.words.text('explorer.pages') }, ...(state.skip > 0 ? [page(Math.max(0, state.skip - pageSize), 'explorer.previous')] : []), ...(more ? [page(state.skip + pageSize, 'explorer.next')] : [])),
    );
    if (!more && (here > 0 || state.skip === 0)) {
      total.textContent = this.words.text('explorer.of', this.numbers.format(state.skip + here));
    } else if (state.group === '') {
      await this.countInto(total, state, place, signal);
    }
    if (!signal.aborted) this.say([range.textContent, total.firstChild?.textContent].join(' '));
  }

  /** Counts to a bound, and further when somebody asks. */
  private async countInto(total: HTMLElement, state: State, place: Place, signal: AbortSignal): Promise<void> {
    const options = queryOf(state, place, this.sets).options.filter(([name]) => name === '$filter' || name === '$search');
    const beyond = await ask(target({ path: state.path, options }, ['$select', place.type.key.join(',')], ['$skip', String(counted)], ['$top', '1']), signal, this.words.lang);
    if (beyond.kind !== 'ok') return;
    const all = async (): Promise<void> => {
      const answer = await ask(target({ path: `${state.path}/$count`, options }), signal, this.words.lang);
      if (answer.kind === 'ok') total.replaceChildren(this.words.text('explorer.of', this.count(answer.data['value'])));
    };
    if (rowsOf(beyond.data).length === 0) {
      await all();
      return;
    }
    const later = async (): Promise<void> => {
      this.waitFor(() => this.tools?.faults.append(this.stopped()));
      await all();
      if (!signal.aborted) this.wait.end();
    };
    const button = h('button', { type: 'button', class: 'small', onclick: () => void later() }, this.words.text('explorer.countAll'));
    total.replaceChildren(`${this.words.text('explorer.of', this.numbers.format(counted))}+ `, button);
  }

  private async sums(state: State, place: Place, table: Table, signal: AbortSignal): Promise<void> {
    if (!state.sums || !place.set.sums || state.group !== '') {
      table.total(undefined);
      return;
    }
    const columns = columnsOf(place, this.sets);
    const filter = filterOf(state.conditions, columns);
    const answer = await ask(target({ path: state.path, options: [['$apply', totals(state, columns, filter)]] }), signal, this.words.lang);
    if (answer.kind === 'ok') table.total(rowsOf(answer.data)[0] ?? {});
    else if (answer.kind !== 'gone') this.tools?.faults.append(this.fault(answer));
  }

  private absolute(q: Query): string {
    return location.origin + root + target(q);
  }

  /** What went wrong, and what to do about it. */
  private fault(answer: Exclude<Answer, { kind: 'ok' }>): HTMLElement {
    if (answer.kind !== 'refused') return strip('error', this.words.text('common.unreachable'));
    if (answer.status === 401 || answer.code === 'unsettled') {
      const again = `/login?redirect=${encodeURIComponent(root)}${location.hash}`;
      const box = strip('warning', this.words.text(answer.status === 401 ? 'explorer.signedOut' : 'explorer.unsettled'));
      box.append(h('a', { class: 'button', href: again }, this.words.text('explorer.signIn')));
      return box;
    }
    if (answer.status === 403) return strip('error', this.words.text('explorer.forbidden'));
    if (answer.status === 429 || answer.status === 503) return strip('warning', this.words.text('common.busy'));
    return strip('error', [this.words.text('explorer.refused'), answer.text, this.words.text('common.reference', answer.reference)].join(' '));
  }

  private say(text: string): void {
    this.status.textContent = text;
  }
}
