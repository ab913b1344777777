// The page: sets on one side, and on the other what the address names.

import { h } from '../dom.ts';
import type { Words } from '../i18n.ts';
import { strip } from '../strip.ts';
import { columnsOf, queryOf, readState, resolve, shownOf, target, unknown, valuesOf, writeState, type Place, type Query } from './address.ts';
import { help, searchField } from './bar.ts';
import { Cells, keyOf } from './cells.ts';
import { chips } from './chips.ts';
import type { Counted } from './counts.ts';
import { filterOf } from './condition.ts';
import type { Download } from './export.ts';
import type { Facets } from './facets.ts';
import type { Act } from './form.ts';
import { countName, totalled, totals } from './groups.ts';
import { Memory } from './memory.ts';
import type { Column, EntitySet } from './model.ts';
import { part, type Parts } from './parts.ts';
import { refusal } from './refusal.ts';
import { ask, root, rowsOf, valueAt, type Row } from './service.ts';
import { change, pageSizes, type State } from './state.ts';
import { faultOf, Table } from './table.ts';
import { ways, type Ways } from './ways.ts';
import { once, Waiting } from './wait.ts';

/** What the service says of each change, and the words of its button. */
const acts: { [act in Act]: [string, string, string] } = {
  create: ['Insert', 'Insertable', 'explorer.create'],
  update: ['Update', 'Updatable', 'explorer.change'],
  delete: ['Delete', 'Deletable', 'explorer.delete'],
};

/** How many rows are counted before anybody asks for more. */
const bound = 10_000;

/** How long suggestions may take, in milliseconds: they are there at once or not at all. */
const patience = 200;

