// How numbers, days and times are written for people and read from them. What a Notation writes it can read again.

/** The values that a text names: from the first to the last of them, or up to the first one behind where open. */
export interface Span {
  from: string;
  to: string;
  open: boolean;
}

/** Reads what people type; undefined is what it cannot read. */
export interface Notation {
  number(text: string): string | undefined;
  day(text: string): Span | undefined;
  instant(text: string): Span | undefined;
}

/** The parts of a day or a time as they were named; month is 1 to 12. */
interface Parts {
  year: number;
  month?: number | undefined;
  date?: number | undefined;
  time?: { hour: number; minute: number; second?: number | undefined; fraction?: string | undefined } | undefined;
  /** Minutes east of UTC, where the text names them. */
  offset?: number | undefined;
}

const pad = (n: number, width = 2): string => String(n).padStart(width, '0');

/** The range of days that the service has. */
const firstDay = '0001-01-01';
const lastDay = '9999-12-31';

/** A day or a time of ISO 8601, from a year to a fraction of a second. */
function isoParts(s: string): Parts | undefined {
  const found = /^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)?)?)?)?$/i.exec(s);
  if (found === null) return undefined;
  const [, year, month, date, hour, minute, second, fraction, zone] = found;
  const optional = (v: string | undefined): number | undefined => (v === undefined ? undefined : Number(v));
  const parts: Parts = { year: Number(year), month: optional(month), date: optional(date) };
  if (hour !== undefined) parts.time = { hour: Number(hour), minute: Number(minute), second: optional(second), fraction };
  if (zone !== undefined) parts.offset = /z/i.test(zone) ? 0 : Number(`${zone.charAt(0)}1`) * (Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4)));
  return parts;
}

/** Whether there is such a day and such a time of day. */
function exists(p: Parts): boolean {
  const { year, month = 1, date = 1, time } = p;
  const day = utc(year, month, date);
  const known = year >= 1 && month >= 1 && month <= 12 && day.getUTCMonth() === month - 1 && day.getUTCDate() === date;
  return known && (time === undefined || (time.hour < 24 && time.minute < 60 && (time.second ?? 0) < 60));
}

/** The start of a day in UTC; the years 1 to 99 are years of their own. */
function utc(year: number, month: number, date: number): Date {
  const day = new Date(Date.UTC(2000, 0, 1));
  day.setUTCFullYear(year, month - 1, date);
  return day;
}

function daySpan(p: Parts | undefined): Span | undefined {
  if (p === undefined || !exists(p) || p.time !== undefined) return undefined;
  const { year, month, date } = p;
  const last = date ?? utc(year, (month ?? 12) + 1, 0).getUTCDate();
  const write = (m: number, d: number): string => `${pad(year, 4)}-${pad(m)}-${pad(d)}`;
  return { from: write(month ?? 1, date ?? 1), to: write(month ?? 12, last), open: false };
}

/** The instants of a day or a time; start gives the instant of a reading of the clock. */
function instantSpan(p: Parts | undefined, start: (p: Parts) => Date): Span | undefined {
  if (p === undefined || !exists(p)) return undefined;
  const { year, month, date, time } = p;
  const from = start(p);
  if (time?.fraction !== undefined) {
    const exact = `${from.toISOString().slice(0, 19)}${time.fraction}Z`;
    return { from: exact, to: exact, open: false };
  }
  let behind: Date;
  if (time !== undefined) behind = new Date(from.getTime() + (time.second === undefined ? 60_000 : 1000));
  else if (date !== undefined) behind = start({ ...p, month, date: date + 1 });
  else if (month !== undefined) behind = start({ ...p, month: month + 1 });
  else behind = start({ ...p, year: year + 1 });
  if (behind.getTime() > Date.parse(`${lastDay}T23:59:59Z`)) return { from: literal(from), to: `${lastDay}T23:59:59.999999Z`, open: false };
  return { from: literal(from), to: literal(behind), open: true };
}

/** An instant as the service takes it. */
function literal(at: Date): string {
  return at.getTime() < Date.parse(`${firstDay}T00:00:00Z`) ? `${firstDay}T00:00:00Z` : at.toISOString().replace('.000Z', 'Z');
}

function startUTC(p: Parts): Date {
  const at = utc(p.year, p.month ?? 1, p.date ?? 1);
  at.setUTCHours(p.time?.hour ?? 0, (p.time?.minute ?? 0) - (p.offset ?? 0), p.time?.second ?? 0);
  return at;
}

