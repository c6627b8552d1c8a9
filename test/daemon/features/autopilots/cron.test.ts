import { expect, test } from 'vitest';
import { checkTimes, timeAfter, timesUntil } from '../../../../src/daemon/features/autopilots/cron.ts';

const at = (iso: string) => Date.parse(iso);
const now = at('2026-11-21T08:00:00Z');

function timesAfter(cron: string, timeZone: string, from: string, count = 3): string[] {
  const times: string[] = [];
  for (let time: number | null = at(from); times.length < count; ) {
    time = timeAfter({ cron, timeZone }, time);
    if (time === null) break;
    times.push(new Date(time).toISOString().slice(0, 16));
  }
  return times;
}

test('a schedule is read in its time zone', () => {
  expect(timesAfter('0 8 * * mon-fri', 'Europe/Rome', '2026-11-20T07:00:00Z')).toEqual([
    '2026-11-23T07:00',
    '2026-11-24T07:00',
    '2026-11-25T07:00',
  ]);
});

test('a time that is left out in spring comes right after the gap, and one that comes twice in autumn is due once', () => {
  expect(timesAfter('30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', 2)).toEqual([
    '2026-03-29T01:00',
    '2026-03-30T00:30',
  ]);
  expect(timesAfter('30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z', 2)).toEqual([
    '2026-10-25T00:30',
    '2026-10-26T01:30',
  ]);
  expect(timesAfter('0 * * * *', 'Europe/Berlin', '2026-10-24T23:30:00Z')).toEqual([
    '2026-10-25T00:00',
    '2026-10-25T01:00',
    '2026-10-25T02:00',
  ]);
});

test('the day of the month and the day of the week each suffice, as in cron', () => {
  expect(timesAfter('0 8 13 * fri', 'UTC', '2026-04-09T00:00:00Z')).toEqual([
    '2026-04-10T08:00',
    '2026-04-13T08:00',
    '2026-04-17T08:00',
  ]);
});

test.each([
  ['schedule.cron', '0 8 * *', 'UTC'],
  ['schedule.cron', '* * * * * *', 'UTC'],
  ['schedule.cron', '0 8 * * funday', 'UTC'],
  ['schedule.cron', '0 0 30 2 *', 'UTC'],
  ['schedule.cron', '2027-01-01T00:00:00', 'UTC'],
  ['schedule.cron', '@reboot', 'UTC'],
  ['schedule.timeZone', '0 8 * * *', 'Mars/Olympus'],
])('%s is refused: "%s" in %s', (param, cron, timeZone) => {
  expect(() => checkTimes({ cron, timeZone }, now)).toThrow(expect.objectContaining({ param }));
});

test('the times that passed are counted, up to a hundred', () => {
  const times = { cron: '0 * * * *', timeZone: 'UTC' };
  const first = at('2026-11-21T01:00:00Z');
  expect(timesUntil(times, first, at('2026-11-21T01:59:00Z'))).toEqual({ count: 1, last: first });
  const third = at('2026-11-21T03:00:00Z');
  expect(timesUntil(times, first, third)).toEqual({ count: 3, last: third });
  expect(timesUntil(times, first, at('2027-11-21T01:00:00Z')).count).toBe(100);
});
