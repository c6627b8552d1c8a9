import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import {
  bucketNames,
  bucketsOf,
  isTimeZone,
  localDay,
  localZone,
} from '../../../src/shared/time/time-zones.ts';

const zones = ['UTC', ...Intl.supportedValuesOf('timeZone')];
const quarterMs = 15 * 60_000;
const at = (text: string) => Date.parse(text);

test('the days of every zone adjoin, cover the range, and begin with quarters of an hour', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...zones),
      fc.constantFrom(...bucketNames),
      fc.date({ min: new Date('2026-01-01'), max: new Date('2036-01-01'), noInvalidDate: true }),
      fc.integer({ min: 1, max: 40 * 24 * 60 * 60_000 }),
      (timeZone, bucket, from, length) => {
        const since = from.getTime();
        const until = since + length;
        const buckets = bucketsOf({ since, until }, { bucket, timeZone, most: 10_000 }) ?? [];
        expect(buckets[0]?.start).toBeLessThanOrEqual(since);
        expect(buckets[0]?.end).toBeGreaterThan(since);
        expect(buckets.at(-1)?.start).toBeLessThan(until);
        expect(buckets.at(-1)?.end).toBeGreaterThanOrEqual(until);
        for (const [index, { start, end }] of buckets.entries()) {
          expect(start % quarterMs).toBe(0);
          expect(end).toBe(buckets[index + 1]?.start ?? end);
          if (bucket !== 'day') continue;
          expect(localDay(start, timeZone)).toBe(localDay(end - 1, timeZone));
          expect(localDay(end, timeZone) > localDay(start, timeZone)).toBe(true);
        }
      },
    ),
    { numRuns: 300 },
  );
});

test('the local day of any time is that of the calendar of the zone', () => {
  const day = fc.date({ min: new Date('1950-01-01'), max: new Date('2036-01-01'), noInvalidDate: true });
  fc.assert(
    fc.property(fc.constantFrom(...zones), day, (timeZone, time) => {
      const calendar = new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' });
      // Clocks may change on that day.
      for (let hour = 0; hour < 26; hour += 1) {
        const at = time.getTime() + hour * 4 * quarterMs;
        expect(localDay(at, timeZone)).toBe(calendar.format(at));
      }
    }),
    { numRuns: 200 },
  );
});

test.each([
  // Clocks are put forward and back.
  ['Europe/Berlin', '2026-03-29', 23],
  ['Europe/Berlin', '2026-10-25', 25],
  ['Asia/Kathmandu', '2026-05-01', 24],
  // By half an hour.
  ['Australia/Lord_Howe', '2026-04-05', 24.5],
  // At midnight.
  ['America/Santiago', '2026-09-06', 23],
])('a day in %s, %s, has %d hours', (timeZone, day, hours) => {
  const noon = at(`${day}T12:00:00Z`);
  const [bucket] = bucketsOf({ since: noon, until: noon + 1 }, { bucket: 'day', timeZone, most: 2 }) ?? [];
  expect(bucket && localDay(bucket.start, timeZone)).toBe(day);
  expect(((bucket?.end ?? 0) - (bucket?.start ?? 0)) / 3_600_000).toBe(hours);
});

test('weeks begin on Monday, months on the first', () => {
  const range = { since: at('2026-11-21T08:00:00Z'), until: at('2026-11-21T09:00:00Z') };
  const first = (bucket: 'week' | 'month') =>
    bucketsOf(range, { bucket, timeZone: 'America/New_York', most: 9 })?.map(({ start, end }) =>
      [start, end].map((it) => new Date(it).toISOString()),
    );
  expect(first('week')).toEqual([['2026-11-16T05:00:00.000Z', '2026-11-23T05:00:00.000Z']]);
  expect(first('month')).toEqual([['2026-11-01T04:00:00.000Z', '2026-12-01T05:00:00.000Z']]);
});

test('buckets of any times that can be written end', () => {
  const year = fc.date({ min: new Date('0000-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });
  fc.assert(
    fc.property(
      fc.constantFrom(...zones),
      fc.constantFrom(...bucketNames),
      year,
      fc.integer({ min: 1, max: 40 * 24 * 60 * 60_000 }),
      (timeZone, bucket, from, length) => {
        const since = from.getTime();
        const buckets = bucketsOf({ since, until: since + length }, { bucket, timeZone, most: 10 });
        expect(buckets?.length ?? 0).toBeLessThanOrEqual(10);
      },
    ),
    {
      numRuns: 300,
      examples: [
        ['UTC', 'week', new Date('1969-01-01'), 1],
        ['UTC', 'week', new Date('0001-01-01'), 1],
      ],
    },
  );
});

test('weeks before 1970 begin on Monday, too', () => {
  const since = at('1969-01-01');
  const [week] = bucketsOf({ since, until: since + 1 }, { bucket: 'week', timeZone: 'UTC', most: 2 }) ?? [];
  expect(week).toEqual({ start: at('1968-12-30'), end: at('1969-01-06') });
});

test('too many buckets are none', () => {
  const range = { since: 0, until: at('2026-01-01') };
  for (const bucket of bucketNames)
    expect(bucketsOf(range, { bucket, timeZone: 'Europe/Berlin', most: 100 }), bucket).toBeUndefined();
});

test.each([
  ['Europe/Berlin', true],
  ['UTC', true],
  ['Nowhere/City', false],
  ['', false],
])('%j is a zone: %s', (name, is) => expect(isTimeZone(name)).toBe(is));

/** Reports: rilldata/rill#3832, oxidecomputer/console#1875, dagster-io/dagster#19391. */
test.each([['Etc/Unknown'], [''], [undefined]])('a machine whose zone is %j is in UTC', (timeZone) => {
  const options = { timeZone } as Intl.ResolvedDateTimeFormatOptions;
  const resolved = vi.spyOn(Intl.DateTimeFormat.prototype, 'resolvedOptions').mockReturnValue(options);
  expect(localZone()).toBe('UTC');
  resolved.mockRestore();
  expect(isTimeZone(localZone())).toBe(true);
});
