// A form: values, busy state, problems with focus and announcement, waiting time.

import { h, type Child } from './dom.ts';
import type { Problem } from './faults.ts';
import type { Field } from './fields.ts';
import type { Words } from './i18n.ts';
import { Countdown, strip, waitText, type Announcer } from './strip.ts';

export type Values = Record<string, string | boolean>;

interface Options {
  words: Words;
  announcer: Announcer;
  fields: Field[];
  /** What the form shows, with the fields placed in it. */
  layout: Child[];
  submit: string;
  busy: string;
  /** Checks of the screen beyond required: codes in words, by field. */
  check?: (values: Values) => Record<string, string[]>;
  /** Sends. A returned problem is shown; nothing means that the screen has moved on. */
  send: (values: Values) => Promise<Problem | undefined>;
  /** Beside the button. */
  aside?: Child;
}

export class Form {
  private readonly messages = h('div', { class: 'messages' });
  /** What no field is to blame for stands at the button, where the focus goes: no field moves. */
  private readonly outcome = h('div', { class: 'messages' });
  private countdown: Countdown | undefined;
  protected busy = false;

  /** Makes a form of the options, or takes over one that stands in the page, with the button that sends it. */
  constructor(
    private readonly o: Options,
    protected label: HTMLElement = h('span', {}, o.submit),
    protected button: HTMLButtonElement = h('button', { type: 'submit', class: 'primary' }, label),
    readonly node = h('form', { method: 'post' }, ...o.layout, h('div', { class: 'actions' }, button, o.aside)),
  ) {
    node.noValidate = true;
    node.addEventListener('submit', (e) => this.submitted(e));
    node.prepend(this.messages);
    button.closest('.actions')?.before(this.outcome);
  }

  values(): Values {
    return Object.fromEntries(this.o.fields.map((f) => [f.name, f.value()]));
  }

  fill(values: Values): void {
    for (const field of this.o.fields) {
      const value = values[field.name];
      if (value !== undefined) field.set(value);
    }
  }

  /** Shows a problem: words above the form, errors at the fields, a countdown, the focus where the fault is. */
  show(problem: Problem, focus = true): void {
    this.clear();
    const faulty = this.o.fields.filter((f) => (problem.fields[f.name]?.length ?? 0) > 0);
    for (const field of faulty) field.fail(problem.fields[field.name] ?? []);
    const lines = [...problem.lines, ...this.strayLines(problem)];
    const content: Node[] = lines.map((line) => h('p', {}, line));
    if (faulty.length > 2 || (faulty.length > 0 && lines.length > 0)) content.push(...this.summary(faulty));
    if (problem.link) content.push(h('p', {}, problem.link));
    if (problem.requestId) content.push(h('p', { class: 'reference' }, this.o.words.text('common.reference', problem.requestId)));
    if (problem.wait > 0) content.push(this.wait(problem.wait));
    const place = focus && faulty.length === 0 ? this.outcome : this.messages;
    if (content.length > 0) place.append(strip(problem.tone, ...content));
    this.announce(problem, lines, faulty);
    if (focus) this.focus(problem, faulty);
  }

  private focus(problem: Problem, faulty: Field[]): void {
    const retyped = this.o.fields.find((f) => f.name === problem.retype)?.control;
    (retyped ?? faulty[0]?.control ?? this.button).focus();
    if (retyped instanceof HTMLInputElement) retyped.select();
  }

  /** Stops the clock; the form is about to go. */
  dispose(): void {
    this.countdown?.stop();
  }

  private clear(): void {
    this.countdown?.stop();
    this.countdown = undefined;
    this.messages.replaceChildren();
    this.outcome.replaceChildren();
    for (const field of this.o.fields) field.fail([]);
    this.lock(false);
  }

  /** Errors of fields that the form does not have are said above it rather than lost. */
  private strayLines(problem: Problem): string[] {
    const known = new Set(this.o.fields.map((f) => f.name));
    return Object.entries(problem.fields)
      .filter(([name]) => !known.has(name))
      .flatMap(([, texts]) => texts);
  }

  /** Names the fields at fault, and leads to them. What is wrong stands there, and only there. */
  private summary(faulty: Field[]): Node[] {
    const items = faulty.map((field) => {
      const jump = (e: Event): void => {
        e.preventDefault();
        field.control.focus();
      };
      return h('li', {}, h('a', { href: `#${field.control.id}`, onclick: jump }, field.label));
    });
    return [h('p', {}, this.o.words.plural('common.checkFields', faulty.length)), h('ul', {}, ...items)];
  }

  private wait(seconds: number): Node {
    this.lock(true);
    this.countdown = new Countdown(this.o.words, seconds, () => {
      this.clear();
      this.o.announcer.say(this.o.words.text('common.retryNow'));
    });
    return this.countdown.node;
  }

  private announce(problem: Problem, lines: string[], faulty: Field[]): void {
    const said = [...lines];
    if (faulty.length > 1) said.push(`${this.o.words.plural('common.checkFields', faulty.length)} ${faulty.map((field) => field.label).join(', ')}`);
    else for (const field of faulty) said.push(`${field.label}: ${problem.fields[field.name]?.join(' ')}`);
    if (problem.wait > 0) said.push(waitText(this.o.words, problem.wait));
    if (problem.tone === 'error' || problem.tone === 'warning') this.o.announcer.alert(said.join(' '));
    else this.o.announcer.say(said.join(' '));
  }

  /** The button stays focusable while it does nothing: a disabled one would drop the focus. */
  private lock(on: boolean): void {
    this.button.toggleAttribute('data-locked', on);
    this.button.setAttribute('aria-disabled', String(on));
  }

  protected submitted(event: SubmitEvent): void {
    event.preventDefault();
    if (this.busy || this.countdown !== undefined) return;
    for (const field of this.o.fields) field.conceal?.();
    const values = this.values();
    const fields = { ...this.o.check?.(values), ...this.missing(values) };
    if (Object.keys(fields).length > 0) {
      this.show({ tone: 'error', lines: [], fields, wait: 0, requestId: '' });
      return;
    }
    void this.work(() => this.o.send(values));
  }

  protected missing(values: Values): Record<string, string[]> {
    const empty = this.o.fields.filter((f) => f.required && values[f.name] === '');
    return Object.fromEntries(empty.map((f) => [f.name, [this.o.words.text(f.missing)]]));
  }

  /** Does what the form sends, or another way to the same end that a button of the screen begins; one at a time. */
  async work(task: () => Promise<Problem | undefined>, button?: HTMLElement): Promise<void> {
    if (this.busy) return;
    this.clear();
    this.setBusy(true);
    const problem = await task();
    if (problem === undefined) return; // the browser is on its way: a second click would send twice
    this.setBusy(false);
    this.show(problem);
    button?.focus();
  }

  protected setBusy(on: boolean): void {
    this.busy = on;
    this.lock(on);
    this.node.setAttribute('aria-busy', String(on));
    this.label.textContent = on ? this.o.busy : this.o.submit;
    this.button.classList.toggle('busy', on);
    this.o.announcer.say(on ? this.o.busy : '', on);
  }
}
