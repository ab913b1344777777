// What the build and the development server share: where things are, how strings and sources become a bundle.

import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** Where the host serves dist. */
export const base = '/ui/auth/';

/** The bundles in the order of the fallback: the default first. */
export const bundleFiles = ['messagebundle.properties', 'messagebundle_en.properties', 'messagebundle_de.properties'];

/** The reader of .properties files that the unit tests hold, compiled for Node. */
const { parseProperties } = await loadTS(join(root, 'src/properties.ts'));

/** Compiles a dependency-free TypeScript module and loads it. */
async function loadTS(entry) {
  const out = await build({ entryPoints: [entry], bundle: true, format: 'esm', platform: 'node', write: false });
  return import('data:text/javascript;base64,' + Buffer.from(out.outputFiles[0].contents).toString('base64'));
}

const i18n = join(root, 'i18n');

/** The texts of one bundle; a fault names the file. */
export function readBundle(file, dir = i18n) {
  try {
    return parseProperties(readFileSync(join(dir, file), 'utf8'));
  } catch (err) {
    throw new Error(`i18n/${file}: ${err.message}`);
  }
}

/** Another language carries only what differs from the default, which it falls back to. */
export function difference(texts, fallback) {
  return Object.fromEntries(Object.entries(texts).filter(([key, text]) => fallback[key] !== text));
}

/** Every language as the app holds it at run time. */
export function allBundles(dir = i18n) {
  const fallback = readBundle(bundleFiles[0], dir);
  const others = bundleFiles.slice(1).map((f) => [languageOf(f), difference(readBundle(f, dir), fallback)]);
  return { '': fallback, ...Object.fromEntries(others) };
}

/** The words that only the error pages say, which the host fills in: the app does without them. */
const forErrorPages = (key) => key.startsWith('error.');

/** The words that the explorer says, of which some are everybody's. */
const everybodys = ['common.dir', 'common.loading', 'common.unreachable', 'common.reference'];
const forExplorer = (key) => key.startsWith('explorer.');

/** Those that the library for UI5 applications says. */
const forUI5 = (key) => key.startsWith('ui5.');

/** Those of the account screen, which come with its module. */
const forAccount = (key) => key.startsWith('account.');

/** Those that stand in the page, for browsers without JavaScript. */
const forPage = (key) => key.endsWith('.noScript');

/** The modules of the explorer that are loaded on demand; each has the words that begin with its name. */
const parts = ['chart', 'columns', 'counts', 'export', 'facets', 'form', 'help'];
const forPart = (key) => parts.includes(key.split('.')[0]);

/** Those that the module for steps of applications says. */
const forSteps = (key) =>
  /^common\.(offline|unreachable|timeout|failed|reference|retry.*|checkFields\..*|required|requiredChoice|loading|trouble|reload|unsafeTarget|auth_throttle|cross_origin|busy|unavailable|.*_unavailable|dispenser_contract|route_not_found|internal_error|malformed_request|request_too_large)$/.test(key);

/** The words of the app, of the account screen, of the explorer or a part of it, or of the module for steps. */
const wordsFor = (suffix) => (key) => {
  if (forPage(key)) return false;
  if (suffix === '?explorer') return forExplorer(key) || everybodys.includes(key);
  if (suffix === '?account') return forAccount(key);
  if (suffix === '?steps') return forSteps(key);
  if (suffix !== '') return key.startsWith(`${suffix.slice(1)}.`);
  return !forErrorPages(key) && !forExplorer(key) && !forUI5(key) && !forAccount(key) && !forPart(key);
};

const only = (texts, wanted) => Object.fromEntries(Object.entries(texts).filter(([key]) => wanted(key)));

/** The words of the error pages, by language. */
export function errorWords() {
  const shared = ['common.dir', 'common.legal', 'common.terms', 'common.privacy', 'common.cookies', 'common.reference', 'common.reload', 'common.trouble', 'login.title', 'explorer.title', 'onward.title', 'onward.intro', 'onward.silentTitle', 'onward.submit'];
  const needed = (texts) => Object.fromEntries(Object.entries(texts).filter(([key]) => forErrorPages(key) || shared.includes(key)));
  return Object.fromEntries(bundleFiles.slice(1).map((f) => [languageOf(f), needed(readBundle(f))]));
}

