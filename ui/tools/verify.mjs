// Builds twice into fresh folders and compares both with the committed ones, byte by byte.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { buildInto } from './build.mjs';
import { root } from './plugin.mjs';
import { buildStepsInto } from './steps.mjs';
import { buildUI5Into } from './ui5.mjs';

const files = (dir) =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((e) => e.isFile())
    .map((e) => relative(dir, join(e.parentPath ?? e.path, e.name)))
    .sort();

const builds = [
  { committed: join(root, 'dist'), into: buildInto },
  { committed: join(root, 'ui5/dist'), into: buildUI5Into },
  { committed: join(root, 'steps/dist'), into: buildStepsInto },
];
const scratch = mkdtempSync(join(tmpdir(), 'ui-verify-'));
const differences = [];
try {
  for (const { committed, into } of builds) {
    for (const round of ['first', 'second']) {
      const dir = join(scratch, round);
      await into(dir);
      for (const name of new Set([...files(committed), ...files(dir)])) {
        const read = (d) => {
          try {
            return readFileSync(join(d, name));
          } catch {
            return Buffer.from('missing');
          }
        };
        if (!read(committed).equals(read(dir))) differences.push(`${relative(root, join(committed, name))} (${round} build)`);
      }
    }
  }
} finally {
  rmSync(scratch, { recursive: true });
}
if (differences.length > 0) {
  console.error(`dist is not what the sources give; run "npm run build" and commit it:\n  ${differences.join('\n  ')}`);
  process.exit(1);
}
console.log(`dist matches its sources: ${builds.flatMap(({ committed }) => files(committed)).length} files, built twice`);
