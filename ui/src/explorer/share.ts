// What the page shows, for other programs: the address, curl, and Power Query.

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

/** A list of the texts with a button that copies each. */
export function share(url: string, csv: string | undefined, words: Words, say: (text: string) => void): HTMLElement {
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
  const download = csv === undefined ? null : h('a', { class: 'button', href: csv, download: true }, words.text('explorer.csv'));
  return h('details', { class: 'elsewhere' }, h('summary', {}, words.text('explorer.elsewhere')), ...rows, download);
}
