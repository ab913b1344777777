// The field of the search above a table, and the help for its filters.

import { h } from '../dom.ts';
import type { Words } from '../i18n.ts';
import type { Parts } from './parts.ts';

/** How to write filters, for those who wonder: the lines are loaded once somebody opens it. */
export function help(words: Words, load: () => Promise<Parts['help'] | undefined>): HTMLElement {
  const summary = h('summary', {}, words.text('explorer.help'));
  const details = h('details', { class: 'help', ontoggle: () => void open() }, summary);
  const open = async (): Promise<void> => {
    if (!details.open || summary.nextSibling !== null) return;
    const module = await load();
    if (module === undefined) details.open = false;
    else if (summary.nextSibling === null) summary.after(module.help(words.lang));
  };
  return details;
}

/** The field for words that rows are searched for; found gets them a moment after they were typed. */
export function searchField(words: Words, found: (search: string) => void): HTMLInputElement {
  const label = words.text('explorer.search');
  let timer = 0;
  const input: HTMLInputElement = h('input', {
    type: 'search', placeholder: label, 'aria-label': label,
    oninput: () => {
      clearTimeout(timer);
      timer = window.setTimeout(() => input.isConnected && found(input.value.trim()), 300);
    },
  });
  return input;
}
