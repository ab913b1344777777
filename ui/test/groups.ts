// The explorer without its page: what is typed becomes conditions, these a query, and groups links. The test of
// internal/suites/explorer writes a case a line and reads a finding a line.

import { createInterface } from 'node:readline';
import { columnsOf, queryOf, readState, resolve, target, unknown, writeState, type Place, type Query } from '../src/explorer/address.ts';
import { countName, groupsOf, rowsOfGroup } from '../src/explorer/groups.ts';
import { change, narrow, type State } from '../src/explorer/state.ts';
import { keyOf } from '../src/explorer/cells.ts';
import { readModel, type Column, type EntitySet } from '../src/explorer/model.ts';
import { Local } from '../src/explorer/notation.ts';
import { ask, rowsOf, valueAt, type Row } from '../src/explorer/service.ts';
import { read, write } from '../src/explorer/typed.ts';

/** What the test asks for. */
interface Case {
  id: number;
  /** The set; with above, those of its rows that link from the row with this key in another set. */
  set: string;
  above?: { set: string; key: Row };
  lang: string;
  zone: string;
  /** What somebody types, by column. */
  typed: { column: string; text: string }[];
  search: string;
  /** The column that rows are grouped by; empty for none. */
  group: string;
  /** How many of the groups are followed, and where to begin. */
  follow: number;
  from: number;
}

interface Finding {
  id: number;
  filter: string;
  /** What was typed and not read. */
  unread: string[];
  ids: string[];
  groups: number;
  followed: number;
  faults: string[];
}

const base = process.argv[2] ?? '';
const underlying = globalThis.fetch;
globalThis.fetch = (input, init) => underlying(base + String(input), init);
const { signal } = new AbortController();

async function get(query: Query, ...more: [string, string][]): Promise<{ [name: string]: unknown }> {
  const address = target(query, ...more);
  const answer = await ask(address, signal, 'en', 20_000);
  if (answer.kind === 'ok') return answer.data;
  throw new Error(`${answer.kind === 'refused' ? `${String(answer.status)} ${answer.text}` : answer.kind}: ${address.slice(0, 600)}`);
}

const locals = new Map<string, Local>();

/** The notation of a reader; formatters keep the zone in which they were made. */
function local(lang: string): Local {
  const name = `${lang} ${process.env['TZ'] ?? ''}`;
  const found = locals.get(name) ?? new Local(lang);
  locals.set(name, found);
  return found;
}

/** The state after somebody has typed; nothing here waits, since the zone is that of the process. */
function typed(c: Case, start: State, columns: Column[], finding: Finding): State {
  if (process.env['TZ'] !== c.zone) process.env['TZ'] = c.zone; // which takes long
  let state = start;
  for (const { column: path, text } of c.typed) {
    const column = columns.find((found) => found.path === path);
    const by = local(c.lang);
    const found = column && read(column, text, by);
    if (column === undefined || found === undefined) {
      finding.unread.push(`${path}: ${text}`);
      continue;
    }
    const shown = write(column, found, by);
    const again = read(column, shown, by);
    if (JSON.stringify(again) !== JSON.stringify(found)) finding.faults.push(`${path}: ${text} stands as ${shown}, which means ${JSON.stringify(again)} and not ${JSON.stringify(found)}`);
    state = narrow(state, path, found);
  }
  return state;
}

/** A state as its address has it. */
function addressed(state: State, columns: Column[], sets: Map<string, EntitySet>, finding: Finding): State {
  const address = writeState(state);
  const found = readState(address, sets);
  if (JSON.stringify(found) !== JSON.stringify(state) || unknown(found, columns).length > 0) finding.faults.push(`the address ${address} means ${JSON.stringify(found)} and not ${JSON.stringify(state)}`);
  return found;
}

/** The number of rows that a state shows, as the page asks for it. */
async function count(state: State, place: Place, sets: Map<string, EntitySet>): Promise<number> {
  const options = queryOf(state, place, sets).options.filter(([name]) => name === '$filter' || name === '$search');
  return Number((await get({ path: `${state.path}/$count`, options }))['value']);
}

