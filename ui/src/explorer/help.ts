// How to write filters: loaded when somebody opens the help above a table.

import fallback from '../../i18n/messagebundle.properties?help';
import de from '../../i18n/messagebundle_de.properties?help';
import en from '../../i18n/messagebundle_en.properties?help';
import { h } from '../dom.ts';
import { Words } from '../i18n.ts';

/** A list of the forms that a filter may have. */
export function help(lang: string): HTMLElement {
  const words = new Words({ '': fallback, en, de }, lang);
  return h('ul', {}, ...['help.text', 'help.number', 'help.day', 'help.key'].map((key) => h('li', {}, words.text(key))));
}
