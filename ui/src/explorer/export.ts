// The dialog with what other programs need of a table: the file of all rows, addresses and commands.

import fallback from '../../i18n/messagebundle.properties?export';
import de from '../../i18n/messagebundle_de.properties?export';
import en from '../../i18n/messagebundle_en.properties?export';
import { h } from '../dom.ts';
import { Words } from '../i18n.ts';

/** The text for each program. The address is all that they need; token is a machine token, empty for none. */
export function texts(url: string, token = ''): { [program: string]: string } {
  const quoted = url.replaceAll("'", '%27');
  const sent = token === '' ? '' : ` -H 'Authorization: Bearer ${token.replaceAll("'", `'\\''`)}'`;
  return {
    JSON: url,
    curl: `curl -H 'Accept: application/json'${sent} '${quoted}'`,
    'Power Query': `OData.Feed("${url.replaceAll('"', '""')}", null, [Implementation = "2.0"])`,
  };
}

/** A file with all rows, and how many these are. */
export interface Download {
  url: string;
  count(): Promise<number | undefined>;
}

/** The token of this page: in memory, until the page is left. */
let kept = '';

/** Shows the dialog for the address of a query. */
export function show(url: string, csv: Download | undefined, lang: string): void {
  const words = new Words({ '': fallback, en, de }, lang);
  const status = h('p', { class: 'sr-only', role: 'status' });
  const rows = h('div', {});
  const put = async (text: string): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      status.textContent = words.text('export.copied');
    } catch {
      status.textContent = words.text('export.notCopied');
    }
  };
  const fill = (): void => {
    const list = Object.entries(texts(url, kept)).map(([program, text]) => {
      const copy = h('button', { type: 'button', class: 'small', 'aria-label': words.text('export.copyWhat', program), onclick: () => void put(text) }, words.text('export.copy'));
      return h('div', { class: 'share' }, h('span', {}, program), h('code', { tabindex: '0' }, text), copy);
    });
    rows.replaceChildren(...list);
  };
  const token: HTMLInputElement = h('input', {
    type: 'password', id: 'export-token', autocomplete: 'off', spellcheck: 'false', 'aria-describedby': 'export-token-hint', value: kept,
    oninput: () => {
      kept = token.value.trim();
      fill();
    },
  });
  fill();
  const form = h('form', { method: 'dialog' }, h('h2', { id: 'export-title' }, words.text('export.title')));
  if (csv !== undefined) form.append(...file(csv, words));
  form.append(
    h('h3', {}, words.text('export.programs')), rows,
    h('label', { for: 'export-token' }, words.text('export.token')), token, h('p', { class: 'hint', id: 'export-token-hint' }, words.text('export.tokenHint')),
    status, h('p', { class: 'actions' }, h('button', { type: 'submit' }, words.text('export.close'))),
  );
  const dialog = h('dialog', { class: 'export', 'aria-labelledby': 'export-title', onclose: () => dialog.remove() }, form);
  document.body.append(dialog);
  dialog.showModal();
}

function file(csv: Download, words: Words): HTMLElement[] {
  const link = h('a', { class: 'button main', href: csv.url, download: true }, words.text('export.csv'));
  void csv.count().then((n) => {
    if (n !== undefined) link.textContent = words.plural('export.csvRows', n, new Intl.NumberFormat(words.lang).format(n));
  });
  return [h('p', {}, link), h('p', { class: 'hint' }, words.text('export.csvHint'))];
}
