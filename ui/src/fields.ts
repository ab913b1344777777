// Native controls with their label, hint and errors tied together.

import { h, icon, setAttribute, type Child } from './dom.ts';
import type { Words } from './i18n.ts';

export interface Field {
  name: string;
  label: string;
  node: HTMLElement;
  /** What takes the focus when the field is at fault. */
  control: HTMLElement;
  value(): string | boolean;
  set(value: string | boolean): void;
  /** A required field that is empty is caught before anything is sent. */
  required: boolean;
  /** Said where it is empty: a choice is not filled in. */
  missing: string;
  fail(messages: string[]): void;
  /** Called before the values are sent. */
  conceal?(): void;
}

interface Common {
  name: string;
  label: string;
  hint?: string;
  required?: boolean;
}

interface TextOptions extends Common {
  type?: 'text' | 'email' | 'password';
  autocomplete: string;
  inputmode?: string;
  maxlength?: number;
  readonly?: boolean;
  /** Beside the label, such as a count. */
  aside?: Child;
  /** Called with what the field holds, whenever somebody changes it. */
  typed?: (value: string) => void;
}

export function textField(words: Words, o: TextOptions): Field {
  const input = h('input', {
    id: o.name,
    name: o.name,
    type: o.type ?? 'text',
    autocomplete: o.autocomplete,
    inputmode: o.inputmode,
    maxlength: o.maxlength,
    required: o.required,
    readonly: o.readonly,
    autocapitalize: o.autocomplete === 'organization' ? 'words' : 'none',
    spellcheck: 'false',
  });
  input.addEventListener('input', () => o.typed?.(input.value));
  const notes = new Notes(o, input);
  const box = h('div', { class: 'box' }, input);
  const reveal = o.type === 'password' ? new Reveal(words, input, notes) : undefined;
  if (reveal) box.append(reveal.button);
  const labels = h('div', { class: 'labels' }, label(words, o), o.aside);
  return {
    ...basics(o),
    node: h('div', { class: 'field' }, labels, box, ...notes.nodes),
    control: input,
    value: () => input.value,
    set: (v) => void (input.value = String(v)),
    fail: (messages) => notes.fail(messages),
    conceal: () => reveal?.show(false),
  };
}

/** The button that shows a password, and the word about Caps Lock. Paste stays allowed. */
class Reveal {
  readonly button: HTMLButtonElement;

  constructor(
    words: Words,
    private readonly input: HTMLInputElement,
    notes: Notes,
  ) {
    const name = words.text('common.showPassword');
    const toggle = (): void => this.show(input.type === 'password');
    this.button = h(
      'button',
      { type: 'button', class: 'reveal', 'aria-label': name, title: name, 'aria-controls': input.id, onclick: toggle },
      icon('eye', 'slash'),
    );
    this.show(false);
    input.addEventListener('keyup', (e) => {
      notes.remark(e.getModifierState?.('CapsLock') ? words.text('common.capsLock') : '');
    });
    input.addEventListener('blur', () => notes.remark(''));
  }

  /** Password managers save what a password field holds, so it is one again before it is sent. */
  show(on: boolean): void {
    this.input.type = on ? 'text' : 'password';
    this.button.setAttribute('aria-pressed', String(on));
  }
}

export function checkbox(o: Common): Field {
  const input = h('input', { id: o.name, name: o.name, type: 'checkbox' });
  const notes = new Notes(o, input);
  return {
    ...basics(o),
    node: h('div', { class: 'field' }, h('label', { class: 'tick' }, input, h('span', {}, o.label)), ...notes.nodes),
    control: input,
    value: () => input.checked,
    set: (v) => void (input.checked = v === true),
    fail: (messages) => notes.fail(messages),
  };
}

/** The values of a choice with their labels. */
export type Choices = [value: string, label: string][];

export function select(words: Words, o: Common & { choices: Choices; autocomplete?: string }): Field {
  const control = h(
    'select',
    { id: o.name, name: o.name, required: o.required, autocomplete: o.autocomplete },
    h('option', { value: '' }, words.text('common.choose')),
    ...o.choices.map(([value, text]) => h('option', { value }, text)),
  );
  const notes = new Notes(o, control);
  const box = h('div', { class: 'box chevron' }, control);
  return {
    ...basics(o, 'common.requiredChoice'),
    node: h('div', { class: 'field' }, h('div', { class: 'labels' }, label(words, o)), box, ...notes.nodes),
    control,
    value: () => control.value,
    set: (v) => void (control.value = String(v)),
    fail: (messages) => notes.fail(messages),
  };
}

export function radios(o: Common & { choices: Choices }): Field {
  const inputs = o.choices.map(([value]) =>
    h('input', { type: 'radio', id: `${o.name}-${value}`, name: o.name, value, required: o.required }),
  );
  const group = h(
    'fieldset',
    { class: 'field' },
    h('legend', {}, o.label),
    h('div', { class: 'options' }, ...inputs.map((input, i) => h('label', { class: 'option' }, input, h('span', {}, o.choices[i]?.[1])))),
  );
  const notes = new Notes(o, group, inputs);
  group.append(...notes.nodes);
  return {
    ...basics(o, 'common.requiredChoice'),
    node: group,
    control: inputs[0] ?? group,
    value: () => inputs.find((i) => i.checked)?.value ?? '',
    set: (v) => inputs.forEach((i) => (i.checked = i.value === v)),
    fail: (messages) => notes.fail(messages),
  };
}

function basics(o: Common, missing = 'common.required'): Pick<Field, 'name' | 'label' | 'required' | 'missing'> {
  return { name: o.name, label: o.label, required: o.required === true, missing };
}

function label(words: Words, o: Common & { readonly?: boolean }): HTMLElement {
  const optional = !o.required && !o.readonly && h('span', { class: 'optional' }, ` ${words.text('common.optional')}`);
  return h('label', { for: o.name }, o.label, optional);
}

/** Hint, remark and errors below a control, all of them its description, behind what the page says there already. */
export class Notes {
  readonly nodes: HTMLElement[];
  private readonly error: HTMLElement;
  private readonly caps: HTMLElement;

  constructor(
    o: Common,
    private readonly described: HTMLElement,
    private readonly marked: HTMLElement[] = [described],
    private readonly before: string[] = [],
  ) {
    this.error = h('p', { class: 'fault', id: `${o.name}-error`, hidden: true });
    this.caps = h('p', { class: 'hint', id: `${o.name}-remark`, hidden: true });
    this.nodes = [this.error, this.caps];
    if (o.hint) this.nodes.push(h('p', { class: 'hint', id: `${o.name}-hint` }, o.hint));
    this.describe();
  }

  fail(messages: string[]): void {
    this.error.replaceChildren(...(messages.length > 0 ? [icon('error'), h('span', {}, messages.join(' '))] : []));
    this.error.hidden = messages.length === 0;
    for (const el of this.marked) setAttribute(el, 'aria-invalid', messages.length > 0 ? 'true' : null);
    this.describe();
  }

  remark(text: string): void {
    if (this.caps.textContent === text) return;
    this.caps.textContent = text;
    this.caps.hidden = text === '';
    this.describe();
  }

  private describe(): void {
    const ids = this.nodes.filter((n) => !n.hidden).map((n) => n.id);
    setAttribute(this.described, 'aria-describedby', [...this.before, ...ids].join(' ') || null);
  }
}