/** The instant when clocks of this place show a time; of a day that begins with a gap, the end of the gap. */
function startHere(p: Parts): Date {
  if (p.offset !== undefined) return startUTC(p);
  const at = new Date(2000, 0, 1);
  at.setFullYear(p.year, (p.month ?? 1) - 1, p.date ?? 1);
  at.setHours(p.time?.hour ?? 0, p.time?.minute ?? 0, p.time?.second ?? 0, 0);
  return at;
}

/** The notation of addresses that were shared before conditions: that of the service, with days of UTC. */
export const plain: Notation = {
  number: (s) => (/^[+-]?\d+(\.\d+)?$/.test(s) ? s.replace('+', '') : undefined),
  day: (s) => daySpan(isoParts(s)),
  instant: (s) => instantSpan(isoParts(s), startUTC),
};

/** The notation of one language in the zone of the browser. It reads ISO 8601 too. */
export class Local implements Notation {
  private readonly days: Intl.DateTimeFormat;
  private readonly minutes: Intl.DateTimeFormat;
  private readonly seconds: Intl.DateTimeFormat;
  private readonly whole: Intl.NumberFormat;
  private readonly rounded: Intl.NumberFormat;
  private readonly month: Intl.DateTimeFormat;
  private readonly point: string;
  private readonly form: RegExp;
  private readonly group: string;
  private readonly months: string[][];

  constructor(lang: string) {
    this.days = new Intl.DateTimeFormat(lang, { dateStyle: 'medium', timeZone: 'UTC' });
    this.minutes = new Intl.DateTimeFormat(lang, { dateStyle: 'medium', timeStyle: 'short' });
    this.seconds = new Intl.DateTimeFormat(lang, { dateStyle: 'medium', timeStyle: 'medium' });
    this.whole = new Intl.NumberFormat(lang);
    this.rounded = new Intl.NumberFormat(lang, { minimumFractionDigits: 2, maximumFractionDigits: 4 });
    this.month = new Intl.DateTimeFormat(lang, { year: 'numeric', month: 'short', timeZone: 'UTC' });
    const parts = this.whole.formatToParts(1234567.5);
    const part = (type: string): string => parts.find((p) => p.type === type)?.value ?? '';
    this.point = part('decimal');
    this.group = plainBlanks(part('group'));
    const [group, point] = [this.group, this.point].map((s) => s.replace(/[.]/g, '\\.'));
    this.form = new RegExp(`^[+-]?(\\d+|\\d{1,3}(${group ?? ''}\\d{3})+)(${point ?? ''}\\d+)?(E[+-]?\\d+)?$`, 'i');
    this.months = (['long', 'short'] as const).map((month) => {
      const format = new Intl.DateTimeFormat(lang, { month, day: 'numeric', timeZone: 'UTC' });
      return Array.from({ length: 12 }, (_, i) => monthName(format.formatToParts(utc(2000, i + 1, 1)).find((p) => p.type === 'month')?.value ?? ''));
    });
  }

  number(text: string): string | undefined {
    const s = plainBlanks(text).replace('−', '-');
    if (!this.form.test(s)) return undefined;
    const digits = this.group === '' ? s : s.replaceAll(this.group, '');
    return digits.replace(this.point, '.').replace(/^(?:\+|(-?))0*(?=\d)/, '$1').toUpperCase().replace('E+', 'E');
  }

  day(text: string): Span | undefined {
    return daySpan(this.parts(text));
  }

  instant(text: string): Span | undefined {
    return instantSpan(this.parts(text), startHere);
  }

  /** A number of the service, digit by digit: it may have more of them than a number of JavaScript. */
  numberText(s: string): string {
    const [, sign = '', whole = '', rest = '', exponent = ''] = /^(-?)(\d+)(?:\.(\d+))?(e[+-]?\d+)?$/i.exec(s) ?? [];
    if (whole === '') return s;
    return sign + this.whole.format(BigInt(whole)) + (rest === '' ? '' : this.point + rest) + exponent.toUpperCase().replace('+', '');
  }

  /** A number with four digits behind the point at most: an average has many. */
  roundText(s: string): string {
    return /\.\d{5}/.test(s) ? this.rounded.format(s as unknown as number) : this.numberText(s);
  }

  /** A year, or a month such as 2026-05 as "May 2026". */
  partText(s: string): string {
    return s.length === 4 ? s : this.write(this.month, `${s}-01T00:00:00Z`, s);
  }

  dayText(s: string): string {
    return this.write(this.days, `${s}T00:00:00Z`, s);
  }

