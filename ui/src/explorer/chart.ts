// Bars for the groups of a table: each with its name and its value as text.

import fallback from '../../i18n/messagebundle.properties?chart';
import de from '../../i18n/messagebundle_de.properties?chart';
import en from '../../i18n/messagebundle_en.properties?chart';
import { h } from '../dom.ts';
import { Words } from '../i18n.ts';

/** A group of the table. */
export interface Bar {
  name: string;
  /** The value as the table shows it; empty for none. */
  text: string;
  value: number | undefined;
}

/** Where a bar begins and how long it is, as parts of the width; undefined for no value. */
export function spans(values: (number | undefined)[]): ({ from: number; size: number } | undefined)[] {
  const known = values.filter((v): v is number => v !== undefined && Number.isFinite(v));
  const low = Math.min(0, ...known);
  const range = Math.max(0, ...known) - low;
  return values.map((v) => {
    if (v === undefined || !Number.isFinite(v)) return undefined;
    return range === 0 ? { from: 0, size: 0 } : { from: (Math.min(0, v) - low) / range, size: Math.abs(v) / range };
  });
}

/** The figure of these groups; partly says that the table has further pages of groups. */
export function chart(bars: Bar[], title: string, partly: boolean, lang: string): HTMLElement {
  const words = new Words({ '': fallback, en, de }, lang);
  const all = spans(bars.map((b) => b.value));
  const items = bars.map((b, i) => {
    const bar = h('span', { class: 'bar' });
    const span = all[i];
    bar.style.marginInlineStart = `${String((span?.from ?? 0) * 100)}%`;
    bar.style.inlineSize = `${String((span?.size ?? 0) * 100)}%`;
    return h('li', {}, h('span', { class: 'name' }, b.name), h('span', { class: 'track', 'aria-hidden': 'true' }, bar), h('span', { class: 'number' }, b.text || words.text('chart.none')));
  });
  const caption = h('figcaption', { id: 'chart-title' }, title, partly && h('span', { class: 'hint' }, ` ${words.text('chart.partly')}`));
  return h('figure', { class: 'chart', tabindex: '0', 'aria-labelledby': caption.id }, caption, h('ol', {}, ...items));
}
