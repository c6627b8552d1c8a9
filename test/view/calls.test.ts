import { describe, expect, test } from 'vitest';
import type { TraceView } from '../../src/shared/contract/traces.ts';
import { type CallRow, rowOfEvent, rowOfTrace } from '../../src/view/call-row.ts';
import { callFields } from '../../src/view/calls.ts';
import { exactOf, labelOf, textOf } from '../../src/view/field.ts';

const at = Date.parse('2026-11-21T09:00:00Z');
const context = { now: at + 3 * 60_000, keyNames: new Map([['key_1', 'my-app']]) };

const trace = {
  request_id: 'req_1',
  response_id: null,
  created_at: '2026-11-21T09:00:00.000Z',
  completed_at: '2026-11-21T09:00:02.000Z',
  status: 'completed',
  error_code: null,
  model: 'acme/large',
  provider: 'acme',
  key: 'key_1',
  endpoint: '/v1/responses',
  client: 'curl/8',
  user: null,
  conversation: null,
  tags: { team: 'a', stage: 'b' },
  tokens: { input: 44_210, cached_input: 9_000, cache_write: 0, output: 101, reasoning: 0 },
  cost: { total_usd: '0.000337512' },
  timings: { first_token_ms: 1000, total_ms: 1944 },
  attempts: [{}, {}],
  rejection: null,
} as unknown as TraceView;

/** The texts of a call by the names of its fields; of one that has none, `–`. */
const texts = (row: CallRow, of = textOf) =>
  Object.fromEntries(callFields.map((field) => [field.name, of(field, row, context)]));

describe('the fields of a call', () => {
  test('are brief in lists, and exact where there is room', () => {
    expect(texts(rowOfTrace(trace))).toMatchObject({
      completed_at: '2 min ago',
      status: 'completed',
      key: 'my-app',
      tags: 'team=a,stage=b',
      tokens: '44.2k→101',
      input: '44.2k',
      cost_usd: '$0.000338',
      first_token_ms: '1.00 s',
      tokens_per_second: '107',
      total_ms: '1.94 s',
      attempts: '2',
      user: '–',
    });
    expect(texts(rowOfTrace(trace), exactOf)).toMatchObject({
      tokens: '44,210 → 101',
      input: '44,210',
      cost_usd: '$0.000337512',
    });
  });

  const started = (data: object, before?: CallRow) =>
    rowOfEvent('req_2', { model: 'm', ...data }, { before, at, isEnd: false });

  test('of a running call count up, and mean nothing before its first token', () => {
    const row = started({});
    expect(texts(row)).toMatchObject({ status: 'running', tokens: '–', cost_usd: '–', total_ms: '3 min' });
    const progress = { input_tokens: 7, output_tokens: 2, cost_usd: '0.02', ttft_ms: 310 };
    expect(texts(started(progress, row))).toMatchObject({ tokens: '7→2', cost_usd: '$0.02' });
    expect(texts(started(progress, row), exactOf)).toMatchObject({ cost_usd: '≈$0.02' });
  });

  test('of a rejected call say how many are like it, and from where', () => {
    const data = {
      status: 'rejected',
      error_code: 'unauthenticated',
      endpoint: '/v1/x',
      address: '10.0.0.7',
    };
    const row = (more: number) =>
      rowOfEvent('req_3', { ...data, more }, { before: undefined, at, isEnd: true });
    expect(texts(row(41))).toMatchObject({ model: '/v1/x', key: '10.0.0.7', cost_usd: '+41 more' });
    expect(texts(row(0)).cost_usd).toBe('–');
    expect(texts(row(12_000)).cost_usd).toBe('+12k');
  });

  test('have a name and a title of their own', () => {
    const names = callFields.map(({ name }) => name);
    const titles = callFields.map(labelOf);
    expect([new Set(names).size, new Set(titles).size]).toEqual([names.length, names.length]);
  });

  test('fit the columns of the TUI', () => {
    const row = rowOfTrace(trace);
    const long = callFields.filter(
      (field) => field.unit && field.width && textOf(field, row, context).length > field.width,
    );
    expect(long.map(({ name }) => name)).toEqual([]);
  });
});
