// What takes long says so, and can be stopped.

import { h } from '../dom.ts';
import type { Words } from '../i18n.ts';

/** How long a request may take before the page says that it waits, in milliseconds. */
const moment = 500;

/** Ends an act before it begins anew: a double click opens one dialog. */
export function once(act: () => Promise<unknown>): () => void {
  let running = false;
  return () => {
    if (!running) void act().finally(() => (running = false));
    running = true;
  };
}

export class Waiting {
  readonly element = h('div', { class: 'waiting' });
  private readonly words: Words;
  private readonly say: (text: string) => void;
  private timer = 0;

  constructor(words: Words, say: (text: string) => void) {
    this.words = words;
    this.say = say;
  }

  /** Says after a moment that something is awaited, with a button that stops it. */
  begin(stop: () => void): void {
    this.end();
    this.timer = window.setTimeout(() => {
      const text = this.words.text('common.loading');
      this.element.replaceChildren(h('span', { class: 'hint' }, text), h('button', { type: 'button', class: 'small', onclick: stop }, this.words.text('explorer.stop')));
      this.say(text);
    }, moment);
  }

  end(): void {
    clearTimeout(this.timer);
    this.element.replaceChildren();
  }
}
