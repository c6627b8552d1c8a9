import { describe, expect, test } from 'vitest';
import { isCallQuery } from '../../../src/cli/tui/services/find-calls.ts';
import { type Answers, keys, openTui, type TestCall } from '../../support/open-tui.ts';

const at = Date.parse('2026-11-21T09:00:00Z');

const traceOf = (number: number) => ({
  request_id: `req_${number}`,
  created_at: new Date(at - number * 1000).toISOString(),
  completed_at: new Date(at - number * 1000).toISOString(),
  model: `sim/found-${number}`,
  status: 'failed',
  error_code: 'upstream_failed',
  provider: null,
  key: null,
  endpoint: '/v1/responses',
  attempts: [],
  tokens: { input: 1, output: 1 },
  cost: { total_usd: '0.5' },
  timings: { first_token_ms: null, total_ms: 9 },
  rejection: null,
});

/** A daemon with 150 calls that match every query. */
function open(asked: TestCall[], more: Answers = {}, screen = 'traffic') {
  const tui = openTui({
    screen,
    answers: {
      'GET /v1/traces': (call) => {
        asked.push(call);
        const from = Number(call.query?.after ?? 0);
        const data = Array.from({ length: from === 0 ? 100 : 50 }, (_, index) => traceOf(from + index));
        return { object: 'list', data, has_more: from === 0, next: from === 0 ? '100' : null };
      },
      ...more,
    },
  });
  tui.calls.apply({
    type: 'request.completed',
    sequence: 1,
    created_at: new Date(at).toISOString(),
    data: { request_id: 'req_live', model: 'sim/live', status: 'completed', total_ms: 1 },
  });
  tui.state.changed();
  return tui;
}

describe('a query', () => {
  test('is asked of the daemon on Enter, and Esc returns to the live list', async () => {
    const asked: TestCall[] = [];
    const tui = open(asked);
    tui.type('/status:failed since:2h');
    await tui.shows('/status:failed since:2h');
    expect(tui.frame()).toContain('sim/live');
    expect(asked).toEqual([]);
    tui.type(keys.enter);
    await tui.shows('status:failed since:2h (100+)');
    await tui.shows('sim/found-0');
    expect(asked[0]?.query).toMatchObject({ q: 'status:failed since:2h' });
    expect(tui.frame()).not.toContain('sim/live');
    tui.type(keys.escape);
    await tui.shows('sim/live');
  });

  test('loads more at its last row', async () => {
    const asked: TestCall[] = [];
    const tui = open(asked);
    tui.type('/status:failed');
    tui.type(keys.enter);
    await tui.shows('(100+)');
    tui.type('>');
    await tui.shows('(150)');
    tui.type('>');
    await tui.shows(/❯ .*sim\/found-149/);
    expect(asked.map(({ query }) => query?.after)).toEqual([undefined, '100']);
  });

  test('is sorted by the daemon where it can be', async () => {
    const asked: TestCall[] = [];
    const tui = open(asked);
    tui.type('/status:failed');
    tui.type(keys.enter);
    await tui.shows('(100+)');
    tui.type('sssss');
    await tui.shows('COST▼');
    await expect.poll(() => asked.at(-1)?.query?.sort).toBe('cost');
  });

  test('with a fault says what is wrong, and asks nothing', async () => {
    const asked: TestCall[] = [];
    const tui = open(asked);
    tui.type('/status:sleepy');
    tui.type(keys.enter);
    await tui.shows(/! .*status/);
    expect(asked).toEqual([]);
  });

  test('without a match says so', async () => {
    const tui = open([], { 'GET /v1/traces': () => ({ data: [], has_more: false, next: null }) });
    tui.type('/model:none');
    tui.type(keys.enter);
    await tui.shows('No calls match.');
  });

  test.each([
    ['status:failed', true],
    ['-client:curl', true],
    ['since:2h', true],
    ['>4s', true],
    ['>$0.05', true],
    ['"some text"', true],
    ['gpt-5', false],
    ['!gpt', false],
    ['http://x', false],
    ['10→20', false],
    ['a > b', false],
  ])('%s: %s', (text, isQuery) => {
    expect(isCallQuery(text)).toBe(isQuery);
  });
});
