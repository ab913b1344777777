// Builds the module and the style sheet for steps on pages of applications. Their names are the same in every version, since
// applications write them in their pages; caches ask whether they still hold.

import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { baseName, write, writeCompressed } from './build.mjs';
import { isMain, options, root } from './plugin.mjs';

export async function buildStepsInto(dist) {
  const { outputFiles } = await build({
    ...options,
    minify: true,
    entryPoints: ['steps/src/steps.ts', 'steps/src/steps.css'],
    entryNames: '[name]',
    outdir: dist,
    write: false,
  });
  rmSync(dist, { recursive: true, force: true });
  for (const file of outputFiles) writeCompressed(dist, baseName(file.path), file.contents);
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  write(dist, 'manifest.json', JSON.stringify({ name: 'steps', version, core: version.split('.')[0] }) + '\n');
}

if (isMain(import.meta)) await buildStepsInto(join(root, 'steps/dist'));
