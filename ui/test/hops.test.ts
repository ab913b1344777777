import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hop, readHops, type Hops } from '../src/hops.ts';

function after(target: string, ...times: number[]): boolean[] {
  let hops: Hops | undefined;
  return times.map((now) => {
    const next = hop(hops, target, now);
    hops = next.hops;
    return next.circles;
  });
}

test('hops: the third time within ten seconds waits for the person', () =>
  assert.deepEqual(after('/terms', 0, 100, 200, 300), [false, false, true, true]));

test('hops: slower than that is no circle', () => assert.deepEqual(after('/terms', 0, 6_000, 12_000, 18_000), [false, false, false, false]));

test('hops: another target is counted by itself', () => {
  const { hops } = hop({ target: '/terms', times: [0, 1] }, '/code', 2);
  assert.deepEqual(hops, { target: '/code', times: [2] });
});

test('hops: times that are yet to come do not count', () =>
  assert.equal(hop({ target: '/terms', times: [50_000, 50_001] }, '/terms', 0).circles, false));

test('hops: what was stored is not trusted', () => {
  for (const text of [null, '', 'x', '7', 'null', '{}', '{"target":7,"times":[]}', '{"target":"/","times":7}']) assert.equal(readHops(text), undefined);
  assert.deepEqual(readHops('{"target":"/","times":[1,"2",null]}'), { target: '/', times: [1] });
});
