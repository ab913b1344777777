// Where the explorer starts: read what the service has, then show what the address names.

import fallback from '../../i18n/messagebundle.properties?explorer';
import de from '../../i18n/messagebundle_de.properties?explorer';
import en from '../../i18n/messagebundle_en.properties?explorer';
import { h } from '../dom.ts';
import { logo } from '../frame.ts';
import { Words } from '../i18n.ts';
import { strip } from '../strip.ts';
import { readModel } from './model.ts';
import { ask, root } from './service.ts';
import './explorer.css';
import { View } from './view.ts';

interface Boot {
  app_name?: string;
  locale?: string;
  logo?: string;
  logo_dark?: string;
  signed_in?: boolean;
}

const boot = JSON.parse(document.getElementById('bootstrap')?.textContent || '{}') as Boot;
const words = new Words({ '': fallback, en, de }, boot.locale ?? navigator.language);
document.documentElement.lang = words.lang;
document.documentElement.dir = words.text('common.dir');
document.title = [words.text('explorer.title'), boot.app_name ?? ''].filter(Boolean).join(' · ');

const nav = h('nav', { class: 'sets', 'aria-label': words.text('explorer.sets') });
const main = h('main', { id: 'main' }, h('p', { class: 'hint' }, words.text('common.loading')));
const status = h('p', { class: 'sr-only', role: 'status' });
const app = document.getElementById('app');
app?.replaceChildren(h('a', { class: 'skip', href: '#main', onclick: toMain }, words.text('explorer.skip')), header(), h('div', { class: 'columns' }, nav, main), status);

// A page that the browser kept as it was may be of somebody who has signed out.
window.addEventListener('pageshow', (event) => event.persisted && location.reload());

/** Leads past the list of sets without changing the address, which is the state of the page. */
function toMain(event: Event): void {
  event.preventDefault();
  (main.querySelector('h1') ?? main).focus();
}

function header(): HTMLElement {
  // The name of a link has in it what people see (WCAG 2.5.3).
  const title = words.text('explorer.title');
  const shown = logo({ appName: boot.app_name || title, logo: boot.logo ?? '', logoDark: boot.logo_dark ?? '' });
  const out = h('form', { method: 'post', action: '/logout' }, h('button', { class: 'small' }, words.text('explorer.signOut')));
  return h('header', {}, h('a', { href: '#/', class: 'home', 'aria-label': [boot.app_name, title].filter(Boolean).join(' · ') }, shown), boot.signed_in === true && out);
}

// The host has this address loaded beside the script, which counts where the request is the same, without headers of its own.
const answer = await ask(`$metadata?$format=json&sap-language=${boot.locale ?? words.lang}`, AbortSignal.timeout(30_000));
const sets = answer.kind === 'ok' ? readModel(answer.data) : new Map();
if (answer.kind === 'ok' && sets.size > 0) {
  new View(sets, words, { main, nav, status }).start();
} else if (answer.kind === 'refused' && (answer.status === 401 || answer.status === 403)) {
  const to = `/login?redirect=${encodeURIComponent(root)}${location.hash}`;
  main.replaceChildren(h('h1', {}, words.text('explorer.title')), strip('warning', words.text('explorer.signedOut')), h('a', { class: 'button', href: to }, words.text('explorer.signIn')));
} else {
  main.replaceChildren(h('h1', {}, words.text('explorer.title')), strip('error', words.text(answer.kind === 'ok' ? 'explorer.empty' : 'common.unreachable')));
}
