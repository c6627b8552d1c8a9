import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { indexKinds } from '../../../../../src/daemon/storage/sqlite/metering/usage/index-kinds.ts';
import {
  filePace,
  isTimeUp,
  type Position,
  slicesOf,
} from '../../../../../src/daemon/storage/sqlite/traces/scan-calls.ts';

const calls = 5_000;

/** The slices of a list in which a call takes so long to look at. */
function slicesAt(msPerCall: number): Position[][] {
  const database = new Database(':memory:');
  database.exec(
    `CREATE TABLE call_index (workspace, kind, value, completed_at, number);
     WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < ${calls})
     INSERT INTO call_index SELECT 1, ${indexKinds.key}, 7, number / 3, number FROM numbers`,
  );
  let clock = 0;
  const range = { workspace: 1, since: 0, until: Number.MAX_SAFE_INTEGER };
  const nextSlice = slicesOf(database, {
    driver: { kind: 'key', values: [7], from: 0 },
    range,
    pace: { ...filePace, now: () => clock },
  });
  const slices: Position[][] = [];
  for (;;) {
    const { calls, isLast } = nextSlice(slices.at(-1)?.at(-1));
    slices.push(calls);
    clock += calls.length * msPerCall;
    if (isLast) break;
  }
  database.close();
  return slices;
}

describe.each([0, 0.001, 1, 40])('a list in which a call takes %s ms', (msPerCall) => {
  const slices = slicesAt(msPerCall);

  test('is read whole, newest first', () => {
    const expected = Array.from({ length: calls }, (_, index) => calls - index);
    expect(slices.flat().map(({ number }) => number)).toEqual(expected);
  });

  test('is read in slices after which the clock is looked at in time, and in few', () => {
    const lengths = slices.map(({ length }) => length);
    expect(Math.max(...lengths.slice(1)) * msPerCall).toBeLessThanOrEqual(Math.max(5, 5 * msPerCall));
    expect(lengths[0]).toBe(20);
    if (msPerCall < 0.005) expect(slices.length).toBeLessThan(8);
  });
});

test('a scan ends in time, but later where it has looked at few calls', () => {
  expect(isTimeUp({ scanned: 5_000, ms: 39, deadlineMs: 40 })).toBe(false);
  expect(isTimeUp({ scanned: 5_000, ms: 41, deadlineMs: 40 })).toBe(true);
  expect(isTimeUp({ scanned: 20, ms: 41, deadlineMs: 40 })).toBe(false);
  expect(isTimeUp({ scanned: 20, ms: 161, deadlineMs: 40 })).toBe(true);
});
