// Message strips and the two live regions that announce them.

import { h, icon } from './dom.ts';
import type { Problem } from './faults.ts';
import type { Words } from './i18n.ts';

/** The one place for screen readers to listen. Made once, so that changes in it are announced. */
export class Announcer {
  private readonly polite = h('div', { class: 'sr-only', role: 'status' });
  private readonly urgent = h('div', { class: 'sr-only', role: 'alert' });
  readonly nodes = [this.polite, this.urgent];

  /** Whether what was said last holds only as long as the screen: that something is under way. */
  private passing = false;

  say(text: string, passing = false): void {
    this.polite.textContent = text;
    this.passing = passing;
  }

  /** Takes what was only under way off the next screen. */
  leave(): void {
    if (this.passing) this.say('');
  }

  alert(text: string): void {
    // Emptied first: the same words twice are news twice.
    this.urgent.textContent = '';
    setTimeout(() => (this.urgent.textContent = text), 50);
  }
}

export function strip(tone: Problem['tone'], ...content: (Node | string)[]): HTMLElement {
  return h('div', { class: `strip ${tone}` }, icon(tone), h('div', {}, ...content));
}

/** Counts down to another try: words for people who look, changed each second and kept from screen readers. */
export class Countdown {
  readonly node = h('p', { class: 'countdown', 'aria-hidden': 'true' });
  private readonly until: number;
  private readonly timer: number;

  constructor(
    private readonly words: Words,
    seconds: number,
    private readonly done: () => void,
  ) {
    this.until = Date.now() + seconds * 1000;
    this.timer = window.setInterval(() => this.tick(), 250);
    this.tick();
  }

  stop(): void {
    window.clearInterval(this.timer);
  }

  private tick(): void {
    const left = Math.ceil((this.until - Date.now()) / 1000);
    const text = waitText(this.words, left);
    if (this.node.textContent !== text) this.node.textContent = text;
    if (left > 0) return;
    this.stop();
    this.done();
  }
}

/** Seconds up to two minutes, whole minutes above. */
export function waitText(words: Words, seconds: number): string {
  if (seconds <= 120) return words.plural('common.retryIn', Math.max(0, seconds));
  return words.plural('common.retryInMinutes', Math.ceil(seconds / 60));
}
