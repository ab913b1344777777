import type { App } from '../app.ts';
import { h } from '../dom.ts';
import type { Page } from '../page.ts';
import { paths } from '../route.ts';

/** In place of leading to one page again and again, or of waiting for one that does not come. */
export function onward(app: App, go: () => void, why: 'circle' | 'silence'): Page {
  const { words, boot } = app;
  const button = h('button', { type: 'button', class: 'primary', onclick: go }, words.text('onward.submit'));
  const leave = h('a', { href: paths.signOut, class: 'back' }, words.text('signOut.title'));
  return {
    title: words.text(why === 'circle' ? 'onward.title' : 'onward.silentTitle'),
    intro: words.text(why === 'circle' ? 'onward.intro' : 'onward.silent', boot.appName),
    body: [h('div', { class: 'actions' }, button, leave)],
    focus: button,
  };
}
