// Builds the library for UI5 applications: each module of ui5/src, smaller, in the form that UI5's loader takes. What one
// module needs of the others is in its file, since a page on a slow line waits for each round trip.

import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { transform } from 'esbuild';
import { write, writeCompressed } from './build.mjs';
import { isMain, root, ui5Words } from './plugin.mjs';

const src = join(root, 'ui5/src');

/** The modules that are in the files of others, which applications ask for; one may be in several. */
const parts = {
  'Session.js': ['words.js', 'box.js', 'refusals.js', 'leaving.js', 'faults.js'],
  'mdc/FilterBarDelegate.js': ['mdc/metadata.js', 'mdc/fields.js'],
  'mdc/TableDelegate.js': ['mdc/metadata.js', 'mdc/fields.js', 'mdc/cells.js', 'mdc/phrases.js'],
  'mdc/ValueHelpDelegate.js': ['mdc/phrases.js'],
};

export async function buildUI5Into(dist) {
  rmSync(dist, { recursive: true, force: true });
  const files = readdirSync(src, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(src.length + 1).replaceAll('\\', '/'))
    .sort();
  const inner = new Set(Object.values(parts).flat());
  for (const name of files.filter((file) => !inner.has(file))) {
    const before = (parts[name] ?? []).map((part) => named(part, read(part)));
    const { code } = await transform([...before, read(name)].join('\n'), {
      minify: true,
      target: ['chrome111', 'firefox113', 'safari16.4'],
      charset: 'utf8',
      legalComments: 'none',
    });
    writeCompressed(dist, name, Buffer.from(code));
  }
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  write(dist, 'manifest.json', JSON.stringify({ name: 'vestibule', version, core: version.split('.')[0] }) + '\n');
}

function read(name) {
  return readFileSync(join(src, name), 'utf8').replace("'%bundles%'", () => JSON.stringify(ui5Words()));
}

/** A module as it stands in the file of another one. */
function named(name, text) {
  return text.replace('sap.ui.define(', `sap.ui.predefine('vestibule/${name.replace(/\.js$/, '')}', `);
}

if (isMain(import.meta)) await buildUI5Into(join(root, 'ui5/dist'));
