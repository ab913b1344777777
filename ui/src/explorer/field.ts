// A field of a form: a column, what is typed for it, and the value that this means.

import { h, setAttribute } from '../dom.ts';
import type { Words } from '../i18n.ts';
import type { Cells } from './cells.ts';
import { literalOf } from './condition.ts';
import type { Column } from './model.ts';

type Input = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

/** The text of an instant in a field of the browser, in the zone of the reader. */
function localText(iso: string): string {
  const at = new Date(iso);
  const pad = (n: number): string => String(n).padStart(2, '0');
  return `${String(at.getFullYear()).padStart(4, '0')}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}T${pad(at.getHours())}:${pad(at.getMinutes())}:${pad(at.getSeconds())}`;
}

export class Field {
  readonly column: Column;
  readonly element: HTMLElement;
  private readonly cells: Cells;
  private readonly input: Input;
  private readonly message = h('p', { class: 'wrong' });
  private readonly beside = h('div', { class: 'theirs' });
  /** The value that the service has. */
  private stored: unknown;
  /** What the field had of it before anybody typed. A browser drops some of a value, such as a carriage return or the fraction of a second. */
  private before: string;

  constructor(column: Column, value: unknown, choices: [string, string][] | undefined, cells: Cells, words: Words) {
    this.column = column;
    this.cells = cells;
    this.stored = value;
    const id = `field-${column.path}`;
    this.message.id = `${id}-wrong`;
    this.input = this.make(id, choices, words);
    this.before = this.put(this.text(value));
    this.element = h('div', {}, h('label', { for: id }, column.label + (column.unit?.value === undefined ? '' : ` (${column.unit.value})`)), this.input, this.message, this.beside);
  }

  private make(id: string, choices: [string, string][] | undefined, words: Words): Input {
    const { column: c } = this;
    const truth: [string, string][] = [['true', words.text('form.true')], ['false', words.text('form.false')]];
    const options = c.kind === 'truth' ? truth : c.members.size > 0 ? [...c.members] : choices;
    if (options !== undefined) return h('select', { id }, ...[['', words.text('form.none')], ...options].map(([value, text]) => h('option', { value }, text)));
    if (c.facets?.['@UI.MultiLineText'] === true || /[\r\n]/.test(String(this.stored))) return h('textarea', { id, rows: 4 });
    const type = c.by !== undefined ? 'text' : c.kind === 'day' ? 'date' : c.kind === 'instant' ? 'datetime-local' : 'text';
    return h('input', { id, type, step: type === 'datetime-local' ? 1 : null, inputmode: c.kind === 'number' ? 'decimal' : null, autocomplete: 'off' });
  }

  /** A value as the field has it. */
  private text(value: unknown): string {
    if (value === null || value === undefined) return '';
    if (this.column.kind === 'number' && this.column.by === undefined) return this.cells.local.numberText(String(value));
    return this.column.kind === 'instant' ? localText(String(value)) : String(value);
  }

  /** Puts a text into the field, and returns what the field has of it. */
  private put(text: string): string {
    const { input } = this;
    input.value = text;
    if (input.value !== text && input instanceof HTMLSelectElement) {
      input.append(h('option', { value: text }, text));
      input.value = text;
    }
    return input.value;
  }

  changed(): boolean {
    return this.input.value !== this.before;
  }

  /** The literal of what was typed; undefined for what is none. */
  private literal(): string | undefined {
    const { column: c } = this;
    const typed = c.edm === 'Edm.String' ? this.input.value : this.input.value.trim();
    if (c.kind === 'number' && c.by === undefined) return this.cells.local.number(typed);
    if (c.kind === 'instant') return Number.isNaN(Date.parse(typed)) ? undefined : new Date(typed).toISOString();
    return c.edm === 'Edm.String' || literalOf(c, typed) !== undefined ? typed : undefined;
  }

  /** Reports whether the field has text that is no value of its column. */
  unread(): boolean {
    return this.changed() && this.input.value !== '' && this.literal() === undefined;
  }

  /** The value for the service. An emptied field is null, or an empty text where the column takes no null. */
  value(): unknown {
    if (this.input.value === '') return this.column.nullable ? null : '';
    const literal = this.literal() ?? '';
    if (this.column.kind === 'truth') return literal === 'true';
    return /^Edm\.(Byte|SByte|Int16|Int32|Double|Single)$/.test(this.column.edm) && Number.isFinite(Number(literal)) ? Number(literal) : literal;
  }

  fault(text: string): void {
    this.message.textContent = text;
    setAttribute(this.input, 'aria-invalid', text === '' ? null : 'true');
    setAttribute(this.input, 'aria-describedby', text === '' ? null : this.message.id);
  }

  /** Takes the value that somebody else wrote for what is there now. Reports whether another one was typed here, which stays, with theirs beside it. */
  theirs(value: unknown, words: Words): boolean {
    if (value === this.stored) return false;
    this.stored = value;
    const mine = this.changed() ? this.input.value : undefined;
    const now = this.before = this.put(this.text(value));
    if (mine === undefined || mine === now) {
      this.beside.replaceChildren();
      return false;
    }
    this.input.value = mine;
    const take = h('button', { type: 'button', class: 'small', onclick: () => {
      this.input.value = now;
      this.beside.replaceChildren();
      this.input.focus();
    } }, words.text('form.take'));
    this.beside.replaceChildren(h('span', {}, words.text('form.theirs', now === '' ? words.text('form.none') : now)), take);
    return true;
  }

  focus(): void {
    this.input.focus();
  }
}
