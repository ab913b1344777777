// What rows must meet. A condition has a literal of the service or a key, whatever the language in which somebody typed it.

import { kindOf, type Column } from './model.ts';

/**
 * How a column is compared: has is part of a text in either case, eq to le compare, null is no value, and is compares the
 * key that a column holds where people see the label of its row.
 */
export type Operator = 'has' | 'eq' | 'gt' | 'ge' | 'lt' | 'le' | 'null' | 'is';

export interface Condition {
  /** The path of the column. */
  column: string;
  op: Operator;
  /** The value without quotes, as the service writes it; empty for null. */
  value: string;
}

/** What stands for a column and is no condition. */
export interface Unread {
  column: string;
  text: string;
}

/** A literal of text (OData-ABNF, string). */
export const quote = (s: string): string => `'${s.replaceAll("'", "''")}'`;

const number = /^-?\d+(\.\d+)?$/;
const forms: { [edm: string]: RegExp } = {
  Boolean: /^(true|false)$/,
  Date: /^\d{4}-\d\d-\d\d$/,
  DateTimeOffset: /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,12})?)?(Z|[+-]\d\d:\d\d)$/,
  Guid: /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i,
  TimeOfDay: /^\d\d:\d\d(:\d\d(\.\d{1,12})?)?$/,
  Double: /^(-?\d+(\.\d+)?(e[+-]?\d+)?|-?INF|NaN)$/i,
};
forms['Single'] = forms['Double'] as RegExp;

/** The literal of a value in a column; undefined for a value that no such column has. */
export function literalOf(c: Column, value: string): string | undefined {
  const edm = c.edm.replace('Edm.', '');
  if (c.edm === 'Edm.String') return quote(value);
  if (c.members.size > 0) return c.members.has(value) ? quote(value) : undefined;
  if (edm === 'Binary') return /^[\w-]*$/.test(value) ? `binary'${value}'` : undefined;
  const form = forms[edm] ?? (kindOf(c.edm) === 'number' ? number : undefined);
  if (form?.test(value) !== true) return undefined;
  return form !== forms['Double'] || /[a-z]{3}/i.test(value) || Number.isFinite(Number(value)) ? value : undefined;
}

const operators: { [kind: string]: Operator[] } = {
  text: ['has', 'eq', 'null', 'is'],
  number: ['eq', 'gt', 'ge', 'lt', 'le', 'null'],
  day: ['eq', 'gt', 'ge', 'lt', 'le', 'null'],
  instant: ['eq', 'gt', 'ge', 'lt', 'le', 'null'],
};

/** The expression of a condition; undefined where its column cannot be compared so. */
export function expression(c: Column, { op, value }: Condition): string | undefined {
  if (c.kind === 'none' || !(operators[c.kind] ?? ['eq', 'null']).includes(op) || (op === 'is' && c.by === undefined)) return undefined;
  if (op === 'null') return `${c.path} eq null`;
  if (op === 'has') return `contains(tolower(${c.by ?? c.path}),tolower(${quote(value)}))`;
  if (op === 'eq' && c.by !== undefined) return `${c.by} eq ${quote(value)}`;
  const literal = literalOf(c, value);
  if (literal === 'NaN' && op === 'eq') return `${c.path} ne ${c.path}`; // NaN equals nothing
  return literal === undefined ? undefined : `${c.path} ${op === 'is' ? 'eq' : op} ${literal}`;
}

/** The condition that a value in a group of rows, or in a row, meets. */
export function equals(c: Column, value: unknown): Condition {
  if (value === null || value === undefined) return { column: c.path, op: 'null', value: '' };
  return { column: c.path, op: c.by === undefined ? 'eq' : 'is', value: String(value) };
}

/** The filter that all conditions make together. */
export function filterOf(conditions: Condition[], columns: Column[]): string {
  return conditions.flatMap((condition) => {
    const column = columns.find((c) => c.path === condition.column);
    return (column && expression(column, condition)) ?? [];
  }).join(' and ');
}
