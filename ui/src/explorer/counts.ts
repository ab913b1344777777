// Numbers of rows beside links: asked for once a link is seen, two at a time, and left to the reader where they take long.

import fallback from '../../i18n/messagebundle.properties?counts';
import de from '../../i18n/messagebundle_de.properties?counts';
import en from '../../i18n/messagebundle_en.properties?counts';
import { h } from '../dom.ts';
import { Words } from '../i18n.ts';
import { ask } from './service.ts';
import type { Waiting } from './wait.ts';

/** A place for the number of rows behind a path. */
export interface Counted {
  path: string;
  label: string;
  into: HTMLElement;
}

/** How many requests run at a time. */
const atOnce = 2;

/** How long a number may take that nobody asked for, in milliseconds. */
const patience = 2000;

/** Fills in the numbers of the places that are seen, until left is aborted or somebody stops it. */
export function counts(places: Counted[], lang: string, left: AbortSignal, wait: Waiting): void {
  const words = new Words({ '': fallback, en, de }, lang);
  const numbers = new Intl.NumberFormat(words.lang);
  const queue: Counted[] = [];
  const stop = new AbortController();
  let running = 0;

  const put = async (place: Counted, stopped: AbortSignal, time?: number): Promise<void> => {
    const one = new AbortController();
    for (const signal of [left, stopped]) signal.addEventListener('abort', () => one.abort());
    const timer = time === undefined ? 0 : window.setTimeout(() => one.abort(), time);
    const answer = await ask(`${place.path}/$count`, one.signal, words.lang);
    clearTimeout(timer);
    const n = answer.kind === 'ok' ? Number(answer.data['value']) : NaN;
    if (left.aborted) return;
    if (Number.isFinite(n)) place.into.replaceChildren(words.plural('counts.rows', n, numbers.format(n)));
    else later(place);
  };
  /** A button for a number that takes long. */
  const later = (place: Counted): void => {
    const count = async (): Promise<void> => {
      const one = new AbortController();
      wait.begin(() => one.abort());
      await put(place, one.signal);
      if (!left.aborted) wait.end();
    };
    place.into.replaceChildren(h('button', { type: 'button', class: 'small', 'aria-label': words.text('counts.countOf', place.label), onclick: () => void count() }, words.text('counts.count')));
  };
  const next = async (): Promise<void> => {
    const place = queue.shift();
    if (place === undefined || left.aborted) return;
    if (stop.signal.aborted) {
      later(place);
      void next();
      return;
    }
    if (running === 0) wait.begin(() => halt());
    running++;
    await put(place, stop.signal, patience);
    running--;
    if (left.aborted) return;
    if (running === 0 && queue.length === 0) wait.end();
    void next();
  };
  const halt = (): void => {
    stop.abort();
    wait.end();
    for (const place of queue.splice(0)) later(place);
  };
  const seen = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      const place = isIntersecting ? places.find((p) => p.into === target) : undefined;
      if (place === undefined) continue;
      seen.unobserve(target);
      queue.push(place);
      if (running < atOnce) void next();
    }
  });
  for (const { into } of places) seen.observe(into);
  left.addEventListener('abort', () => seen.disconnect());
}
