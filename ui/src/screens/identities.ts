import type { App } from '../app.ts';
import { h } from '../dom.ts';

/** A link to each identity provider, with the page that the person wants and the language that they read. */
export function identityLinks(app: App): HTMLElement[] {
  const { boot, words } = app;
  const redirect = new URLSearchParams(location.search).get('redirect');
  const query = new URLSearchParams({ return: 'login', lang: words.lang, ...(redirect === null ? {} : { redirect }) });
  // Nobody has the identity that awaits a link: with it a person would only come back here.
  const others = boot.identities.filter((i) => i.name !== boot.pending?.name);
  return others.map(({ name, label, url }) =>
    h('a', { class: 'secondary', id: `identity-${name}`, href: `${url}?${String(query)}`, onclick: () => app.leaveFor({ purpose: 'signIn', name }) }, words.text('login.identity', label)),
  );
}
