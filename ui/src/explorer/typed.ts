// What people type above a column, as conditions, and conditions as what people type: each kind of column in its own way.
//
// - text: a part of it; =text is all of it, = alone is no value, "…" keeps blanks at the ends, #key is the row with that key
// - numbers and days: 5, >5, >=5, <5, <=5, 5..10, >=5 <10; a year or a month is all its days
// - truth, choices and others: one value

import { expression, literalOf, type Condition, type Operator } from './condition.ts';
import type { Column } from './model.ts';
import type { Local, Notation, Span } from './notation.ts';

type Ordered = 'number' | 'day' | 'instant';
type Bound = Pick<Condition, 'op' | 'value'>;

const signs: { [sign: string]: Operator } = { '>': 'gt', '>=': 'ge', '<': 'lt', '<=': 'le' };
const isOrdered = (c: Column): c is Column & { kind: Ordered } => ['number', 'day', 'instant'].includes(c.kind);

/** Reads what was typed above a column; undefined where it is no condition. */
export function read(c: Column, typed: string, by: Notation): Condition[] | undefined {
  const s = typed.trim();
  const found = s === '=' ? [{ op: 'null' as const, value: '' }] : isOrdered(c) ? bounds(c, s, by) : single(c, s);
  const conditions = found?.map((b) => ({ column: c.path, ...b }));
  return conditions?.every((condition) => expression(c, condition) !== undefined) === true ? conditions : undefined;
}

function single(c: Column, s: string): Bound[] | undefined {
  if (c.kind !== 'text') return [{ op: 'eq', value: s }];
  const key = c.by !== undefined && s.startsWith('#') ? unquoted(s.slice(1)) : undefined;
  if (key !== undefined && key !== '' && literalOf(c, key) !== undefined) return [{ op: 'is', value: key }];
  const value = unquoted(s.startsWith('=') ? s.slice(1).trimStart() : s);
  return value === undefined ? undefined : [{ op: s.startsWith('=') ? 'eq' : 'has', value }];
}

function bounds(c: Column & { kind: Ordered }, s: string, by: Notation): Bound[] | undefined {
  const unit = c.unit?.value ?? '';
  const span = (text: string): Span | undefined => {
    if (c.kind !== 'number') return by[c.kind](text);
    const bare = unit !== '' && text.endsWith(unit) ? text.slice(0, -unit.length).trim() : text;
    const value = /^-?(INF|NaN)$/.test(bare) ? bare : by.number(bare);
    return value === undefined ? undefined : { from: value, to: value, open: false };
  };
  const all: Bound[] = [];
  for (const piece of s.split(/\s+(?=[<>])/)) {
    const between = /^([^<>=].*?)\s*\.\.\s*(.+)$/.exec(piece);
    const [, sign = '', value = ''] = /^(>=|<=|>|<|=)?\s*(.+)$/.exec(piece) ?? [];
    const from = span(between?.[1] ?? value);
    const to = between === null ? from : span(between[2] ?? '');
    if (from === undefined || to === undefined) return undefined;
    all.push(...(between === null && sign in signs ? compared(signs[sign] as Operator, from) : within(c.kind, from, to)));
  }
  const [first, second] = all;
  const same = all.length === 2 && first?.op === 'ge' && second?.op === 'le' && first.value === second.value && c.kind !== 'instant';
  return same ? [{ op: 'eq', value: first.value }] : all;
}

function within(kind: Ordered, from: Span, to: Span): Bound[] {
  if (from === to && from.from === to.to && kind !== 'instant') return [{ op: 'eq', value: from.from }];
  return [{ op: 'ge', value: from.from }, { op: to.open ? 'lt' : 'le', value: to.to }];
}

/** Before a span is before its first value; behind one is behind its last. */
function compared(op: Operator, s: Span): Bound[] {
  if (op === 'ge' || op === 'lt') return [{ op, value: s.from }];
  if (op === 'gt') return [{ op: s.open ? 'ge' : 'gt', value: s.to }];
  return [{ op: s.open ? 'lt' : 'le', value: s.to }];
}

/** Writes the conditions of one column as somebody would type them. */
export function write(c: Column, conditions: Condition[], by: Local): string {
  const [first, second] = conditions;
  if (first === undefined) return '';
  if (first.op === 'null' && second === undefined) return '=';
  if (!isOrdered(c)) return conditions.map((condition) => writeSingle(c, condition)).join(' ');
  const { kind } = c;
  if (second !== undefined && conditions.length === 2 && first.op === 'ge' && (second.op === 'le' || second.op === 'lt')) {
    const open = second.op === 'lt';
    if (kind !== 'number' && open === (kind === 'instant' && open)) return by.spanText(kind, { from: first.value, to: second.value, open });
    if (kind === 'number' && !open) return `${by.numberText(first.value)}..${by.numberText(second.value)}`;
  }
  return conditions.map(({ op, value }) => writeBound(kind, op, value, by)).join(' ');
}

function writeBound(kind: Ordered, op: Operator, value: string, by: Local): string {
  const sign = Object.keys(signs).find((s) => signs[s] === op) ?? '';
  if (kind === 'number') return sign + by.numberText(value);
  if (op === 'eq') return by.spanText(kind, { from: value, to: value, open: false });
  if (op === 'ge' || op === 'lt') return sign + by.startText(kind, value);
  return sign + (by.endText(kind, value, false) ?? value);
}

function writeSingle(c: Column, { op, value }: Condition): string {
  if (c.kind !== 'text') return value;
  const sign = op === 'is' ? '#' : op === 'eq' ? '=' : '';
  const special = op === 'has' && (/^=/.test(value) || (c.by !== undefined && value.startsWith('#')));
  return sign + (special || value === '' || value !== value.trim() || /^"|\p{Cc}/u.test(value) ? quoted(value) : value);
}

/** Signs that fields of one line cannot hold stand as their pictures. */
const quoted = (s: string): string => `"${pictured(s).replaceAll('"', '""')}"`;

/** Control characters as their pictures, such as ␊ for the end of a line. */
export const pictured = (s: string): string => s.replace(/[\0-\x1f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0)));

/** The text between quotes, or one that has none; undefined where the closing one is missing. */
function unquoted(s: string): string | undefined {
  if (!s.startsWith('"')) return s;
  const inner = /^"((?:[^"]|"")*)"$/.exec(s)?.[1]?.replaceAll('""', '"');
  return inner?.replace(/[\u2400-\u241f]/g, (c) => String.fromCharCode(c.charCodeAt(0) - 0x2400));
}
