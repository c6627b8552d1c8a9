import { expect, test } from 'vitest';
import { bucketsOf } from '../../../../src/shared/time/time-zones.ts';
import { rangeOf } from '../../../../src/web/screens/calls/histogram-range.ts';

const at = Date.parse('2026-11-28T12:03:00Z');
const ends = ['0000-01-01', '1960-01-01', '2019-12-31', '2020-01-01', '2026-11-28', '30d', '9999-12-31', 'x'];

test('whatever times a link names, a histogram has a few hundred buckets', () => {
  for (const since of [undefined, ...ends]) {
    for (const until of [undefined, ...ends]) {
      const range = rangeOf({ ...(since && { since }), ...(until && { until }) }, at);
      const [start, end] = [Date.parse(range.since), Date.parse(range.until)];
      expect(end, `${since} ${until}`).toBeGreaterThan(start);
      const buckets = bucketsOf(
        { since: start, until: end },
        { bucket: range.bucket, timeZone: 'UTC', most: 400 },
      );
      expect(buckets?.length, `${since} ${until}`).toBeGreaterThan(0);
    }
  }
});

test('without times it is the last day', () => {
  const range = { since: '2026-11-27T12:15:00.000Z', until: '2026-11-28T12:15:00.000Z', bucket: '15m' };
  expect(rangeOf({}, at)).toEqual(range);
  expect(rangeOf({ since: '1960-01-01' }, at)).toMatchObject({
    since: '2020-01-01T00:00:00.000Z',
    bucket: 'week',
  });
});
