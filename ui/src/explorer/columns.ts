// The dialog in which people choose the columns of a table and their order.

import fallback from '../../i18n/messagebundle.properties?columns';
import de from '../../i18n/messagebundle_de.properties?columns';
import en from '../../i18n/messagebundle_en.properties?columns';
import { h } from '../dom.ts';
import { Words } from '../i18n.ts';
import type { Column } from './model.ts';

/** Shows the columns, those of the table first and in their order. done gets the paths that were chosen, none for the usual ones. */
export function choose(all: Column[], shown: Column[], lang: string, done: (paths: string[]) => void): void {
  const words = new Words({ '': fallback, en, de }, lang);
  const status = h('p', { class: 'sr-only', role: 'status' });
  const list = h('ol', { class: 'choices' });
  for (const c of [...shown, ...all.filter((other) => !shown.includes(other))]) list.append(item(c, shown.includes(c), words, status));
  const apply = h('button', { type: 'submit', class: 'main', value: 'apply' }, words.text('columns.apply'));
  const fault = h('p', { class: 'wrong' });
  const chosen = (): string[] => [...list.querySelectorAll<HTMLInputElement>('input:checked')].map((box) => box.value);
  const form = h('form', {
    method: 'dialog',
    onsubmit: (event: SubmitEvent) => {
      if (event.submitter !== apply || chosen().length > 0) return;
      event.preventDefault();
      fault.textContent = words.text('columns.one');
    },
  });
  const dialog = h('dialog', { 'aria-labelledby': 'columns-title' }, form);
  const usual = h('button', { type: 'submit', value: 'usual' }, words.text('columns.usual'));
  const cancel = h('button', { type: 'submit', value: '' }, words.text('columns.cancel'));
  form.append(h('h2', { id: 'columns-title' }, words.text('columns.title')), h('p', { class: 'hint' }, words.text('columns.hint')), list, fault, h('p', { class: 'actions' }, apply, usual, cancel), status);
  dialog.addEventListener('close', () => {
    dialog.remove();
    if (dialog.returnValue === 'apply') done(chosen());
    if (dialog.returnValue === 'usual') done([]);
  });
  document.body.append(dialog);
  dialog.showModal();
}

function item(c: Column, checked: boolean, words: Words, status: HTMLElement): HTMLElement {
  const box = h('input', { type: 'checkbox', value: c.path, checked });
  const move = (key: string, sign: string, by: number): HTMLElement => h('button', { type: 'button', class: 'small', 'aria-label': words.text(key, c.label), onclick: (event: MouseEvent) => {
    const at = by < 0 ? row.previousElementSibling : row.nextElementSibling;
    if (by < 0) at?.before(row);
    else at?.after(row);
    (event.currentTarget as HTMLElement).focus(); // the row was taken out for a moment
    const all = [...(row.parentElement?.children ?? [])];
    status.textContent = words.text('columns.moved', c.label, all.indexOf(row) + 1, all.length);
  } }, h('span', { 'aria-hidden': 'true' }, sign));
  const row = h('li', {}, h('label', { class: 'check' }, box, c.label), move('columns.up', '↑', -1), move('columns.down', '↓', 1));
  return row;
}
