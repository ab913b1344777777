// The frame around every screen: logo, card, heading, footer links.

import { h } from './dom.ts';
import type { Problem } from './faults.ts';
import type { Words } from './i18n.ts';
import type { Page } from './page.ts';
import { strip, type Announcer } from './strip.ts';
import { safeTarget } from './target.ts';
import type { Bootstrap } from './wire.ts';

export interface Frame {
  heading: HTMLElement;
  show(page: Page, words: Words): void;
  banner(tone: Problem['tone'], text: string): void;
}

/** Builds the frame in root, in place of what the page held before. */
export function frame(boot: Bootstrap, announcer: Announcer, root: HTMLElement, speak: (lang: string) => void): Frame {
  const heading = h('h1', { tabindex: '-1' });
  const card = h('div', { class: 'card' });
  const banners = h('div', { class: 'banners' });
  const main = h('main', {}, banners, card);
  const footer = h('footer', {});
  root.replaceChildren(h('div', { class: 'stage' }, h('header', {}, logo(boot)), main, footer), ...announcer.nodes);
  return {
    heading,
    show(page, words) {
      document.documentElement.lang = words.lang;
      document.documentElement.dir = words.text('common.dir');
      document.title = [page.title, boot.appName].filter(Boolean).join(' · ');
      heading.textContent = page.title;
      card.classList.toggle('wide', page.wide === true);
      card.replaceChildren(heading, ...(page.intro ? [h('p', { class: 'intro' }, page.intro)] : []), ...page.body.filter(isContent));
      footer.replaceChildren(...footerLinks(boot, words), ...languages(boot, words, speak));
      window.scrollTo(0, 0);
    },
    banner(tone, text) {
      banners.replaceChildren(strip(tone, text));
      if (tone === 'success') setTimeout(() => banners.replaceChildren(), 6000);
    },
  };
}

const isContent = (c: unknown): c is Node | string => c instanceof Node || (typeof c === 'string' && c !== '');

/** The host's logo, or the name of the application where there is none. */
export function logo(boot: Pick<Bootstrap, 'appName' | 'logo' | 'logoDark'>): HTMLElement {
  const name = h('p', { class: 'app-name' }, boot.appName);
  const src = safeTarget(boot.logo);
  if (src === undefined) return name;
  const dark = safeTarget(boot.logoDark);
  const image = h('img', { class: dark ? 'logo' : 'logo plate', src, alt: boot.appName, onerror: () => shown.replaceWith(name) });
  const shown = dark ? h('picture', {}, h('source', { srcset: dark, media: '(prefers-color-scheme: dark)' }), image) : image;
  return shown;
}

/** A link for each optional route that the host has. */
function footerLinks(boot: Bootstrap, words: Words): Node[] {
  const { terms, privacy, cookies } = boot.routes;
  const links = [
    { key: 'common.terms', target: safeTarget(terms) },
    { key: 'common.privacy', target: safeTarget(privacy) },
    { key: 'common.cookies', target: safeTarget(cookies) },
  ].filter((l) => l.target !== undefined);
  if (links.length === 0) return [];
  const items = links.map((l) => h('li', {}, h('a', { href: l.target }, words.text(l.key))));
  return [h('nav', { 'aria-label': words.text('common.legal') }, h('ul', {}, ...items))];
}

/** The languages by their own names, for those who do not read this one. */
function languages(boot: Bootstrap, words: Words, speak: (lang: string) => void): Node[] {
  const known = boot.languages.filter((lang) => words.find(`language.${lang}`) !== undefined);
  if (known.length < 2) return [];
  const items = known.map((lang) => {
    const name = words.text(`language.${lang}`);
    const current = lang === words.lang ? 'true' : null;
    return h('li', {}, h('button', { type: 'button', id: `language-${lang}`, lang, 'aria-current': current, onclick: () => speak(lang) }, name));
  });
  return [h('nav', { 'aria-label': words.text('common.language') }, h('ul', {}, ...items))];
}
