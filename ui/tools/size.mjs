// Prints what the first screen weighs and fails over budget.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { root } from './plugin.mjs';

const budget = { bytes: 24 * 1024, requests: 4 };
const dist = join(root, 'dist');
const html = readFileSync(join(dist, 'index.html'), 'utf8');
const assets = [...html.matchAll(/(?:src|href)="\/ui\/auth\/([^"]+)"/g)].map((m) => m[1]);
const kb = (n) => `${(n / 1024).toFixed(2).padStart(7)} KB`;

let br = 0;
let gz = 0;
const row = (name, raw, b, g) => {
  br += b;
  gz += g;
  console.log(`${name.padEnd(28)} ${kb(raw)} ${kb(b)} br ${kb(g)} gz`);
};
// The host fills the page for each visitor: it counts as gzip makes it, in both columns.
const page = gzipSync(html, { level: 6 }).length;
row('index.html (page)', html.length, page, page);
for (const a of assets) {
  const size = (name) => readFileSync(join(dist, name)).length;
  row(a, size(a), size(a + '.br'), size(a + '.gz'));
}
const requests = 1 + assets.length + 1; // page, assets, logo
console.log(`${'first screen'.padEnd(28)} ${' '.repeat(10)} ${kb(br)} br ${kb(gz)} gz, ${requests} requests with the logo`);
console.log(`budget: ${kb(budget.bytes).trim()} and ${budget.requests} requests`);
if (Math.max(br, gz) > budget.bytes || requests > budget.requests) {
  console.error('over budget');
  process.exit(1);
}
