import { describe, expect, test } from 'vitest';
import { widthOf } from '../../../../src/cli/output/width.ts';
import { type Answers, openTui } from '../../../support/open-tui.ts';

const now = Date.parse('2026-11-21T12:30:00Z');
const hourMs = 3_600_000;

interface Hours {
  /** Cost of each hour in dollars. */
  usd: number[];
  model?: string;
}

/** A daemon with calls in some hours: ten an hour, of which one fails. */
function daemonWith({ usd, model = 'openai/gpt-5' }: Hours): Answers {
  const buckets = usd.map((_, at) => ({
    start: new Date(now - 30 * 60_000 - (usd.length - 1 - at) * hourMs).toISOString(),
    end: new Date(now - 30 * 60_000 - (usd.length - 2 - at) * hourMs).toISOString(),
  }));
  const each = (value: number) => usd.map((cost) => (cost > 0 ? value : 0));
  const series = (group: string | null) => ({
    group,
    is_other: false,
    requests: each(10),
    rejected: each(5),
    errors: each(1),
    input_tokens: each(1000),
    cached_input_tokens: each(0),
    output_tokens: each(200),
    cost_usd: usd.map(String),
    charged_usd: usd.map(String),
  });
  const distribution = (cost: number) =>
    cost > 0 ? { count: 10, p50: 400, p90: 900, p95: 1300, p99: 2000 } : { count: 0, p50: null, p95: null };
  const groups: Record<string, string> = { model, key: 'key_1', error: 'upstream_error' };
  const sums = { tokens: { input: 500, output: 100 }, cost: { total_usd: '2' }, charged_usd: '2' };
  return {
    'GET /v1/usage/series': ({ query = {} }) => ({
      object: 'usage.series',
      buckets: query.bucket === 'day' ? buckets.slice(-1) : buckets,
      series: usd.some((cost) => cost > 0) ? [series(groups[String(query.group_by)] ?? null)] : [],
    }),
    'GET /v1/usage/latency': ({ query = {} }) => ({
      object: 'usage.latency',
      buckets,
      series: [
        {
          group: null,
          first_token_ms: query.bucket ? usd.map(distribution) : [distribution(1)],
          total_ms: query.bucket
            ? usd.map(distribution)
            : [{ ...distribution(1), p95: query.until ? 4550 : 9100 }],
        },
      ],
    }),
    'GET /v1/usage': () => ({
      object: 'list',
      total: { requests: 20, ...sums },
      data: [{ group: 'failed', groups: ['failed'], requests: 1, unpriced_requests: 0, ...sums }],
      next: null,
    }),
  };
}

const busy = { usd: [0, 0.5, 0, 0, 1, 2, 0.25, 0] };

function open(answers: Answers, options: Parameters<typeof openTui>[0] = {}) {
  const tui = openTui({ answers, now: () => now, screen: 'overview', ...options });
  void tui.state.reload();
  return tui;
}

describe('the Overview', () => {
  test('is the first screen, and the digits open the others', async () => {
    const tui = open(daemonWith(busy));
    expect(tui.state.views[0]?.screen.id).toBe('overview');
    await tui.shows(/^\[Overview\]1Calls 2Keys /m);
    tui.type('1');
    await tui.shows('── Calls');
    tui.type('go');
    await tui.shows('── Overview');
  });

  test('shows figures next to those of the time before', async () => {
    const tui = open(daemonWith(busy));
    await tui.shows(/^60 +10 % +20 +\$3\.75 +9\.10 s +1\.30 s/m);
    await tui.shows(/^\+200 % +was 5 % +was 0 % +\+88 % +\+100 % +±0 %/m);
    await tui.shows(/model +openai\/gpt-5 +60 .*\$3\.75/);
    await tui.shows(/key +key_1 +60/);
    await tui.shows(/error +upstream_error +60/);
  });

  test('draws the cost of each hour and the time to the first token', async () => {
    const tui = open(daemonWith(busy));
    await tui.shows('cost by hour');
    await tui.shows('first token p50 / p95');
    await tui.shows(/^ *\$2\.00 +⣿/m);
    await tui.shows(/21 Nov, \d\d:\d\d +now/);
  });

  test('asks for other periods', async () => {
    const asked: unknown[] = [];
    const answers = daemonWith(busy);
    const series = answers['GET /v1/usage/series'];
    const tui = open({
      ...answers,
      'GET /v1/usage/series': (call) => {
        asked.push([call.query?.bucket, now - Date.parse(String(call.query?.since))]);
        return series?.(call);
      },
    });
    await tui.shows(/1h \[24h\] 7d {2}30d/);
    tui.type(']');
    await tui.shows(/24h \[7d\] 30d/);
    await tui.shows('cost by hour');
    expect(asked[0]).toEqual(['hour', 24 * hourMs]);
    expect(asked.at(-1)).toEqual(['hour', 7 * 24 * hourMs]);
  });

  test('without calls it says how to send one', async () => {
    const tui = open(daemonWith({ usd: [0, 0] }));
    await tui.shows('gateway respond "What is a mutex?"');
    await tui.shows('http://127.0.0.1:4100/v1');
    expect(tui.frame()).not.toContain('cost by');
  });

  test('is numbers for screen readers', async () => {
    const tui = open(daemonWith(busy), { isPlain: true, rows: 40 });
    await tui.shows(/calls +60 +\+200 %/);
    await tui.shows(/cost \$2\.00 {2}failed or rejected 6/);
    await tui.shows(/first token p50 400 ms {2}p95 1\.30 s/);
    expect(tui.frame()).not.toMatch(/[\u2800-\u28ff█░]/);
  });

  test('shows the rest to a key that may not read latencies', async () => {
    const answers = daemonWith(busy);
    const tui = open({
      ...answers,
      'GET /v1/usage/latency': () => {
        throw new Error('out of scope');
      },
    });
    await tui.shows(/^60 +10 % +20 +\$3\.75 +– +–/m);
  });

  test.each([
    [40, 24],
    [80, 24],
    [46, 10],
    [120, 40],
    [200, 60],
  ])('fills %i × %i, whatever others named their models', async (columns, rows) => {
    const model = 'evil\u001b[31m\u0007\u202emodel\n'.repeat(9);
    const tui = open(daemonWith({ ...busy, model }), { columns, rows });
    await tui.shows(/\$3\.75/);
    expect(tui.lines()).toHaveLength(rows);
    for (const line of tui.lines()) expect(widthOf(line)).toBeLessThanOrEqual(columns);
    for (const control of ['\u001b', '\u0007', '\u202e']) expect(tui.frame()).not.toContain(control);
  });
});
