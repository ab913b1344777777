import type { App } from '../app.ts';
import { h } from '../dom.ts';
import type { Problem } from '../faults.ts';
import type { Page } from '../page.ts';
import { paths } from '../route.ts';
import { strip } from '../strip.ts';

/** The end of the way: what happened, and the two ways out. */
export function trouble(app: App, p: Problem): Page {
  const { words } = app;
  const lines = p.lines.map((line) => h('p', {}, line));
  if (p.requestId) lines.push(h('p', { class: 'reference' }, words.text('common.reference', p.requestId)));
  app.announcer.alert(p.lines.join(' '));
  const reload = h('button', { type: 'button', class: 'primary', onclick: () => location.reload() }, words.text('common.reload'));
  const leave = h('a', { href: paths.signOut, class: 'back' }, words.text('signOut.title'));
  return {
    title: words.text('common.trouble'),
    body: [strip(p.tone, ...lines), h('div', { class: 'actions' }, reload, leave)],
  };
}
