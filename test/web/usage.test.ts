import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Result } from '../../src/shared/contract/endpoint.ts';
import type { getUsageSeries } from '../../src/shared/contract/usage.ts';
import { formatUsd } from '../../src/shared/money/money.ts';
import { usagePeriod, usageRanges } from '../../src/web/screens/usage/usage-period.ts';
import { csvOfRows, rowsOfSeries, rowsOverTime, totalOf } from '../../src/web/screens/usage/usage-rows.ts';

type Series = Result<typeof getUsageSeries>;

const hourMs = 3_600_000;

describe('periods', () => {
  const zones = fc.constantFrom(
    'UTC',
    'Europe/Berlin',
    'America/St_Johns',
    'Australia/Lord_Howe',
    'Asia/Kathmandu',
  );
  const times = fc.integer({ min: Date.parse('2020-01-01'), max: Date.parse('2030-01-01') });

  test('are whole buckets that end with the one of now, and the period before ends where they begin', () => {
    fc.assert(
      fc.property(zones, times, fc.constantFrom(...usageRanges), (timeZone, now, range) => {
        const { buckets } = usagePeriod({ range, bucket: null }, now, timeZone);
        for (const bucket of buckets) {
          const period = usagePeriod({ range, bucket }, now, timeZone);
          const [before, since, until] = [period.before, period.since, period.until].map((it) =>
            Date.parse(it),
          );
          expect(until).toBeGreaterThan(now);
          expect(since).toBeLessThanOrEqual(now);
          const length = (until as number) - (since as number);
          // Months and days differ in length, and quarters from each other by days.
          expect(Math.abs((since as number) - (before as number) - length)).toBeLessThanOrEqual(
            4 * 24 * hourMs,
          );
        }
      }),
    );
  });

  test('days begin at midnight of the zone, and a bucket that the range has not is replaced', () => {
    const now = Date.parse('2026-11-24T12:00:00Z');
    const period = usagePeriod({ range: '7d', bucket: 'month' }, now, 'Europe/Berlin');
    expect(period).toMatchObject({
      bucket: 'day',
      since: '2026-11-17T23:00:00.000Z',
      until: '2026-11-24T23:00:00.000Z',
      before: '2026-11-10T23:00:00.000Z',
    });
    expect(usagePeriod({ range: 'ever', bucket: null }, now, 'UTC').range).toBe('30d');
  });

  test('of one’s own have whole buckets that contain them, and as many before', () => {
    fc.assert(
      fc.property(
        zones,
        times,
        fc.integer({ min: 60_000, max: 700 * 24 * hourMs }),
        (timeZone, since, length) => {
          const custom = { since, until: since + length };
          const { buckets } = usagePeriod({ range: null, bucket: null }, since, timeZone, custom);
          for (const bucket of buckets) {
            const period = usagePeriod({ range: null, bucket }, since, timeZone, custom);
            expect(Date.parse(period.since)).toBeLessThanOrEqual(custom.since);
            expect(Date.parse(period.until)).toBeGreaterThanOrEqual(custom.until);
            expect(Date.parse(period.before)).toBeLessThan(Date.parse(period.since));
            expect(period.bucket).toBe(bucket);
          }
        },
      ),
    );
  });
});

describe('rows', () => {
  const amount = fc.integer({ min: 0, max: 10 ** 12 }).map((nano) => formatUsd(nano));
  const values = <T>(value: fc.Arbitrary<T>) => fc.array(value, { minLength: 3, maxLength: 3 });
  const counts = values(fc.integer({ min: 1, max: 10_000 }));
  const one = fc.record({
    group: fc.option(fc.constantFrom('a', 'b,"c', '=1+1', 'd\ne')),
    is_other: fc.boolean(),
    requests: counts,
    rejected: counts,
    errors: counts,
    input_tokens: counts,
    cached_input_tokens: counts,
    output_tokens: counts,
    cost_usd: values(amount),
    charged_usd: values(amount),
  });
  const starts = ['2026-11-22T00:00:00Z', '2026-11-23T00:00:00Z', '2026-11-24T00:00:00Z'];
  const series = fc.array(one, { maxLength: 5 }).map(
    (all): Series => ({
      object: 'usage.series',
      tz: 'UTC',
      bucket: 'day',
      buckets: starts.map((start) => ({
        start,
        end: new Date(Date.parse(start) + 24 * hourMs).toISOString(),
      })),
      is_partial: true,
      series: all,
    }),
  );

  test('by group and by time add up to the same, exactly', () => {
    fc.assert(
      fc.property(series, (data) => {
        expect(totalOf(rowsOverTime(data))).toEqual(totalOf(rowsOfSeries(data)));
      }),
    );
  });

  test('as CSV have a line each, with the numbers as they are, and no formulas', () => {
    const data: Series = {
      ...fc.sample(series, 1)[0],
      series: [
        {
          group: '=cmd()',
          is_other: false,
          requests: [1, 0, 2],
          rejected: [0, 4, 0],
          errors: [0, 0, 1],
          input_tokens: [10, 0, 20],
          cached_input_tokens: [0, 0, 5],
          output_tokens: [3, 0, 4],
          cost_usd: ['0.000000001', '0', '0.1'],
          charged_usd: ['0', '0', '0'],
        },
      ],
    } as Series;
    const name = (row: { groups: readonly (string | null)[] }) => row.groups[0] ?? '';
    expect(csvOfRows(rowsOverTime(data), ['model'], name)).toBe(
      [
        'start,end,model,calls,errors,rejected,input_tokens,cached_input_tokens,output_tokens,cost_usd',
        "2026-11-24T00:00:00Z,2026-11-25T00:00:00.000Z,'=cmd(),2,1,0,20,5,4,0.1",
        "2026-11-23T00:00:00Z,2026-11-24T00:00:00.000Z,'=cmd(),4,0,4,0,0,0,0",
        "2026-11-22T00:00:00Z,2026-11-23T00:00:00.000Z,'=cmd(),1,0,0,10,0,3,0.000000001",
        '',
      ].join('\r\n'),
    );
  });
});
