// How values look: in the language of the person, and as links where they lead somewhere.

import { h, type Child } from '../dom.ts';
import type { Words } from '../i18n.ts';
import { labelled, type Place } from './address.ts';
import { quote } from './filter.ts';
import type { Column, EntitySet, Type } from './model.ts';
import { valueAt, type Row } from './service.ts';

/** The address of a row below its set (OData-URL 4.3.1); undefined where the key is not there. */
export function keyOf(type: Type, row: Row): string | undefined {
  const parts: string[] = [];
  for (const name of type.key) {
    const value = valueAt(row, name);
    if (value === undefined || value === null) return undefined;
    const isText = type.columns.find((c) => c.path === name)?.edm === 'Edm.String';
    const literal = encodeURIComponent(isText ? quote(String(value)) : String(value)).replace(/[()]/g, (c) => (c === '(' ? '%28' : '%29'));
    parts.push(type.key.length === 1 ? literal : `${name}=${literal}`);
  }
  return parts.length === 0 ? undefined : `(${parts.join(',')})`;
}

/** Writes values for people of one language. */
export class Cells {
  private readonly words: Words;
  private readonly day: Intl.DateTimeFormat;
  private readonly instant: Intl.DateTimeFormat;
  private readonly binary: Intl.NumberFormat;
  /** Made once: a formatter takes as long as a row of cells. */
  private readonly whole: Intl.NumberFormat;
  private readonly point: string;
  private readonly labels = new Map<Type, ReturnType<typeof labelled>>();

  constructor(words: Words) {
    this.words = words;
    this.day = new Intl.DateTimeFormat(words.lang, { dateStyle: 'medium', timeZone: 'UTC' });
    this.instant = new Intl.DateTimeFormat(words.lang, { dateStyle: 'medium', timeStyle: 'short' });
    this.binary = new Intl.NumberFormat(words.lang, { maximumSignificantDigits: 12 });
    this.whole = new Intl.NumberFormat(words.lang);
    this.point = this.whole.formatToParts(0.5).find((p) => p.type === 'decimal')?.value ?? '.';
  }

  /** A value as text. Numbers keep their digits: they come as text where a number of JavaScript could not hold them. */
  text(c: Column, value: unknown): string {
    if (value === null || value === undefined) return '';
    if (typeof value === 'object') return JSON.stringify(value);
    const s = String(value);
    switch (c.kind) {
      case 'truth':
        return this.words.text(value === true ? 'explorer.true' : 'explorer.false');
      case 'day':
        return this.date(this.day, `${s}T00:00:00Z`, s);
      case 'instant':
        return this.date(this.instant, s, s);
      case 'number':
        return c.edm === 'Edm.Double' || c.edm === 'Edm.Single' ? this.binary.format(Number(s)) : this.number(s);
      default: // of flags several, with commas between them
        return c.members.size === 0 ? s : s.split(',').map((name) => c.members.get(name) ?? name).join(', ');
    }
  }

  private date(format: Intl.DateTimeFormat, iso: string, otherwise: string): string {
    const at = Date.parse(iso);
    return Number.isNaN(at) ? otherwise : format.format(at);
  }

  private number(s: string): string {
    const [, sign = '', whole = '', rest = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(s) ?? [];
    if (whole === '') return s;
    return sign + this.whole.format(BigInt(whole)) + (rest === '' ? '' : this.point + rest);
  }

  private labelled(type: Type, sets: Map<string, EntitySet>): ReturnType<typeof labelled> {
    const known = this.labels.get(type) ?? labelled(type, sets);
    this.labels.set(type, known);
    return known;
  }

  /** The cell of a column. A key of another set shows the label of its row, and leads there. */
  cell(place: Place, sets: Map<string, EntitySet>, c: Column, row: Row, base: string | undefined): Child {
    const value = valueAt(row, c.path);
    if (value === null || value === undefined) return h('span', { class: 'null' }, '–');
    const to = this.labelled(place.type, sets).get(c.path);
    if (to !== undefined && base !== undefined) {
      const label = valueAt(row, `${to.link.name}/${to.title}`);
      if (label !== undefined && label !== null) return h('a', { href: `#/${base}/${to.link.name}`, title: this.text(c, value) }, String(label));
    }
    const text = c.path === place.type.key[0] && place.type.key.length === 1 ? String(value) : this.text(c, value);
    const leads = base !== undefined && !place.one && (c.path === place.type.title || c.path === place.type.key[0]);
    if (leads) return h('a', { href: `#/${base}` }, text === '' ? '–' : text);
    return text.length > 120 ? h('span', { title: text }, `${text.slice(0, 117)}…`) : text;
  }
}
