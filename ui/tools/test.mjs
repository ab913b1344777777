// Compiles test/*.test.ts and runs them with Node's own runner.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { properties, root } from './plugin.mjs';

const tests = readdirSync(join(root, 'test')).filter((f) => f.endsWith('.test.ts'));
const out = mkdtempSync(join(root, 'node_modules/.test-'));
let status = 1;
try {
  await build({
    entryPoints: tests.map((t) => join(root, 'test', t)),
    outdir: out,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    format: 'esm',
    platform: 'node',
    sourcemap: 'inline',
    plugins: [properties],
    logLevel: 'warning',
  });
  const files = readdirSync(out).map((f) => join(out, f));
  status = spawnSync(process.execPath, ['--enable-source-maps', '--test', ...files], { stdio: 'inherit' }).status ?? 1;
} finally {
  rmSync(out, { recursive: true });
}
process.exit(status);
