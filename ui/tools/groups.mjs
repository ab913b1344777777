// Compiles test/groups.ts into a file for Node: node tools/groups.mjs FILE

import { join } from 'node:path';
import { build } from 'esbuild';
import { properties, root } from './plugin.mjs';

await build({
  entryPoints: [join(root, 'test/groups.ts')],
  outfile: process.argv[2],
  bundle: true,
  format: 'esm',
  platform: 'node',
  sourcemap: 'inline',
  plugins: [properties],
  logLevel: 'warning',
});
