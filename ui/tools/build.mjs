// Builds dist: hashed assets, the page, the manifest, the bundles, and what is compressed ahead. The same sources give
// the same bytes on any machine: the compressors are the pinned packages, not those of the Node at hand.

import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { gzip } from 'pako';
import { accountEntry, base, bundleFiles, errorPage, errorWords, isMain, options, page, partEntries, root } from './plugin.mjs';

const brotli = createRequire(import.meta.url)('brotli-wasm');

export async function buildInto(dist) {
  const shared = { ...options, minify: true, entryNames: 'assets/[name]-[hash]', outdir: dist, write: false };
  // What is loaded on demand first: the app and the explorer name it by the hash of its content.
  const late = await build({ ...shared, entryPoints: { ...accountEntry, ...partEntries }, define: { DEV: 'false', ACCOUNT: '""', PARTS: '{}' } });
  const address = Object.fromEntries(late.outputFiles.map(({ path }) => [baseName(path).split('-')[0], base + 'assets/' + baseName(path)]));
  const { account, ...parts } = address;
  const result = await build({
    ...shared,
    entryPoints: { main: 'src/main.ts', error: 'src/error.ts', explorer: 'src/explorer/main.ts' },
    define: { DEV: 'false', ACCOUNT: JSON.stringify(account), PARTS: JSON.stringify(parts) },
  });
  rmSync(dist, { recursive: true, force: true });
  const names = {};
  let style = '';
  for (const file of [...late.outputFiles, ...result.outputFiles]) {
    const name = 'assets/' + baseName(file.path);
    names[name.replace(/-[^-]+\./, '.')] = name;
    if (/\/main-[^/]+\.css$/.test(name)) style = file.text;
    writeCompressed(dist, name, file.contents);
  }
  write(dist, 'index.html', page(names['assets/main.js'], names['assets/main.css']));
  write(dist, 'explorer.html', page(names['assets/explorer.js'], names['assets/explorer.css'], 'explorer.title', 'explorer.noScript'));
  write(dist, 'error.html', errorPage(names['assets/error.js'], style));
  write(dist, 'errors.json', JSON.stringify(errorWords()) + '\n');
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const [core] = version.split('.');
  write(dist, 'manifest.json', JSON.stringify({ name: 'auth', version, core, entry: 'index.html' }) + '\n');
  for (const file of bundleFiles) cpSync(join(root, 'i18n', file), join(dist, 'i18n', file));
}

export const baseName = (path) => path.slice(path.lastIndexOf('/') + 1);

export function writeCompressed(dist, name, contents) {
  write(dist, name, contents);
  write(dist, name + '.br', brotli.compress(contents, { quality: 11 }));
  write(dist, name + '.gz', gzip(contents, { level: 9 }));
}

export function write(dist, name, contents) {
  const path = join(dist, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, contents);
}

if (isMain(import.meta)) await buildInto(join(root, 'dist'));
