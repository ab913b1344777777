// A part of the account screen: a heading, rows, and the buttons of each row.

import { h, type Child } from '../dom.ts';
import { waitText, strip } from '../strip.ts';
import type { Problem } from '../faults.ts';
import type { Words } from '../i18n.ts';

export interface Act {
  /** Names the act within the section, for the focus. */
  key: string;
  label: string;
  run: () => Promise<Problem | undefined>;
}

export interface Row {
  id: string;
  name: string;
  /** Beside the name, such as "this browser". */
  mark?: string | false;
  facts: Child[];
  acts: Child[];
}

export interface Section {
  /** Names the section, for its heading and for what is said in it. */
  key: string;
  title: string;
  intro?: string | undefined;
  rows: Row[];
  /** Said where there are no rows. */
  none?: string | undefined;
  /** Below the rows. */
  below?: Child[];
}

export const titleOf = (key: string): string => `${key}-title`;

/** A button of a section. A screen reader hears which row it is of. */
export function button(section: string, act: Act, start: (section: string, act: Act) => void, of?: Pick<Row, 'id' | 'name'>): HTMLElement {
  const id = [section, act.key, of?.id].filter(Boolean).join('-');
  const label = of && `${act.label}: ${of.name}`;
  return h('button', { type: 'button', class: 'secondary', id, 'aria-label': label, onclick: () => start(section, act) }, act.label);
}

export function sectionNode(words: Words, s: Section, said: Problem | undefined): HTMLElement {
  const rows = s.rows.map((row) =>
    h(
      'li',
      {},
      h('div', { class: 'what' }, h('p', { class: 'name' }, row.name, row.mark && h('span', { class: 'mark' }, row.mark)), h('p', { class: 'hint' }, ...row.facts)),
      row.acts.length > 0 && h('div', { class: 'acts' }, ...row.acts),
    ),
  );
  return h(
    'section',
    { 'aria-labelledby': titleOf(s.key) },
    h('h2', { id: titleOf(s.key), tabindex: '-1' }, s.title),
    s.intro && h('p', { class: 'intro' }, s.intro),
    said && messages(words, said),
    rows.length > 0 ? h('ul', { class: 'rows', role: 'list' }, ...rows) : s.none && h('p', { class: 'hint' }, s.none),
    s.below && h('div', { class: 'acts' }, ...s.below),
  );
}

function messages(words: Words, said: Problem): HTMLElement {
  const lines = linesOf(words, said).map((line) => h('p', {}, line));
  if (said.requestId) lines.push(h('p', { class: 'reference' }, words.text('common.reference', said.requestId)));
  return strip(said.tone, ...lines);
}

/** What a problem says where there are no fields. */
export function linesOf(words: Words, said: Problem): string[] {
  return [...said.lines, ...Object.values(said.fields).flat(), ...(said.wait > 0 ? [waitText(words, said.wait)] : [])];
}

/** A moment as the reader writes it: the day, or the minute for what has just happened. */
export function moment(words: Words, key: string, time: string, style: 'day' | 'minute' = 'day'): Child {
  const at = new Date(time);
  if (time === '' || Number.isNaN(at.getTime())) return undefined;
  const format = new Intl.DateTimeFormat(words.lang, { dateStyle: 'medium', ...(style === 'minute' ? { timeStyle: 'short' } : {}) });
  return h('span', {}, words.text(key, format.format(at)));
}