/** The words of the library for UI5 applications, by language; '' is the default. */
export function ui5Words() {
  const shared = ['common.reference', 'common.retryIn.one', 'common.retryIn.other'];
  return Object.fromEntries(Object.entries(allBundles()).map(([lang, texts]) => [lang, only(texts, (key) => forUI5(key) || shared.includes(key))]));
}

const languageOf = (file) => /_(.+)\.properties$/.exec(file)[1];

/** An import of a .properties file gives its texts, parsed here rather than in the browser. */
export const properties = {
  name: 'properties',
  setup(b) {
    b.onLoad({ filter: /\.properties$/ }, ({ path, suffix }) => {
      const file = path.slice(path.lastIndexOf('/') + 1);
      const texts = readBundle(file);
      const contents = file === bundleFiles[0] ? texts : difference(texts, readBundle(bundleFiles[0]));
      return { contents: JSON.stringify(only(contents, wordsFor(suffix))), loader: 'json', watchFiles: [path] };
    });
  },
};

/** An import of a style sheet with ?text gives its text, for a module that brings its own style. */
export const styles = {
  name: 'styles',
  setup(b) {
    b.onLoad({ filter: /\.css$/ }, async ({ path, suffix }) => {
      if (suffix !== '?text') return undefined;
      const { outputFiles } = await build({ entryPoints: [path], bundle: true, minify: true, target: options.target, charset: 'utf8', write: false });
      return { contents: outputFiles[0].text.trim(), loader: 'text', watchFiles: [path] };
    });
  },
};

/** The entry of the account screen, a module of its own. */
export const accountEntry = { account: 'src/account/index.ts' };

/** The entries of the parts of the explorer, and of their style. */
export const partEntries = { ...Object.fromEntries(parts.map((name) => [name, `src/explorer/${name}.ts`])), style: 'src/explorer/parts.css' };

/** The options of both builds. */
export const options = {
  absWorkingDir: root,
  entryPoints: { main: 'src/main.ts' },
  bundle: true,
  format: 'esm',
  target: ['chrome111', 'firefox113', 'safari16.4'],
  charset: 'utf8',
  external: [base + '*'], // what is loaded on demand
  legalComments: 'none',
  plugins: [properties, styles],
  logLevel: 'warning',
  metafile: true,
};

/** The page of the app, or of the explorer, with its assets, and with the one text that must work without them. */
export function page(js, css, title = 'login.title', noScript = 'common.noScript') {
  const escape = (s) => s.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
  const texts = bundleFiles.slice(1).map((f) => [languageOf(f), readBundle(f)]);
  const say = (t) =>
    `<h1>${escape(t[title])}</h1><p class="intro">${escape(t[noScript])}</p><p class="actions"><a class="primary" href="">${escape(t['common.reload'])}</a></p>`;
  const cards = texts.map(([lang, t]) => `<div class="card noscript" lang="${lang}">${say(t)}</div>`).join('\n');
  const noscript = `<div class="stage"><header></header><main>\n${cards}\n</main></div>`;
  return readFileSync(join(root, 'index.html'), 'utf8')
    .replace('%title%', escape(readBundle(bundleFiles[0])[title]))
    .replace('%css%', base + css)
    .replace('%js%', base + js)
    .replace('%noscript%', noscript);
}

/** The template of the error pages. Its style stands in it, since where a page fails its files may fail as well. */
export function errorPage(js, style) {
  return readFileSync(join(root, 'error.html'), 'utf8')
    .replace('%style%', () => style.trim())
    .replace('%js%', base + js);
}

/** Runs a tool when it is the program, not when it is imported. */
export function isMain(meta) {
  return meta.url === pathToFileURL(process.argv[1]).href;
}
