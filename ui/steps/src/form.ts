// A form that is written in the page, with the behaviour of the sign-in's own.

import { h } from '../../src/dom.ts';
import type { Problem } from '../../src/faults.ts';
import { Notes, type Field } from '../../src/fields.ts';
import { Form, type Values } from '../../src/form.ts';
import type { Words } from '../../src/i18n.ts';
import type { Announcer } from '../../src/strip.ts';

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

/** Sends values, and gets the name of the field that errors without one stand at. Null: the page shows something else now. */
type Send = (values: Values, field: string) => Promise<Problem | undefined | null>;

export class PageForm extends Form {
  /** What the pressed button says while it is not busy, in each language of the page. */
  private said: Node[] = [];
  /** What is sent of a choice that nobody has made is nothing. */
  private readonly blank: Values;

  constructor(node: HTMLFormElement, words: Words, announcer: Announcer, send: Send) {
    const fields = [...node.querySelectorAll<HTMLElement>('.field')].flatMap((el) => adopt(el));
    const typed = fields.filter(({ control }) => !control.matches(choices));
    const blamed = typed.length === 1 ? (typed[0]?.name ?? '') : '';
    const button = node.querySelector<HTMLButtonElement>('button:not([type=button])') ?? h('button');
    super(
      {
        words,
        announcer,
        fields,
        layout: [],
        submit: '',
        busy: words.text('common.loading'),
        send: async (values) => {
          const end = await send(values, blamed);
          if (end === null) this.setBusy(false);
          return end ?? undefined;
        },
      },
      button,
      button,
      node,
    );
    this.blank = Object.fromEntries(fields.map(({ name }) => [name, '']));
  }

  /** All that the form sends, with the button that was pressed. */
  override values(): Values {
    return Object.fromEntries([...new FormData(this.node, this.button)].map(([name, value]) => [name, String(value)]));
  }

  protected override submitted(event: SubmitEvent): void {
    if (!this.busy && event.submitter instanceof HTMLButtonElement) this.button = this.label = event.submitter;
    super.submitted(event);
  }

  /** A button that goes on without the fields says formnovalidate. */
  protected override missing(values: Values): Record<string, string[]> {
    return this.button.formNoValidate ? {} : super.missing({ ...this.blank, ...values });
  }

  protected override setBusy(on: boolean): void {
    if (on) this.said = [...this.label.childNodes];
    super.setBusy(on);
    if (!on) this.label.replaceChildren(...this.said);
  }
}

const choices = '[type=radio], [type=checkbox], select';

/** A field of the page: a control in an element of the class field. Its error stands at the end of that. */
function adopt(el: HTMLElement): Field[] {
  const all = [...el.querySelectorAll<Control>('input, select, textarea')];
  const control = all[0];
  if (control === undefined) return [];
  const group = el instanceof HTMLFieldSetElement;
  const described = group ? el : control;
  const hints = (described.getAttribute('aria-describedby') ?? '').split(' ').filter(Boolean);
  const notes = new Notes({ name: control.id || control.name, label: '' }, described, all, hints);
  el.append(...notes.nodes);
  const ticked = (): Control | undefined => all.find((c) => c instanceof HTMLInputElement && c.checked);
  const label = el.querySelector(group ? 'legend' : 'label');
  return [
    {
      name: control.name,
      label: visible(label),
      node: el,
      control,
      required: control.required,
      missing: control.matches(choices) ? 'common.requiredChoice' : 'common.required',
      value: () => (control.matches('[type=radio], [type=checkbox]') ? (ticked()?.value ?? '') : control.value),
      set: (value) => void (control.value = String(value)),
      fail: (messages) => notes.fail(messages),
    },
  ];
}

/** The text of a label in the language of the page. */
function visible(label: Element | null): string {
  const lang = document.documentElement.lang;
  const part = label?.querySelector(`[lang="${lang}"]`) ?? label;
  return part?.textContent?.trim() ?? '';
}
