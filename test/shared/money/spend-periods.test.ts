import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  endOfPeriod,
  type SpendCalendar,
  type SpendPeriod,
  startOfPeriod,
} from '../../../src/shared/money/spend-periods.ts';
import { weekdays } from '../../../src/shared/time/time-zones.ts';

const zones = ['UTC', ...Intl.supportedValuesOf('timeZone')];
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** What clocks of a zone show, as if it were a time in UTC; read from another format than the program uses. */
function clockOf(timeZone: string) {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  return (at: number) => Date.parse(`${format.format(at).replace(' ', 'T')}Z`);
}

const calendarOf = (timeZone: string, changes: Partial<SpendCalendar> = {}): SpendCalendar => ({
  timeZone,
  dayStarts: 0,
  weekStarts: 'monday',
  ...changes,
});

const boundsOf = (period: SpendPeriod, at: number, calendar?: SpendCalendar) =>
  [startOfPeriod(period, at, calendar), endOfPeriod(period, at, calendar) ?? Number.NaN] as const;

const settings = fc.record({
  dayStarts: fc.oneof(
    fc.constant(0),
    fc.integer({ min: 0, max: 95 }).map((quarter) => quarter * 15),
    // When clocks usually change.
    fc.integer({ min: 0, max: 13 }).map((quarter) => quarter * 15),
  ),
  weekStarts: fc.constantFrom(...weekdays),
  from: fc.date({ min: new Date('2020-01-01'), max: new Date('2040-01-01'), noInvalidDate: true }),
});

test('the days of every zone join, and begin at the time that is set or after clocks skip it', () => {
  for (const timeZone of zones) {
    const clock = clockOf(timeZone);
    fc.assert(
      fc.property(settings, ({ from, ...changes }) => {
        const calendar = calendarOf(timeZone, changes);
        // Most clocks are changed in the weeks after these days.
        const year = from.getUTCFullYear();
        const first = from.getTime() % 2 === 0 ? Date.UTC(year, 2, 5) : Date.UTC(year, 8, 20);
        let [start, end] = boundsOf('day', first, calendar);
        for (let day = 0; day < 45; day += 1) {
          const since = clock(start) - changes.dayStarts * minuteMs;
          const isSkipped = since % dayMs !== 0;
          if (isSkipped) {
            // Clocks were put forward over the start.
            const before = clock(start - 1000) + 1000 - changes.dayStarts * minuteMs;
            expect(Math.floor(since / dayMs) * dayMs).toBeGreaterThan(before - 1);
            expect(since).toBeGreaterThan(before);
          }
          const shown = clock(end) - clock(start);
          const changed = shown - (end - start);
          expect(Math.abs(changed)).toBeLessThanOrEqual(3 * hourMs);
          const isNextSkipped = (clock(end) - changes.dayStarts * minuteMs) % dayMs !== 0;
          if (!isSkipped && !isNextSkipped) expect(shown).toBe(dayMs);
          expect(boundsOf('day', end - 1, calendar)).toEqual([start, end]);
          const next = boundsOf('day', end, calendar);
          expect(next[0]).toBe(end);
          [start, end] = next;
        }
      }),
      { numRuns: 1 },
    );
  }
});

test('weeks and months of every zone join, and begin with the day that is set', () => {
  const day = fc.integer({ min: 0, max: dayMs - 1 });
  fc.assert(
    fc.property(fc.constantFrom(...zones), settings, day, (timeZone, { from, ...changes }, later) => {
      const calendar = calendarOf(timeZone, changes);
      const clock = clockOf(timeZone);
      for (const period of ['week', 'month'] as const) {
        let [start, end] = boundsOf(period, from.getTime(), calendar);
        for (let count = 0; count < 14; count += 1) {
          expect(startOfPeriod('day', start, calendar)).toBe(start);
          const local = new Date(clock(start) - changes.dayStarts * minuteMs);
          if (period === 'month') expect(local.getUTCDate()).toBe(1);
          else expect(weekdays[(local.getUTCDay() + 6) % 7]).toBe(changes.weekStarts);
          const within = Math.min(end - 1, start + later);
          expect(boundsOf(period, within, calendar)).toEqual([start, end]);
          const next = boundsOf(period, end, calendar);
          expect(next[0]).toBe(end);
          [start, end] = next;
        }
      }
    }),
    { numRuns: 150 },
  );
});

test.each([
  ['Europe/Berlin', '2026-03-29T12:00Z', 23],
  ['Europe/Berlin', '2026-10-25T12:00Z', 25],
  ['Australia/Lord_Howe', '2026-10-03T23:00Z', 23.5],
  ['Australia/Lord_Howe', '2026-04-05T02:00Z', 24.5],
  ['Antarctica/Troll', '2026-03-29T12:00Z', 22],
  ['America/Havana', '2026-11-01T12:00Z', 25],
  ['Africa/Cairo', '2026-04-24T12:00Z', 23],
  ['Asia/Kathmandu', '2026-06-01T12:00Z', 24],
])('a day in %s has %s %d hours', (timeZone, at, hours) => {
  const [start, end] = boundsOf('day', Date.parse(at), calendarOf(timeZone));
  expect((end - start) / hourMs).toBe(hours);
});

test('a day that begins while clocks are changed begins with them, or the first time', () => {
  const half = calendarOf('Europe/Berlin', { dayStarts: 150 });
  const [spring] = boundsOf('day', Date.parse('2026-03-29T12:00Z'), half);
  expect(new Date(spring).toISOString()).toBe('2026-03-29T01:00:00.000Z');
  const [autumn] = boundsOf('day', Date.parse('2026-10-25T12:00Z'), half);
  expect(new Date(autumn).toISOString()).toBe('2026-10-25T00:30:00.000Z');
  // Clocks show an earlier time again.
  expect(startOfPeriod('day', Date.parse('2026-10-25T01:10Z'), half)).toBe(autumn);
});

test('a date that a zone skipped has no day', () => {
  const samoa = calendarOf('Pacific/Apia');
  const [start, end] = boundsOf('day', Date.parse('2011-12-30T09:59Z'), samoa);
  expect(new Date(end).toISOString()).toBe('2011-12-30T10:00:00.000Z');
  expect(end - start).toBe(dayMs);
  expect(startOfPeriod('day', end, samoa)).toBe(end);
});

test('without a calendar, periods are those of UTC, from Monday', () => {
  const at = Date.parse('2026-11-25T18:30Z');
  const [weekStart, weekEnd] = boundsOf('week', at);
  expect([new Date(weekStart).toISOString(), weekEnd - weekStart]).toEqual([
    '2026-11-23T00:00:00.000Z',
    7 * dayMs,
  ]);
  fc.assert(
    fc.property(settings, ({ from }) => {
      for (const period of ['day', 'week', 'month'] as const)
        expect(boundsOf(period, from.getTime(), calendarOf('UTC'))).toEqual(boundsOf(period, from.getTime()));
    }),
  );
  const sunday = calendarOf('America/New_York', { weekStarts: 'sunday', dayStarts: 360 });
  expect(new Date(startOfPeriod('week', at, sunday)).toISOString()).toBe('2026-11-22T11:00:00.000Z');
});