/** Follows the links of some groups, and adds up what all of them count. */
async function follow(c: Case, state: State, place: Place, columns: Column[], sets: Map<string, EntitySet>, finding: Finding): Promise<void> {
  const column = columns.find((found) => found.path === c.group);
  if (column === undefined) throw new Error(`there is no column ${c.group}`);
  const data = await get(queryOf(addressed(change(state, { group: c.group, sort: `${countName} desc` }), columns, sets, finding), place, sets));
  const rows = rowsOf(data);
  if (data['@odata.nextLink'] !== undefined) throw new Error('not all groups came');
  finding.groups = rows.length;
  const counts = rows.map((row) => Number(valueAt(row, countName)));
  const sum = counts.reduce((all, n) => all + n, 0);
  if (sum !== finding.ids.length) finding.faults.push(`the groups by ${c.group} count ${String(sum)} of ${String(finding.ids.length)} rows`);
  const links = rows.map((row) => rowsOfGroup(state, groupsOf(change(state, { group: c.group }), columns), row));
  const addresses = links.map(writeState);
  addresses.forEach((address, i) => {
    if (addresses.indexOf(address) !== i) finding.faults.push(`two groups by ${c.group} lead to ${address}`);
  });
  for (let i = 0; i < Math.min(c.follow, rows.length); i++) {
    const at = (c.from + i) % rows.length;
    const link = links[at] as State;
    const shown = await count(addressed(link, columns, sets, finding), place, sets);
    finding.followed++;
    if (shown !== counts[at]) finding.faults.push(`the group ${JSON.stringify(rows[at])} by ${c.group} counts ${String(counts[at])}, and ${addresses[at] ?? ''} shows ${String(shown)}`);
  }
}

async function answer(c: Case, sets: Map<string, EntitySet>): Promise<Finding> {
  const finding: Finding = { id: c.id, filter: '', unread: [], ids: [], groups: 0, followed: 0, faults: [] };
  try {
    let path = c.set;
    if (c.above !== undefined) {
      const type = sets.get(c.above.set)?.type;
      const link = type?.links.find((l) => l.many && l.set === c.set);
      path = `${c.above.set}${(type && keyOf(type, c.above.key)) ?? ''}/${link?.name ?? ''}`;
    }
    const place = resolve(path, sets);
    if (place === undefined) throw new Error(`${path} leads nowhere`);
    const columns = columnsOf(place, sets);
    const start = change(readState(`#/${path}`, sets), { search: c.search });
    const state = addressed(typed(c, start, columns, finding), columns, sets, finding);
    if (finding.unread.length > 0) return finding;
    const { options } = queryOf(state, place, sets);
    finding.filter = options.find(([name]) => name === '$filter')?.[1] ?? '';
    const rows = await get({ path, options: options.filter(([name]) => name !== '$expand') }, ['$select', place.type.key.join(',')]);
    if (rows['@odata.nextLink'] !== undefined) throw new Error('not all rows came');
    finding.ids = rowsOf(rows).map((row) => place.type.key.map((name) => String(valueAt(row, name))).join('\u0000'));
    const total = await count(state, place, sets);
    if (total !== finding.ids.length) finding.faults.push(`the count is ${String(total)} of ${String(finding.ids.length)} rows`);
    if (c.group !== '') await follow(c, state, place, columns, sets, finding);
  } catch (err) {
    finding.faults.push(err instanceof Error ? err.message : String(err));
  }
  return finding;
}

const sets = readModel(await get({ path: '$metadata', options: [['$format', 'json']] }));
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const workers = Array.from({ length: 3 }, async () => {
  for (let line = await lines.next(); line.done !== true; line = await lines.next()) {
    const found = await answer(JSON.parse(line.value) as Case, sets);
    process.stdout.write(`${JSON.stringify(found)}\n`);
  }
});
await Promise.all(workers);
