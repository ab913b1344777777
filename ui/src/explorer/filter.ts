// What people type above a column, as a filter of OData. Each kind of column reads it in its own way.

import type { Column } from './model.ts';

/** A literal of text (OData-ABNF, string). */
export const quote = (s: string): string => `'${s.replaceAll("'", "''")}'`;

const number = /^[+-]?\d+(\.\d+)?$/;
const day = /^\d{4}(-\d\d(-\d\d)?)?$/;

/**
 * Gives the expression that narrows a column down to what was typed, or undefined where it cannot be read:
 *
 * - text: what it contains, in either case; =text is all of it; = alone is no value
 * - numbers and days: 5, >5, >=5, <5, <=5, 5..10; a year or a month is all its days
 * - truth, choices and others: one value
 */
export function expression(c: Column, typed: string): string | undefined {
  const s = typed.trim();
  if (s === '=') return `${c.path} eq null`;
  switch (c.kind) {
    case 'text':
      return s.startsWith('=') ? `${c.path} eq ${quote(s.slice(1))}` : `contains(tolower(${c.path}),tolower(${quote(s)}))`;
    case 'number':
      return range(c.path, s, (v) => (number.test(v) ? [v.replace('+', ''), undefined] : undefined));
    case 'day':
      return range(c.path, s, (v) => (day.test(v) ? days(v) : undefined));
    case 'instant':
      return range(c.path, s, (v) => {
        const found = day.test(v) ? days(v, true) : undefined;
        return found?.map((d) => (d === undefined ? d : `${d}T00:00:00Z`)) as Span | undefined;
      });
    case 'truth':
      return s === 'true' || s === 'false' ? `${c.path} eq ${s}` : undefined;
    case 'choice':
      return c.members.has(s) ? `${c.path} eq ${quote(s)}` : undefined;
    case 'exact':
      return /^[\w:.-]+$/.test(s) ? `${c.path} eq ${s}` : undefined;
    default:
      return undefined;
  }
}

/** The first value of what was typed, and the first one behind it; undefined for one that is a point. */
type Span = [string, string | undefined];

function range(path: string, s: string, read: (v: string) => Span | undefined): string | undefined {
  const between = /^(\S+?)\s*\.\.\s*(\S+)$/.exec(s);
  if (between !== null) {
    const from = read(between[1] ?? '');
    const to = read(between[2] ?? '');
    if (from === undefined || to === undefined) return undefined;
    return `${path} ge ${from[0]} and ${to[1] === undefined ? `${path} le ${to[0]}` : `${path} lt ${to[1]}`}`;
  }
  const [, sign = '', value = ''] = /^(>=|<=|>|<|=)?\s*(\S+)$/.exec(s) ?? [];
  const span = read(value);
  if (span === undefined) return undefined;
  const [from, behind] = span;
  switch (sign) {
    case '>':
      return behind === undefined ? `${path} gt ${from}` : `${path} ge ${behind}`;
    case '>=':
      return `${path} ge ${from}`;
    case '<':
      return `${path} lt ${from}`;
    case '<=':
      return behind === undefined ? `${path} le ${from}` : `${path} lt ${behind}`;
    default:
      return behind === undefined ? `${path} eq ${from}` : `${path} ge ${from} and ${path} lt ${behind}`;
  }
}

/** A year, a month or a day, which of an instant is a span too. */
function days(s: string, instant = false): Span | undefined {
  const [year = 0, month, date] = s.split('-').map(Number);
  const start = new Date(Date.UTC(year, (month ?? 1) - 1, date ?? 1));
  if (month !== undefined && (month < 1 || month > 12)) return undefined;
  if (date !== undefined && start.getUTCDate() !== date) return undefined;
  const end = new Date(start);
  if (date !== undefined) end.setUTCDate(end.getUTCDate() + 1);
  else if (month !== undefined) end.setUTCMonth(end.getUTCMonth() + 1);
  else end.setUTCFullYear(end.getUTCFullYear() + 1);
  const write = (d: Date): string => d.toISOString().slice(0, 10);
  return [write(start), date !== undefined && !instant ? undefined : write(end)];
}
