// A form over the page, in the browser's own dialog: the rest of the page rests, Escape closes it, and the focus returns.

import { h, type Child } from '../dom.ts';
import type { Form } from '../form.ts';
import type { Words } from '../i18n.ts';
import { Announcer } from '../strip.ts';

/** What a form in a dialog needs of it. */
export interface Inside<T> {
  close: (answer?: T) => void;
  /** What is outside of an open dialog is not read to anybody. */
  announcer: Announcer;
  cancel: HTMLElement;
}

interface Question<T> {
  title: string;
  intro?: string;
  form: (inside: Inside<T>) => Form;
  focus?: () => HTMLElement;
}

/** Shows a form in a dialog. It returns what the form closes it with, undefined where the person has changed their mind. */
export function ask<T>(words: Words, question: Question<T>): Promise<T | undefined> {
  return new Promise((resolve) => {
    let answer: T | undefined;
    const announcer = new Announcer();
    const close = (value?: T): void => {
      answer = value;
      node.close();
    };
    const cancel = h('button', { type: 'button', class: 'secondary', onclick: () => close() }, words.text('account.cancel'));
    const form = question.form({ close, announcer, cancel });
    const id = `dialog-${String(document.querySelectorAll('dialog').length)}`;
    const intro: Child = question.intro && h('p', { class: 'intro' }, question.intro);
    const node = h('dialog', { class: 'card', 'aria-labelledby': id }, h('h2', { id }, question.title), intro, form.node, ...announcer.nodes);
    node.addEventListener('close', () => {
      form.dispose();
      node.remove();
      resolve(answer);
    });
    document.body.append(node);
    node.showModal();
    question.focus?.().focus();
  });
}

/** Closes what is open, the innermost first. */
export function closeDialogs(): void {
  for (const dialog of [...document.querySelectorAll('dialog')].reverse()) dialog.close();
}
