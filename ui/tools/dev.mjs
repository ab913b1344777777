// The development server: this app from its sources, everything else from a running host. A change of the words appears
// in the open page with what was typed still there; any other change loads it again.
//
//   HOST_URL=http://127.0.0.1:8080 PORT=5173 npm run dev
//
// I18N_DIR names another folder for the words, such as a translator's.

import { watch } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { join } from 'node:path';
import { context } from 'esbuild';
import { accountEntry, allBundles, base, options, page, root, styles } from './plugin.mjs';

const target = new URL(process.env.HOST_URL ?? 'http://127.0.0.1:8080');
const port = Number(process.env.PORT ?? 5173);
const i18n = process.env.I18N_DIR ?? join(root, 'i18n');
const listeners = new Set();
let built = new Map();
let fingerprint = '';
let words = allBundles(i18n);

/** Sends an event to every open page. */
function broadcast(event, data = '{}') {
  for (const response of listeners) response.write(`event: ${event}\ndata: ${data}\n\n`);
}

/** The words come from dev-words, so a change of them needs no build and loses no input. */
const emptyWords = {
  name: 'empty-words',
  setup(b) {
    b.onResolve({ filter: /\.properties(\?|$)/ }, ({ path }) => ({ path, namespace: 'words' }));
    b.onLoad({ filter: /.*/, namespace: 'words' }, () => ({ contents: '{}', loader: 'json' }));
  },
};

const reload = {
  name: 'reload',
  setup(b) {
    b.onEnd(({ errors, outputFiles }) => {
      if (errors.length > 0) return;
      const before = fingerprint;
      fingerprint = outputFiles.map((f) => f.hash).join();
      built = new Map(outputFiles.map((f) => [f.path.slice(f.path.lastIndexOf('/') + 1), f.contents]));
      if (fingerprint !== before) broadcast('reload');
    });
  },
};

function rereadWords() {
  try {
    words = allBundles(i18n);
    broadcast('words', JSON.stringify(words));
  } catch (err) {
    console.error(err.message);
  }
}

/** Passes a request on as if it had been sent to the host itself, and its answer back. */
function proxy(request, response, transform) {
  const headers = { ...request.headers, host: target.host };
  if (headers.origin) headers.origin = target.origin;
  if (headers.referer) headers.referer = headers.referer.replace(/^https?:\/\/[^/]+/, target.origin);
  if (transform) delete headers['accept-encoding'];
  const client = target.protocol === 'https:' ? https : http;
  const onward = client.request(new URL(request.url, target), { method: request.method, headers }, (answer) => {
    const out = { ...answer.headers };
    if (out.location) out.location = out.location.replace(target.origin, `http://${request.headers.host}`);
    if (!transform || answer.statusCode !== 200) {
      response.writeHead(answer.statusCode, out);
      answer.pipe(response);
      return;
    }
    const chunks = [];
    answer.on('data', (c) => chunks.push(c));
    answer.on('end', () => {
      delete out['content-length'];
      response.writeHead(200, out);
      response.end(transform(Buffer.concat(chunks).toString('utf8')));
    });
  });
  onward.on('error', (err) => {
    response.writeHead(502, { 'Content-Type': 'text/plain' });
    response.end(`${target.origin} does not answer (${err.code ?? err.message}). Start the host, or set HOST_URL.\n`);
  });
  request.pipe(onward);
}

/** The page of the sources with the data that the host has put into its own. */
function ownPage(hostPage) {
  const data = /<script type="application\/json" id="bootstrap">(.*?)<\/script>/s.exec(hostPage)?.[1] ?? '{}';
  const lang = /<html lang="([^"]*)"/.exec(hostPage)?.[1] ?? 'en';
  return page('main.js', 'main.css')
    .replace('id="bootstrap">{}', () => `id="bootstrap">${data}`)
    .replace('<html lang="en"', `<html lang="${lang}"`);
}

function serve(request, response) {
  const { pathname } = new URL(request.url, 'http://localhost');
  const send = (type, body) => {
    response.writeHead(200, { 'Content-Type': type, 'Cache-Control': 'no-store' });
    response.end(body);
  };
  const asset = built.get(pathname.slice(base.length));
  if (pathname === base + 'dev-events') {
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
    response.write(': open\n\n');
    listeners.add(response);
    request.on('close', () => listeners.delete(response));
  } else if (pathname === base + 'dev-words') send('application/json', JSON.stringify(words));
  else if (pathname.startsWith(base) && asset) send(pathname.endsWith('.css') ? 'text/css' : 'text/javascript', asset);
  else if (request.method === 'GET' && pathname === '/login') proxy(request, response, ownPage);
  else proxy(request, response);
}

const build = await context({
  ...options,
  entryPoints: { ...options.entryPoints, ...accountEntry },
  define: { DEV: 'true', ACCOUNT: JSON.stringify(base + 'account.js') },
  sourcemap: 'inline',
  outdir: join(root, 'dist'),
  write: false,
  plugins: [emptyWords, styles, reload],
});
await build.rebuild(); // the first page must find its assets
await build.watch();
watch(i18n, rereadWords);
http.createServer(serve).listen(port, '127.0.0.1', function () {
  console.log(`http://localhost:${this.address().port}/login shows the sources; everything else comes from ${target.origin}`);
});