/** The parts of the page around a table. */
interface Tools {
  search: HTMLInputElement | undefined;
  ways: Ways;
  chart: HTMLElement;
  chips: HTMLElement;
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
  private facets: Facets | undefined;
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
      await this.rows(state, place, moved, signal, arrived);
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
    this.facets?.end();
    this.facets = undefined;
    const heading = h('h1', { tabindex: '-1', 'data-path': path }, title);
    document.title = [title, this.words.text('explorer.title')].join(' · ');
    this.main.replaceChildren(...[above, h('div', { class: 'top' }, heading, this.wait.element), ...body].filter((n): n is Node => n !== null));
    this.say(this.main.querySelector<HTMLElement>('.strip')?.innerText ?? '');
  }

  private overview(): void {
    const places: Counted[] = [];
    const items = [...this.sets.values()].map((s) => {
      const into = h('span', { class: 'hint' });
      if (!s.single) places.push({ path: s.name, label: s.label, into });
      return h('li', {}, h('a', { href: `#/${s.name}` }, s.label), h('span', { class: 'hint' }, this.words.plural('explorer.columns', s.type.columns.length)), into);
    });
    this.replace('', null, this.words.text('explorer.title'), h('p', { class: 'intro' }, this.words.text('explorer.intro')), h('ul', { class: 'sets' }, ...items));
    void this.count(places);
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
      this.replace(state.path, this.above(place), place.label, refusal(answer, this.words));
      return;
    }
    const { data } = answer;
    const key = keyOf(place.type, data);
    const base = key === undefined ? undefined : place.set.name + key;
    const title = place.type.title === undefined ? undefined : valueAt(data, place.type.title);
    const list = columnsOf(place, this.sets).flatMap((c) => [h('dt', {}, c.label), h('dd', {}, this.cells.cell(place, this.sets, c, data, base))]);
    const places: Counted[] = [];
    const links = place.type.links
      .filter((l) => l.set !== undefined && base !== undefined)
      .map((l) => {
        const path = `${base ?? ''}/${l.name}`;
        const into = h('span', { class: 'hint' });
        if (l.many) places.push({ path, label: l.label, into });
        return h('li', {}, h('a', { href: `#/${path}` }, l.label), l.many && into);
      });
    const related = links.length === 0 ? null : h('section', {}, h('h2', {}, this.words.text('explorer.related')), h('ul', { class: 'sets' }, ...links));
    const elsewhere = this.share(query);
    this.replace(state.path, this.above(place), typeof title === 'string' && title.trim() !== '' ? title : place.label, h('div', { class: 'tools' }, ...(base === undefined ? [] : [...this.writing(place, 'update', base), ...this.writing(place, 'delete', base)])), h('dl', {}, ...list), related, elsewhere);
    void this.count(places);
  }

  private async rows(state: State, place: Place, moved: boolean, signal: AbortSignal, arrived: () => void): Promise<void> {
    const table = this.prepare(state, place, moved);
    const columns = columnsOf(place, this.sets);
    const tools = this.tools;
    if (tools === undefined) return;
    const nothing = (text: string, ...faults: Node[]): void => {
      table.show([], text);
      table.total(undefined);
      tools.faults.replaceChildren(...faults);
      tools.below.replaceChildren();
      tools.chart.replaceChildren();
      this.say(tools.faults.innerText || text);
      arrived();
    };
    this.chips(tools.chips, state, columns);
    this.facets?.update();
    const unread = this.unread(state, columns);
    if (unread.length > 0 || state.unread.length > 0) {
      tools.elsewhere.replaceChildren();
      nothing(this.words.text('explorer.notAsked'), ...unread);
      if (state.unread.length > 0) this.say(state.unread.map((u) => this.unreadText(u.column, columns)).join(' '));
      for (const message of ['.wrong:not(:empty)', '.strip']) this.main.querySelector(message)?.scrollIntoView({ block: 'nearest' });
      return;
    }
    tools.faults.replaceChildren();
    const query = queryOf(state, place, this.sets);
    table.busy();
    this.waitFor(() => nothing('', this.stopped()));
    const skip: [string, string][] = state.skip > 0 ? [['$skip', String(state.skip)]] : [];
    const answer = await ask(target(query, ...skip), signal, this.words.lang, state.size);
    if (answer.kind === 'gone') return;
    this.wait.end();
    // Below the rows, which would push it down.
    tools.elsewhere.replaceChildren(this.share(query, this.file(query, signal)));
    if (answer.kind !== 'ok') {
      nothing('', refusal(answer, this.words));
      return;
    }
    const rows = rowsOf(answer.data);
    table.show(rows, this.words.text('explorer.none'));
    const more = answer.data['@odata.nextLink'] !== undefined;
    void this.chart(state, table, rows, more || state.skip > 0);
    arrived();
    this.waitFor(() => tools.faults.append(this.stopped()));
    await Promise.all([this.below(state, place, rows.length, more, signal), this.totals(state, place, table, signal)]);
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
    const groups = state.group.split(',').map(known).filter((name) => name !== '').join(',');
    const without = change(rest, { group: groups, sort: known(state.sort), chart: known(state.chart), columns: state.columns.filter((path) => known(path) !== '') });
    strips.at(-1)?.append(h('a', { class: 'button', href: writeState(without) }, this.words.text('explorer.without')));
    return strips;
  }

  private unreadText(path: string, columns: Column[]): string {
    const column = columns.find((c) => c.path === path);
    return column === undefined ? this.words.text('explorer.unknown', path) : `${column.label}: ${faultOf(column, this.words)}`;
  }

  /** Shows the conditions. Who takes one away by keyboard goes on with the next one. */
  private chips(box: HTMLElement, state: State, columns: Column[]): void {
    const held = box.contains(document.activeElement);
    const list = chips(state, columns, this.cells, this.words, (to) => this.go(to));
    box.replaceChildren(...(list === undefined ? [] : [list]));
    if (held) (box.querySelector('button') ?? this.table?.element)?.focus();
  }

  /** The way to the query for other programs, and to the file of all its rows. */
  private share(query: Query, file?: Download): HTMLElement {
    const show = once(async () => (await this.load('export'))?.show(this.absolute(query), file, this.words.lang));
    return h('p', { class: 'elsewhere' }, h('button', { type: 'button', onclick: show }, this.words.text('explorer.elsewhere')));
  }

  private file(query: Query, signal: AbortSignal): Download {
    const csv: Query = { path: query.path, options: query.options.filter(([name]) => name !== '$expand') };
    const counted: Query = { path: query.path, options: csv.options.filter(([name]) => name !== '$orderby') };
    const count = async (): Promise<number | undefined> => {
      const answer = await ask(target(counted, ['$count', 'true'], ['$top', '0']), signal, this.words.lang);
      const n = answer.kind === 'ok' ? Number(answer.data['@odata.count']) : NaN;
      return Number.isFinite(n) ? n : undefined;
    };
    return { url: root + target(csv, ['$format', 'csv']), count };
  }

  /** The table and the tools of a place, made anew only where another place is shown: what is being typed stays, unless the person moved to another state. */
  private prepare(state: State, place: Place, moved: boolean): Table {
    if (this.table?.fits(place, state) !== true || this.tools === undefined) {
      const named = (el: Element | null): string => el?.getAttribute('aria-label') ?? el?.textContent ?? '';
      const held = document.activeElement?.closest('.tools') ? named(document.activeElement) : undefined;
      this.table = undefined;
      const table = new Table({ place, sets: this.sets, words: this.words, go: (to, typing) => this.go(to, typing), suggest: (c) => this.suggest(place, c) }, state);
      const tools = { search: place.set.searchable ? searchField(this.words, (search) => this.go(change(this.state(), { search }), true)) : undefined, ways: this.ways(state, place, table), chart: h('div', {}), below: h('div', { class: 'below' }), elsewhere: h('div', {}), chips: h('div', {}), faults: h('div', {}) };
      const bar = h('div', { class: 'tools' }, tools.search, ...tools.ways.elements, ...this.openers(state, place), help(this.words, () => this.load('help')));
      this.replace(state.path, this.above(place), place.label, bar, tools.chips, tools.faults, tools.chart, h('div', { class: 'split' }, h('div', {}, table.element, tools.below, tools.elsewhere)));
      this.table = table;
      this.tools = tools;
      if (held !== undefined) [...bar.querySelectorAll<HTMLElement>('input, select, button')].find((el) => named(el) === held)?.focus();
    }
    const { search } = this.tools;
    this.table.update(state, moved);
    if (search !== undefined && (moved || search !== document.activeElement)) search.value = state.search;
    this.tools.ways.update(state);
    return this.table;
  }

  /** The choices of another way to look: by the values of columns, with totals, as a chart. */
  private ways(state: State, place: Place, table: Table): Ways {
    const columns = columnsOf(place, this.sets);
    return ways(state, place, columns, table.charted(), this.words, (to) => this.go(change(this.state(), to)));
  }

  /** The buttons for changes that the service takes. */
  private writing(place: Place, act: Act, path: string): HTMLElement[] {
    const [term, allowed, words] = acts[act];
    if ((place.set.notes[`@Capabilities.${term}Restrictions`] as { [name: string]: unknown } | undefined)?.[allowed] !== true) return [];
    const done = (to?: string): void => {
      if (act === 'update') void this.show(false);
      else location.hash = `#/${to ?? place.above.at(-1)?.path ?? place.set.name}`;
    };
    const open = once(async () => (await this.load('form'))?.open({ act, place, sets: this.sets, columns: columnsOf(place, this.sets), path, lang: this.words.lang, cells: this.cells, done }));
    return [h('button', { type: 'button', onclick: open }, this.words.text(words))];
  }

  /** The buttons for what is loaded when somebody uses it. */
  private openers(state: State, place: Place): HTMLElement[] {
    if (state.group !== '') return [];
    const columns = columnsOf(place, this.sets);
    const create = this.writing(place, 'create', state.path);
    const choose = h('button', { type: 'button', onclick: once(() => this.choose(place, columns)) }, this.words.text('explorer.chooseColumns'));
    const values: HTMLElement = h('button', { type: 'button', 'aria-expanded': 'false', onclick: once(() => this.beside(values, columns)) }, this.words.text('explorer.facets'));
    return place.set.sums ? [choose, values, ...create] : [choose, ...create];
  }

  /** Lets somebody choose the columns of the table. */
  private async choose(place: Place, columns: Column[]): Promise<void> {
    const module = await this.load('columns');
    const state = this.state();
    module?.choose(columns, shownOf(state, place.type, columns), this.words.lang, (paths) => this.go({ ...state, columns: paths }));
  }

  /** Shows the values of columns beside the table, or takes them away. */
  private async beside(button: HTMLElement, columns: Column[]): Promise<void> {
    const table = this.table;
    const module = await this.load('facets');
    if (module === undefined || table === undefined || table !== this.table) return;
    const split = table.element.parentElement?.parentElement;
    if (this.facets === undefined) {
      this.facets = new module.Facets({ columns, lang: this.words.lang, cells: this.cells, state: () => this.state(), go: (to) => this.go(to) });
      split?.prepend(this.facets.element);
    } else {
      this.facets.end();
      this.facets.element.remove();
      this.facets = undefined;
    }
    button.setAttribute('aria-expanded', String(this.facets !== undefined));
  }

  /** Loads what is only needed now; undefined where the host cannot be reached, which the page then says. */
  private async load<P extends keyof Parts>(name: P): Promise<Parts[P] | undefined> {
    try {
      return await part(name);
    } catch {
      this.tools?.faults.replaceChildren(strip('error', this.words.text('common.unreachable')));
      return undefined;
    }
  }

  /** Counts the rows behind links. */
  private async count(places: Counted[]): Promise<void> {
    const { signal } = this.running;
    const module = await this.load('counts');
    if (!signal.aborted) module?.counts(places, this.words.lang, signal, this.wait);
  }

  /** Values that are often in a column, with how often. What does not come at once is not waited for. */
  private async suggest(place: Place, c: Column): Promise<{ value: string; count: string }[]> {
    const state = this.state();
    const query: Query = { path: state.path, options: [...valuesOf(state, columnsOf(place, this.sets), c, c.by ?? c.path), ['$top', '8']] };
    const answer = await ask(target(query), AbortSignal.timeout(patience), this.words.lang);
    if (answer.kind !== 'ok') return [];
    return rowsOf(answer.data).flatMap((row: Row) => {
      const value = valueAt(row, c.by ?? c.path);
      return typeof value === 'string' && value !== '' ? [{ value, count: this.numberText(valueAt(row, countName)) }] : [];
    });
  }

  private numberText(n: unknown): string {
    const value = Number(n);
    return Number.isFinite(value) ? this.numbers.format(value) : String(n);
  }

  /** Which rows these are, of how many, and the ways to the pages before and behind. */
  private async below(state: State, place: Place, here: number, more: boolean, signal: AbortSignal): Promise<void> {
    const below = this.tools?.below;
    if (below === undefined) return;
    const at = (n: number): string => this.numbers.format(here === 0 ? 0 : state.skip + n);
    const range = h('span', {}, this.words.text('explorer.range', at(1), at(here)));
    const total = h('span', {});
    const page = (skip: number, key: string): HTMLElement => h('a', { class: 'button', href: writeState({ ...state, skip }) }, this.words.text(key));
    const size = more ? here : state.size; // the host may have pages of its own size
    const pages = h('nav', { 'aria-label': this.words.text('explorer.pages') });
    if (state.skip > size) pages.append(page(0, 'explorer.first'));
    if (state.skip > 0) pages.append(page(Math.max(0, state.skip - size), 'explorer.previous'));
    if (more) pages.append(page(state.skip + size, 'explorer.next'));
    const counted = (n: number): void => {
      total.replaceChildren(this.words.text('explorer.of', this.numberText(n)));
      const last = Math.floor((n - 1) / size) * size;
      if (more && last > state.skip + size) pages.append(page(last, 'explorer.last'));
    };
    const held = below.contains(document.activeElement) ? document.activeElement?.textContent : undefined;
    below.replaceChildren(h('p', { class: 'hint' }, range, ' ', total), ...(more || state.skip > 0 || here > (pageSizes[0] ?? 0) ? [this.sizes(state)] : []), pages);
    if (held) ([...pages.children].find((a) => a.textContent === held) as HTMLElement | undefined ?? this.table?.element)?.focus();
    if (!more && (here > 0 || state.skip === 0)) counted(state.skip + here);
    else if (state.group === '') await this.countInto(total, counted, state, place, signal);
    if (!signal.aborted) this.say([range.textContent, total.firstChild?.textContent].join(' '));
  }

  /** The choice of how many rows a page has. The first row stays on it. */
  private sizes(state: State): HTMLElement {
    const select: HTMLSelectElement = h('select', { 'aria-label': this.words.text('explorer.pageSize'), onchange: () => {
      const size = Number(select.value);
      this.go({ ...state, size, skip: Math.floor(state.skip / size) * size });
    } }, ...pageSizes.map((n) => h('option', { value: n, selected: n === state.size }, this.words.text('explorer.perPage', n))));
    return select;
  }

  /** Counts to a bound, and further when somebody asks. */
  private async countInto(total: HTMLElement, counted: (n: number) => void, state: State, place: Place, signal: AbortSignal): Promise<void> {
    const options = queryOf(state, place, this.sets).options.filter(([name]) => name === '$filter' || name === '$search');
    const beyond = await ask(target({ path: state.path, options }, ['$select', place.type.key.join(',')], ['$skip', String(bound)], ['$top', '1']), signal, this.words.lang);
    if (beyond.kind !== 'ok') return;
    const all = async (): Promise<void> => {
      const answer = await ask(target({ path: `${state.path}/$count`, options }), signal, this.words.lang);
      if (answer.kind === 'ok') counted(Number(answer.data['value']));
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
    total.replaceChildren(`${this.words.text('explorer.of', this.numbers.format(bound))}+ `, button);
  }

  /** Shows a chart of groups where the state has one. */
  private async chart(state: State, table: Table, rows: Row[], partly: boolean): Promise<void> {
    const box = this.tools?.chart;
    const column = table.charted().find((c) => c.path === state.chart);
    if (column === undefined || state.group === '' || rows.length === 0) {
      box?.replaceChildren();
      return;
    }
    const module = await this.load('chart');
    if (module !== undefined && table === this.table) box?.replaceChildren(module.chart(table.bars(rows, column.path), column.label, partly, this.words.lang));
  }

  private async totals(state: State, place: Place, table: Table, signal: AbortSignal): Promise<void> {
    const columns = columnsOf(place, this.sets);
    if (state.total === '' || !place.set.sums || state.group !== '' || totalled(columns, state.total, []).length === 0) {
      table.total(undefined);
      return;
    }
    const filter = filterOf(state.conditions, columns);
    const answer = await ask(target({ path: state.path, options: [['$apply', totals(state, columns, filter)]] }), signal, this.words.lang);
    if (answer.kind === 'ok') table.total(rowsOf(answer.data)[0] ?? {});
    else if (answer.kind !== 'gone') this.tools?.faults.append(refusal(answer, this.words));
  }

  private absolute(q: Query): string {
    return location.origin + root + target(q);
  }

  private say(text: string): void {
    this.status.textContent = text;
  }
}
