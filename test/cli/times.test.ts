import { describe, expect, test } from 'vitest';
import { dayInZone, futureTime, pastTime, pastTimeInZone } from '../../src/cli/times.ts';
import { runCli } from '../support/run-cli.ts';
import { fakeDaemon } from './fake-daemon.ts';

const clock = { now: () => Date.parse('2026-12-02T08:30:00Z') };

test.each([
  ['today', '2026-12-02'],
  ['yesterday', '2026-12-01'],
  ['90s', '2026-12-02T08:28:30.000Z'],
  ['10m', '2026-12-02T08:20:00.000Z'],
  ['2h', '2026-12-02T06:30:00.000Z'],
  ['3d', '2026-11-29T08:30:00.000Z'],
  ['1w', '2026-11-25T08:30:00.000Z'],
  ['2026-11-01', '2026-11-01'],
  ['2026-11-01T08:00:00+01:00', '2026-11-01T08:00:00+01:00'],
])('%s in the past is %s', (text, time) => {
  expect(pastTime(clock)(text)).toBe(time);
});

test.each([
  ['tomorrow', '2026-12-03T00:00:00Z'],
  ['30d', '2027-01-01T08:30:00.000Z'],
  ['2027-01-31', '2027-01-31T00:00:00Z'],
  ['2027-01-31T08:00:00Z', '2027-01-31T08:00:00Z'],
])('%s in the future is %s', (text, time) => {
  expect(futureTime(clock)(text)).toBe(time);
});

test.each(['', 'soon', '5', '5y', '-3d', '2026-02-31', '999999999w', '2026-11-01 08:00'])(
  'neither reads %j',
  (text) => {
    expect(() => pastTime(clock)(text)).toThrow(/It must be/);
    expect(() => futureTime(clock)(text)).toThrow(/It must be/);
  },
);

test.each([
  ['today', 'Pacific/Kiritimati', '2026-12-02'],
  ['today', 'Pacific/Pago_Pago', '2026-12-01'],
  ['yesterday', 'Pacific/Pago_Pago', '2026-11-30'],
  ['yesterday', undefined, '2026-12-01'],
  ['2026-11-01', 'Pacific/Pago_Pago', '2026-11-01'],
])('%s in %s is %s', (text, zone, day) => {
  expect(dayInZone(pastTimeInZone(clock)(text), zone, clock)).toBe(day);
});

describe('every command with a time', () => {
  test.each([
    [['usage', '--since', 'yesterday'], 'GET /v1/usage', '2026-12-01'],
    [['usage', '--until', '2h'], 'GET /v1/usage', '2026-12-02T06:30:00.000Z'],
    [['traces', '--since', 'yesterday'], 'GET /v1/traces', '2026-12-01'],
    [['usage', '--tz', 'America/Los_Angeles', '--since', 'today'], 'GET /v1/usage', '2026-12-02'],
    [['usage', '--since', 'today', '--tz', 'Pacific/Pago_Pago'], 'GET /v1/usage', '2026-12-01'],
    [['usage', '--until', 'yesterday', '--tz', 'Pacific/Kiritimati'], 'GET /v1/usage', '2026-12-01'],
    [
      ['usage', 'series', '--since', 'yesterday', '--tz', 'Pacific/Pago_Pago'],
      'GET /v1/usage/series',
      '2026-11-30',
    ],
    [['shouts', '--since', '2h'], 'GET /api/shouts', '2026-12-02T06:30:00.000Z'],
  ])('takes an age or a day: %j', async (args, path, time) => {
    const { env, calls } = await fakeDaemon({
      [path]: () => ({ data: [], series: [], buckets: [], total: {}, next: null }),
    });
    await runCli(args, { env, now: clock.now });
    expect(JSON.stringify(calls.at(-1))).toContain(encodeURIComponent(time));
  });
});
