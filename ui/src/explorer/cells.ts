// How values look: in the language of the person, and as links where they lead somewhere.

import { h, type Child } from '../dom.ts';
import type { Words } from '../i18n.ts';
import { labelled, type Place } from './address.ts';
import { literalOf } from './condition.ts';
import type { Column, EntitySet, Type } from './model.ts';
import { Local } from './notation.ts';
import { valueAt, type Row } from './service.ts';
import { pictured } from './typed.ts';

/** The address of a row below its set (OData-URL 4.3.1); undefined where the key is not there. */
export function keyOf(type: Type, row: Row): string | undefined {
  const parts: string[] = [];
  for (const name of type.key) {
    const value = valueAt(row, name);
    if (value === undefined || value === null) return undefined;
    const c = [...type.columns, ...type.hidden].find(({ path }) => path === name);
    const literal = encodeURIComponent((c && literalOf(c, String(value))) ?? String(value)).replace(/[()]/g, (c) => (c === '(' ? '%28' : '%29'));
    parts.push(type.key.length === 1 ? literal : `${name}=${literal}`);
  }
  return parts.length === 0 ? undefined : `(${parts.join(',')})`;
}

/** How long a text may be in a table. */
const longest = 120;

/** A column of texts alone: labels stand in place of keys of any type. */
const plainText: Column = { path: '', label: '', kind: 'text', edm: 'Edm.String', members: new Map(), adds: false, nullable: true };

/** Writes values for people of one language. */
export class Cells {
  readonly local: Local;
  private readonly words: Words;
  private readonly labels = new Map<Type, ReturnType<typeof labelled>>();

  constructor(words: Words) {
    this.words = words;
    this.local = new Local(words.lang); // made once: a formatter takes as long as a row of cells
  }

  /** A value as text, with the currency or unit that row has for it. Numbers keep their digits. */
  text(c: Column, value: unknown, row?: Row): string {
    if (value === null || value === undefined) return '';
    if (typeof value === 'object') return JSON.stringify(value);
    const s = String(value);
    switch (c.kind) {
      case 'truth':
        return this.words.text(value === true || value === 'true' ? 'explorer.true' : 'explorer.false');
      case 'day':
        return this.local.dayText(s);
      case 'instant':
        return this.local.instantText(s);
      case 'number': {
        const unit = c.unit?.value ?? (c.unit?.path === undefined || row === undefined ? undefined : valueAt(row, c.unit.path));
        return this.local.numberText(s) + (typeof unit === 'string' && unit !== '' ? ` ${unit}` : '');
      }
      default: // of flags several, with commas between them
        return c.members.size === 0 ? s : s.split(',').map((name) => c.members.get(name) ?? name).join(', ');
    }
  }

  /** A value as it is seen: no value, an empty text and blanks at the ends of a text all differ. */
  seen(c: Column, value: unknown, row?: Row, all = false): Node | string {
    if (value === null || value === undefined) {
      return h('span', { class: 'null' }, h('span', { 'aria-hidden': 'true' }, '–'), h('span', { class: 'sr-only' }, this.words.text('explorer.null')));
    }
    if (value === '') return h('i', { class: 'null' }, this.words.text('explorer.emptyText'));
    const whole = this.text(c, value, row);
    if (all) return whole;
    const text = pictured(whole.length > longest ? `${whole.slice(0, longest - 3)}…` : whole);
    const mark = (): Node | false => whole !== whole.trim() && h('span', { class: 'null' }, '"');
    return text === whole && whole === whole.trim() ? text : h('span', { title: whole }, mark(), text, mark());
  }

  /** The label of the row that a key leads to, and the key where it has none or where another label looks the same. */
  label(label: unknown, key: unknown, twice = false): Node | string {
    if (key === null || key === undefined) return this.seen(plainText, null);
    const sign = h('span', { class: 'null' }, `#${String(key)}`);
    if (label === null || label === undefined) return sign;
    return twice || label === '' ? h('span', {}, this.seen(plainText, label), ' ', sign) : this.seen(plainText, label);
  }

  private labelled(type: Type, sets: Map<string, EntitySet>): ReturnType<typeof labelled> {
    const known = this.labels.get(type) ?? labelled(type, sets);
    this.labels.set(type, known);
    return known;
  }

  /** The cell of a column. A key of another set shows the label of its row, and leads there; main is the column that leads to its own row. */
  cell(place: Place, sets: Map<string, EntitySet>, c: Column, row: Row, base: string | undefined, main?: Column): Child {
    const value = valueAt(row, c.path);
    const to = this.labelled(place.type, sets).get(c.path);
    const isKey = place.type.key.length === 1 && c.path === place.type.key[0] && c.kind === 'number' && value !== null;
    const inside = to === undefined ? this.seen(isKey ? plainText : c, value, row, place.one) : this.label(valueAt(row, `${to.link.name}/${to.title}`), value);
    if (base === undefined || (c !== main && (to === undefined || value === null || value === undefined))) return inside;
    if (c === main) return h('a', { href: `#/${base}` }, inside);
    // One stop of the Tab key a row: the arrow keys lead from link to link.
    return h('a', { href: `#/${base}/${to?.link.name ?? ''}`, title: String(value), tabindex: main === undefined ? null : '-1' }, inside);
  }
}

/** The column that leads to the row: the one that people know it by, else its key, else the first. */
export function mainOf(type: Type, columns: Column[]): Column | undefined {
  return columns.find((c) => c.path === type.title) ?? columns.find((c) => c.path === type.key[0]) ?? columns[0];
}
