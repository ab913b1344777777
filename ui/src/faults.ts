// From an outcome to words: what to say above the form, what at which field, and how long to wait.

import type { Outcome } from './http.ts';
import type { Words } from './i18n.ts';

export interface Problem {
  tone: 'error' | 'warning' | 'information' | 'success';
  /** Said above the form. */
  lines: string[];
  /** Said at the fields. */
  fields: Record<string, string[]>;
  /** Seconds until another try makes sense; 0 for at once. */
  wait: number;
  /** For the people who run the application. */
  requestId: string;
  /** A way out, below the words. */
  link?: Node;
  /** The field to type in again: it takes the focus, with what it holds selected, and no mark. */
  retype?: string;
}

/** What a screen knows about its own codes. */
export interface Vocabulary {
  /** Prefix of the screen's keys. */
  screen: string;
  /** The first parameter of a code that the host sends without one: code to value. */
  defaults?: Record<string, number>;
  /** Fields that are chosen, and not filled in. */
  choices?: readonly string[];
}

export function problem(lines: string[], more: Partial<Problem> = {}): Problem {
  return { tone: 'error', lines, fields: {}, wait: 0, requestId: '', ...more };
}

/** Words for an outcome that is no success. */
export function explain(words: Words, vocabulary: Vocabulary, outcome: Outcome): Problem {
  switch (outcome.kind) {
    case 'offline':
      return problem([words.text(navigator.onLine ? 'common.unreachable' : 'common.offline')], { tone: 'warning' });
    case 'timeout':
      return problem([words.text('common.timeout')], { tone: 'warning' });
    case 'ok':
      return problem([words.text('common.failed', 200)]);
    case 'fault':
      return explainFault(words, vocabulary, outcome);
  }
}

function explainFault(words: Words, vocabulary: Vocabulary, { status, fault, retryAfter }: Outcome & { kind: 'fault' }): Problem {
  const say = (code: string): string => codeText(words, vocabulary, code);
  const codes = [fault.message, ...Object.values(fault.errors).flat()];
  if (status === 429 && !codes.includes('password_rests')) {
    const wait = codes.map(throttleSeconds).find((s) => s > 0) || retryAfter || 60;
    return problem([say('auth_throttle')], { tone: 'warning', wait });
  }
  const fields = fieldTexts(words, vocabulary, fault.errors);
  if (Object.keys(fields).length > 0) return problem([], { fields });
  const line = fault.message === '' ? words.text('common.failed', status) : say(fault.message);
  return problem([line], {
    tone: status === 503 ? 'warning' : 'error',
    wait: status === 503 ? retryAfter : 0,
    requestId: status >= 500 ? fault.requestId : '',
  });
}

/** The words of the codes at each field. */
export function fieldTexts(words: Words, vocabulary: Vocabulary, errors: Record<string, string[]>): Record<string, string[]> {
  const own = (field: string, code: string): string => (code === 'required' && vocabulary.choices?.includes(field) ? 'requiredChoice' : code);
  return Object.fromEntries(Object.entries(errors).map(([field, codes]) => [field, codes.map((code) => codeText(words, vocabulary, own(field, code)))]));
}

/** The words of a code, the screen's own before the common ones; a code that nobody knows is shown as it is. */
export function codeText(words: Words, { screen, defaults = {} }: Vocabulary, code: string): string {
  const [name = '', ...args] = code.split('|');
  const n = Number(args[0] ?? defaults[name]);
  for (const key of [`${screen}.${name}`, `common.${name}`]) {
    if (words.find(key) !== undefined) return words.text(key, ...args);
    if (words.find(`${key}.other`) !== undefined && !Number.isNaN(n)) return words.plural(key, n);
  }
  return code;
}

/** The seconds of auth_throttle|seconds|minutes, or 0. */
export function throttleSeconds(code: string): number {
  const match = /^auth_throttle\|(\d{1,6})(\||$)/.exec(code);
  return match === null ? 0 : Number(match[1]);
}
