// Where the page starts: read what the host says about itself, then show the screen that the fragment names.

import fallback from '../i18n/messagebundle.properties';
import de from '../i18n/messagebundle_de.properties';
import en from '../i18n/messagebundle_en.properties';
import { App } from './app.ts';
import { get } from './http.ts';
import type { Bundles } from './i18n.ts';
import { screens } from './screens/index.ts';
import './styles/index.css';
import { readBootstrap, type Bootstrap } from './wire.ts';

const bundles: Bundles = DEV ? await devWords() : { '': fallback, en, de };

/** Under the development server the words are asked for, so that they can change without a build. */
async function devWords(): Promise<Bundles> {
  return (await (await fetch('/ui/auth/dev-words')).json()) as Bundles;
}

/** The data inlined in the page, or asked for where a page is served without them. */
async function bootstrap(): Promise<Bootstrap> {
  const inlined: unknown = JSON.parse(document.getElementById('bootstrap')?.textContent || '{}');
  const known = readBootstrap(inlined);
  if (known !== undefined) return known;
  const lang = new URLSearchParams(location.search).get('lang');
  const outcome = await get('/auth/bootstrap' + (lang === null ? '' : `?lang=${encodeURIComponent(lang)}`));
  const data: unknown = outcome.kind === 'ok' ? outcome.data : null;
  return readBootstrap(data) ?? unknownHost();
}

/** The least that the screens need when the host cannot say anything: its answer to the first form tells the rest. */
function unknownHost(): Bootstrap {
  const routes = { home: null, dashboard: null, terms: null, privacy: null, cookies: null };
  return { appName: '', locale: navigator.language, languages: [], logo: '', logoDark: '', routes, minLength: 0, passwords: true, passkeys: false, identities: [], pending: null, byEmail: false, session: '', next: null };
}

const root = document.getElementById('app');
if (root !== null) {
  const app = new App(await bootstrap(), bundles, screens, root);
  app.start();
  if (DEV) {
    const events = new EventSource('/ui/auth/dev-events');
    events.addEventListener('words', (e) => app.reword(JSON.parse(e.data) as Bundles));
    events.addEventListener('reload', () => location.reload());
  }
}
