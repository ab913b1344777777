// The field of the search above a table, and the help for its filters.

import { h } from '../dom.ts';
import type { Words } from '../i18n.ts';

/** How to narrow down, for those who wonder. */
export function help(words: Words): HTMLElement {
  const keys = ['explorer.help.text', 'explorer.help.number', 'explorer.help.day', 'explorer.help.key'];
  const lines = keys.map((key) => h('li', {}, words.text(key)));
  return h('details', { class: 'help' }, h('summary', {}, words.text('explorer.help')), h('ul', {}, ...lines));
}

/** The field for words that rows are searched for; found gets them a moment after they were typed. */
export function searchField(words: Words, found: (search: string) => void): HTMLInputElement {
  const label = words.text('explorer.search');
  let timer = 0;
  const input: HTMLInputElement = h('input', {
    type: 'search', placeholder: label, 'aria-label': label,
    oninput: () => {
      clearTimeout(timer);
      timer = window.setTimeout(() => found(input.value.trim()), 300);
    },
  });
  return input;
}
