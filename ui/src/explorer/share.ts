// What the page shows, for other programs: the address, curl, Power Query, and a file.

import { h } from '../dom.ts';
import type { Words } from '../i18n.ts';

/** The text for each program. The address is all that they need: nothing of this page stands between. */
export function texts(url: string): { [program: string]: string } {
  return {
    URL: url,
    curl: `curl -H 'Accept: application/json' '${url.replaceAll("'", "%27")}'`,
    'Power Query': `OData.Feed("${url.replaceAll('"', '""')}", null, [Implementation = "2.0"])`,
  };
}

/** A file with all rows, and how many these are, which is asked for when somebody looks. */
export interface Download {
  url: string;
  count(): Promise<number | undefined>;
}

/** A list of the texts with a button that copies each, and the file. */
export function share(url: string, csv: Download | undefined, words: Words, say: (text: string) => void): HTMLElement {
  const rows = Object.entries(texts(url)).map(([program, text]) => {
    const copy = h('button', { type: 'button', class: 'small', 'aria-label': words.text('explorer.copyWhat', program), onclick: () => void put(text) }, words.text('explorer.copy'));
    return h('div', { class: 'share' }, h('span', { class: 'program' }, program), h('code', { tabindex: '0' }, text), copy);
  });
  const put = async (text: string): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      say(words.text('explorer.copied'));
    } catch {
      say(words.text('explorer.notCopied'));
    }
  };
  const summary = h('summary', {}, words.text('explorer.elsewhere'));
  if (csv === undefined) return h('details', { class: 'elsewhere' }, summary, ...rows);
  const link = h('a', { class: 'button', href: csv.url, download: true }, words.text('explorer.csv'));
  let asked = false;
  const look = async (): Promise<void> => {
    if (asked) return;
    asked = true;
    const n = await csv.count();
    if (n !== undefined) link.textContent = words.plural('explorer.csvRows', n, new Intl.NumberFormat(words.lang).format(n));
  };
  return h('details', { class: 'elsewhere', ontoggle: () => void look() }, summary, ...rows, link, h('p', { class: 'hint' }, words.text('explorer.csvHint')));
}