  instantText(s: string): string {
    return this.write(this.minutes, s, s);
  }

  /** The shortest text that names the days or instants from one to another; more than one day or instant stands as from..to. */
  spanText(kind: 'day' | 'instant', span: Span): string {
    const same = (text: string): boolean => {
      const read = this[kind](text);
      return read?.from === span.from && read.to === span.to && read.open === span.open;
    };
    const whole = this.texts(kind, span.from).find(same);
    if (whole !== undefined) return whole;
    const start = this.startText(kind, span.from);
    const end = this.endText(kind, span.to, span.open);
    if (end !== undefined) return `${start}..${end}`;
    return `>=${start} ${span.open ? '<' : '<='}${span.open ? this.startText(kind, span.to) : span.to}`;
  }

  /** The shortest text that begins at a day or an instant. */
  startText(kind: 'day' | 'instant', s: string): string {
    return this.texts(kind, s).find((t) => this[kind](t)?.from === s) ?? s;
  }

  /** The shortest text that ends with a day or before an instant. */
  endText(kind: 'day' | 'instant', s: string, open: boolean): string | undefined {
    return this.texts(kind, open ? before(s) : s).find((t) => this[kind](t)?.to === s && this[kind](t)?.open === open);
  }

  /** The texts that may stand for a day or an instant, from the year to all of it. */
  private texts(kind: 'day' | 'instant', s: string): string[] {
    if (kind === 'day') return [s.slice(0, 4), s.slice(0, 7), this.dayText(s)];
    const at = new Date(s);
    const day = `${pad(at.getFullYear(), 4)}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}`;
    return [day.slice(0, 4), day.slice(0, 7), this.dayText(day), this.instantText(s), this.write(this.seconds, s, s), s];
  }

  /** Years without four digits stand as ISO 8601 has them: 26 is a year of today for people. */
  private write(format: Intl.DateTimeFormat, iso: string, otherwise: string): string {
    const at = new Date(iso);
    const years = [at.getUTCFullYear(), at.getFullYear()];
    return years.every((y) => y >= 1000 && y <= 9999) ? plainBlanks(format.format(at)) : otherwise;
  }

  private parts(text: string): Parts | undefined {
    const s = plainBlanks(text);
    const iso = isoParts(s);
    if (iso !== undefined) return iso;
    const [, day = s, hour, minute, second, half] = /^(.*?\d)(?:,| um| at)? (\d{1,2}):(\d\d)(?::(\d\d))?(?: ?([ap])\.?m\.?)?$/i.exec(s) ?? [];
    const parts = this.dayParts(day);
    if (parts === undefined || hour === undefined) return parts;
    if (parts.date === undefined || (half !== undefined && (Number(hour) < 1 || Number(hour) > 12))) return undefined;
    const late = half === undefined ? Number(hour) : (Number(hour) % 12) + (half.toLowerCase() === 'p' ? 12 : 0);
    return { ...parts, time: { hour: late, minute: Number(minute), second: second === undefined ? undefined : Number(second) } };
  }

  /** 01.05.2026, 05.2026, May 1, 2026, 1 May 2026, 1. Mai 2026 and May 2026. Days with slashes are read differently here and there, and not at all by this page. */
  private dayParts(s: string): Parts | undefined {
    const dotted = /^(?:(\d{1,2})\. ?)?(\d{1,2})\. ?(\d{4})$/.exec(s);
    if (dotted !== null) return { year: Number(dotted[3]), month: Number(dotted[2]), date: dotted[1] === undefined ? undefined : Number(dotted[1]) };
    const named = /^(?:(\d{1,2})\.? )?(\p{L}+)\.?(?: (\d{1,2}))?,? (\d{4})$/u.exec(s);
    const [, before, name = '', behind, year] = named ?? [];
    const date = before ?? behind;
    const month = this.months.map((names) => names.indexOf(monthName(name))).find((i) => i >= 0);
    if (named === null || month === undefined || (before !== undefined && behind !== undefined)) return undefined;
    return { year: Number(year), month: month + 1, date: date === undefined ? undefined : Number(date) };
  }
}

const monthName = (s: string): string => s.replace('.', '').toLowerCase();

/** The instant a millisecond ahead of another, which is in the last minute before it. */
const before = (s: string): string => new Date(Date.parse(s) - 1).toISOString();

/** Formatters put blanks of other widths between parts. */
const plainBlanks = (s: string): string => s.replace(/\s/g, ' ').trim();
