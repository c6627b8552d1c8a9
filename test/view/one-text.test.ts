import { describe, expect, test } from 'vitest';
import { listColumn } from '../../src/cli/output/field-columns.ts';
import { fieldColumn } from '../../src/cli/tui/text/list-table.ts';
import { noPaint } from '../../src/cli/tui/text/render-options.ts';
import type { Alert } from '../../src/shared/contract/alerts.ts';
import type { Budget } from '../../src/shared/contract/budgets.ts';
import type { Limits } from '../../src/shared/contract/key-limits.ts';
import { alertFields } from '../../src/view/alerts.ts';
import { budgetFields } from '../../src/view/budgets.ts';
import { calendarIn } from '../../src/view/calendars.ts';
import { type Field, textsOf } from '../../src/view/field.ts';
import { limitTexts } from '../../src/view/limits.ts';

/** Commands, the TUI and the page say the same of a thing, in the same words and numbers. */

const now = Date.parse('2026-11-30T12:00:00Z');
const context = { now, keyNames: new Map([['key_1', 'search']]) };

const budget: Budget = {
  object: 'budget',
  id: 'team',
  scope: 'key',
  value: 'key_1',
  usd: '1500',
  period: 'month',
  time_zone: 'Europe/Berlin',
  day_starts: null,
  week_starts: null,
  hard: true,
  thresholds: [50, 80],
  spent_usd: '1204.429238065',
  held_usd: '0.5',
  remaining_usd: '295.07',
  forecast_usd: '1620.123456',
  reached_at: null,
  period_start: '2026-11-01T00:00:00.000Z',
  resets_at: null,
  fired: [{ percent: 50, at: '2026-11-10T00:00:00.000Z' }],
  refused_at: null,
  created_at: '2026-11-01T00:00:00.000Z',
  updated_at: '2026-11-01T00:00:00.000Z',
};

const alert = {
  object: 'alert',
  id: 'slow',
  kind: 'p95_total',
  state: 'firing',
  since: '2026-11-30T11:00:00.000Z',
  value: '12500',
  threshold: '8000',
  unit: 'ms',
  window_minutes: 90,
  key: 'key_1',
  model: 'openai/gpt-5',
  provider: null,
} as unknown as Alert;

describe.each([
  ['a budget', budgetFields as readonly Field<never, typeof context>[], budget],
  ['an alert', alertFields as readonly Field<never, typeof context>[], alert],
])('%s', (_, fields, row) => {
  test.each(fields.map((field) => [field.name, field] as const))('has one text of %s', (name, field) => {
    const onPage = textsOf([field], row as never, context)[name];
    const command = listColumn(field, context);
    const inTui = fieldColumn(field, () => context);
    expect(command.show?.(row as never) ?? String(command.value(row as never))).toBe(onPage);
    expect(inTui.text(row as never, { width: 80, paint: noPaint } as never)).toBe(onPage);
  });
});

test('amounts, shares and durations have the forms of all lists', () => {
  expect(textsOf(budgetFields, budget, context)).toMatchObject({
    scope: 'key search',
    usd: '$1,500 per month in Europe/Berlin',
    spent_usd: '$1,204.43',
    held_usd: '$0.50',
    forecast_usd: '≈$1,620.12',
    thresholds: '50 % ✓, 80 %',
  });
  expect(textsOf(alertFields, alert, context)).toMatchObject({
    value: '12.5 s',
    threshold: '8 s',
    window_minutes: '1 h 30 min',
    since: '1 h ago',
    of: 'key search openai/gpt-5',
  });
});

test('the limits of a key are told one by one', () => {
  const limits: Limits = {
    spend_cap: { usd: '0.5', period: 'day', time_zone: null, day_starts: '06:00', week_starts: null },
    max_price: { input: '1.5', output: null },
    models: ['gpt-5', 'sim/*'],
    requests_per_minute: 1200,
    concurrency: 1,
    queue_seconds: null,
    expires_at: '2027-01-31T00:00:00.000Z',
  };
  expect(limitTexts(limits, { timeText: String })).toEqual([
    '$0.50 per day from 06:00',
    'input ≤ $1.50',
    'models gpt-5 sim/*',
    '1,200 calls per minute',
    '1 call at a time',
    'until 2027-01-31T00:00:00.000Z',
  ]);
  expect(limitTexts(limits, { cap: false })).not.toContain('$0.50 per day from 06:00');
});

test.each([
  [
    { period: 'week', time_zone: ' Europe/Berlin ', day_starts: '06:00', week_starts: 'sunday' },
    { time_zone: 'Europe/Berlin', day_starts: '06:00', week_starts: 'sunday' },
  ],
  [{ period: 'week', time_zone: '', week_starts: 'monday' }, {}],
  [{ period: 'day', time_zone: 'UTC', week_starts: 'sunday' }, { time_zone: 'UTC' }],
  [{ period: 'none', time_zone: 'Europe/Berlin' }, {}],
])('%j is the calendar %j', (values, calendar) => {
  expect(calendarIn(values)).toEqual(calendar);
});
