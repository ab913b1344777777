import assert from 'node:assert/strict';
import { test } from 'node:test';
import { again, readTries, type Tries } from '../src/retry.ts';

const now = 1_000_000;

/** The seconds until the next try. */
function pause(last: Tries | undefined, random: number): number {
  return (again(last, now, random).at - now) / 1000;
}

test('the pauses double up to half a minute', () => {
  const pauses: number[] = [];
  let last: Tries | undefined;
  let at = now;
  for (let i = 0; i < 7; i++) {
    const next = again(last, at, 0.5);
    pauses.push((next.at - at) / 1000);
    [last, at] = [next, next.at + 300]; // the page took a moment to load
  }
  assert.deepEqual(pauses, [2, 4, 8, 16, 30, 30, 30]);
});

test('nobody comes back at the same moment', () => {
  assert.equal(pause(undefined, 0), 1.5);
  assert.equal(pause({ count: 9, at: now }, 0), 22.5);
  assert.ok(pause({ count: 9, at: now }, 0.999) > 37);
});

test('another outage begins anew', () => {
  assert.equal(pause({ count: 4, at: now - 59_000 }, 0.5), 30);
  assert.equal(pause({ count: 4, at: now - 61_000 }, 0.5), 2);
  assert.equal(pause({ count: 4, at: now + 61_000 }, 0.5), 2); // a clock that was set back
});

test('what is stored is not trusted', () => {
  assert.deepEqual(readTries('{"count":2,"at":5}'), { count: 2, at: 5 });
  for (const text of [null, '', 'x', 'null', '[]', '{"count":-1,"at":5}', '{"count":1.5,"at":5}', '{"count":1}', '{"count":1,"at":null}', '{"count":"1","at":5}']) {
    assert.equal(readTries(text), undefined, String(text));
  }
});
