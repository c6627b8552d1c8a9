import { beforeEach, describe, expect, test } from 'vitest';
import type { Caller, KeyOrLogin } from '../../../../src/daemon/base/handler.ts';
import {
  createUsageReader,
  type UsageRecord,
  usageHandlers,
} from '../../../../src/daemon/features/metering/index.ts';
import { noLabels } from '../../../../src/shared/constants/call-labels.ts';
import {
  getUsage,
  getUsageLatency,
  getUsageSeries,
  listUsage,
  tokensServed,
} from '../../../../src/shared/contract/usage.ts';
import { callHandler } from '../../../support/call-handler.ts';
import { startOfFakeTime } from '../../../support/fake-world.ts';
import { memoryMeteringReads } from '../../../support/memory-stores.ts';

const now = () => startOfFakeTime;
const dayMs = 24 * 60 * 60 * 1000;
const revoked = new AbortController().signal;

const key = (keyId: string, workspaceId = 'ws_acme'): Caller => ({
  kind: 'key',
  keyId,
  workspaceId,
  ownerId: 'usr_ann',
  scopes: new Set(['usage:read']),
  revoked,
});
const login = (workspaceId = 'ws_acme'): Caller => ({
  kind: 'login',
  loginId: 'key_login',
  userId: 'usr_ann',
  workspaceId,
  revoked,
});

let store: ReturnType<typeof memoryMeteringReads>;
let handlers: ReturnType<typeof usageHandlers>;
beforeEach(() => {
  store = memoryMeteringReads();
  handlers = usageHandlers({
    usage: createUsageReader({ store, now }),
    now,
    rejectedFor: async () => ({ unknownCallers: false }),
  });
});

function finish(part: Partial<UsageRecord> = {}): UsageRecord {
  const record: UsageRecord = {
    requestId: `req_${store.calls.length}`,
    responseId: 'resp_1',
    workspaceId: 'ws_acme',
    keyId: 'key_ci',
    endpoint: '/v1/responses',
    model: 'openai/gpt-5',
    provider: 'openai',
    streamed: true,
    ownKey: false,
    status: 'completed',
    errorCode: null,
    tokens: { input: 100, cachedInput: 40, cacheWrite: 0, output: 20, reasoning: 5 },
    tokensReported: true,
    cost: { provider: 1_000_000, margin: 50_000, total: 1_050_000 },
    charged: 1_050_000,
    prices: null,
    labels: noLabels,
    cache: null,
    httpStatus: 200,
    attempts: [{ provider: 'openai', model: 'gpt-5', status: 200, errorCode: null, ms: 812 }],
    ttftMs: 301,
    totalMs: 812,
    createdAt: startOfFakeTime - 812,
    completedAt: startOfFakeTime,
    ...part,
  };
  store.calls.push(record);
  return record;
}

describe('the usage of one request', () => {
  const usageOf = (caller: Caller, requestId: string) =>
    callHandler(handlers, getUsage, { caller, params: { request_id: requestId } });

  test('shows tokens, cost and attempts to the key that called', async () => {
    const { requestId } = finish();
    expect(await usageOf(key('key_ci'), requestId)).toEqual({
      request_id: requestId,
      response_id: 'resp_1',
      created_at: '2026-11-21T07:59:59.188Z',
      completed_at: '2026-11-21T08:00:00.000Z',
      endpoint: '/v1/responses',
      model: 'openai/gpt-5',
      provider: 'openai',
      key: 'key_ci',
      streamed: true,
      status: 'completed',
      tokens: { input: 100, cached_input: 40, cache_write: 0, output: 20, reasoning: 5 },
      cost: { provider_usd: '0.001', margin_usd: '0.00005', total_usd: '0.00105' },
      charged_usd: '0.00105',
      own_key: false,
      attempts: [{ provider: 'openai', model: 'gpt-5', status: 200, error_code: null, ms: 812 }],
      ttft_ms: 301,
      total_ms: 812,
    });
  });

  test('shows an unknown price as null, not as zero', async () => {
    const { requestId } = finish({
      cost: null,
      charged: 0,
      status: 'interrupted',
      provider: null,
      ttftMs: null,
    });
    expect(await usageOf(login(), requestId)).toMatchObject({ cost: null, status: 'interrupted' });
  });

  test('is visible to a login for every key of its workspace', async () => {
    const { requestId } = finish({ keyId: 'key_other' });
    expect(await usageOf(login(), requestId)).toMatchObject({ key: 'key_other' });
  });

  test.each([
    ['another key of the workspace', key('key_other')],
    ['a key by that name elsewhere', key('key_ci', 'ws_other')],
    ['a login of another workspace', login('ws_other')],
  ])('is not found for %s', async (_who, caller) => {
    const { requestId } = finish();
    const failureOf = (id: string) =>
      usageOf(caller, id).catch(({ code, message, param }) => ({
        code,
        message: message.replace(id, 'ID'),
        param,
      }));
    expect(await failureOf(requestId)).toMatchObject({ code: 'not_found' });
    expect(await failureOf(requestId)).toEqual(await failureOf('req_unknown'));
  });
});

describe('the models that a caller used', () => {
  const usedBy = (caller: KeyOrLogin) => createUsageReader({ store, now }).modelsUsedBy(caller);

  test('are those that answered in the last 30 days', async () => {
    const nothing = { input: 0, cachedInput: 0, cacheWrite: 0, output: 0, reasoning: 0 };
    finish({ model: 'local/qwen' });
    finish({ model: 'local/qwen' });
    finish({ model: 'local/long-ago', createdAt: now() - 31 * dayMs, completedAt: now() - 31 * dayMs });
    finish({ model: 'local/no-such-model', status: 'failed', tokens: nothing });
    expect(await usedBy(key('key_ci') as KeyOrLogin)).toEqual(['local/qwen']);
  });

  test('are those of the key, or of the login’s whole workspace', async () => {
    finish({ model: 'local/one' });
    finish({ model: 'local/two', keyId: 'key_other' });
    finish({ model: 'local/elsewhere', workspaceId: 'ws_other' });
    expect(await usedBy(key('key_ci') as KeyOrLogin)).toEqual(['local/one']);
    expect((await usedBy(login() as KeyOrLogin)).toSorted()).toEqual(['local/one', 'local/two']);
  });
});

describe('a summary', () => {
  const summary = (
    caller: Caller,
    query: Parameters<typeof callHandler<typeof listUsage>>[2]['query'] = {},
  ) => callHandler(handlers, listUsage, { caller, query });

  beforeEach(() => {
    finish();
    finish({ model: 'sim/assistant', cost: null, charged: 0 });
    finish({ keyId: 'key_other', completedAt: startOfFakeTime - dayMs });
    finish({ keyId: null, completedAt: startOfFakeTime - 40 * dayMs });
    finish({ workspaceId: 'ws_other' });
  });

  test('covers thirty days by day by default', async () => {
    const result = await summary(login());
    expect(result).toMatchObject({ group_by: 'day', since: '2026-10-23T00:00:00.000Z', has_more: false });
    expect(result.data.map(({ group, requests }) => [group, requests])).toEqual([
      ['2026-11-20', 1],
      ['2026-11-21', 2],
    ]);
    expect(result.total).toEqual({
      requests: 3,
      rejected: 0,
      unpriced_requests: 1,
      tokens: { input: 300, cached_input: 120, cache_write: 0, output: 60, reasoning: 15 },
      cost: { provider_usd: '0.002', margin_usd: '0.0001', total_usd: '0.0021' },
      charged_usd: '0.0021',
    });
  });

  test('can group by model and by key, calls of a login last', async () => {
    const groups = async (group_by: 'model' | 'key') =>
      (await summary(login(), { group_by, since: '2026-01-01' })).data.map(({ group }) => group);
    expect(await groups('model')).toEqual(['openai/gpt-5', 'sim/assistant']);
    expect(await groups('key')).toEqual(['key_ci', 'key_other', null]);
  });

  test('has pages, with the totals of all of them on each', async () => {
    const page = (after?: string) =>
      summary(login(), { group_by: 'key', since: '2026-01-01', limit: 1, ...(after && { after }) });
    const first = await page();
    expect(first).toMatchObject({ data: [{ group: 'key_ci' }], has_more: true, next: 'key_ci' });
    const second = await page('key_ci');
    expect(second).toMatchObject({ data: [{ group: 'key_other' }], has_more: true, next: 'key_other' });
    expect(await page('key_other')).toMatchObject({ data: [{ group: null }], has_more: false, next: null });
    expect(second.total).toEqual(first.total);
    expect(first.total.requests).toBe(4);
    await expect(page('key_gone')).rejects.toMatchObject({ code: 'invalid_request', param: 'after' });
  });

  test('filters by key, model and time', async () => {
    expect((await summary(login(), { key: 'key_other' })).total.requests).toBe(1);
    expect((await summary(login(), { model: 'sim/assistant' })).total.requests).toBe(1);
    expect((await summary(login(), { since: '2026-11-21T00:00:00Z' })).total.requests).toBe(2);
    expect((await summary(login(), { until: '2026-11-21T00:00:00Z' })).total.requests).toBe(1);
  });

  test('includes all hours of a bare day', async () => {
    const result = await summary(login(), { since: '2026-11-20', until: '2026-11-20' });
    expect(result).toMatchObject({ since: '2026-11-20T00:00:00.000Z', until: '2026-11-21T00:00:00.000Z' });
    expect(result.total.requests).toBe(1);
  });

  test('shows a key only its own calls', async () => {
    expect((await summary(key('key_ci'))).total.requests).toBe(2);
    expect((await summary(key('key_ci'), { key: 'key_ci' })).total.requests).toBe(2);
    await expect(summary(key('key_ci'), { key: 'key_other' })).rejects.toMatchObject({ code: 'not_found' });
  });

  test.each([
    ['since', { since: '2026-13-45' }],
    ['until', { until: '2026-02-31' }],
    ['since', { since: '2026-11-21', until: '2026-11-20' }],
  ])('rejects an invalid %s', async (param, query) => {
    await expect(summary(login(), query)).rejects.toMatchObject({ code: 'invalid_request', param });
  });
});

describe('tokens served', () => {
  const served = () => callHandler(handlers, tokensServed, { caller: { kind: 'anonymous' } });

  test('are public, in total and per day, by caller and tier', async () => {
    const row = { requests: 1, inputTokens: 10, outputTokens: 5 };
    store.days.push(
      { day: '2026-11-20', caller: 'key', ownKey: false, tier: 'paid', ...row },
      { day: '2026-11-21', caller: 'key', ownKey: false, tier: 'paid', ...row },
      { day: '2026-11-21', caller: 'agent', ownKey: false, tier: 'free', ...row, inputTokens: 100 },
      { day: '2026-11-21', caller: 'key', ownKey: true, tier: 'paid', ...row, requests: 3 },
    );
    const result = await served();
    expect(result.total).toEqual({ tokens: 150, input: 130, output: 20, requests: 6 });
    expect(result.days.map(({ date }) => date)).toEqual(['2026-11-21', '2026-11-20']);
    expect(result.days[0]).toEqual({
      date: '2026-11-21',
      tokens: 135,
      input: 120,
      output: 15,
      requests: 5,
      by_caller: { key: 15, agent: 105, own_key: 15 },
      by_price_tier: { paid: 30, free: 105 },
    });
  });

  test('are zero before the first call', async () => {
    expect(await served()).toEqual({ total: { tokens: 0, input: 0, output: 0, requests: 0 }, days: [] });
  });

  test('are unavailable while the ledger cannot be read', async () => {
    store.served = () => Promise.reject(new Error('disk'));
    await expect(served()).rejects.toMatchObject({ code: 'unavailable', status: 503 });
  });
});

describe('usage over time', () => {
  const caller = key('key_ci');
  const refused = (query: object) => callHandler(handlers, listUsage, { caller, query });
  test.each([
    [{ tz: 'Nowhere/City' }, 'tz'],
    [{ group_by: 'client,model' }, 'group_by'],
    [{ group_by: 'tag', model: 'openai/gpt-5' }, 'group_by'],
    [{ group_by: 'day,user', tz: 'Europe/Berlin' }, 'group_by'],
  ])('is refused with %j', async (query, param) => {
    await expect(refused(query)).rejects.toMatchObject({ code: 'invalid_request', param });
  });

  test('is refused with too many buckets, or none', async () => {
    const series = (query: object) => callHandler(handlers, getUsageSeries, { caller, query });
    await expect(series({ since: '2020-01-01', bucket: 'hour' })).rejects.toMatchObject({ param: 'bucket' });
    const empty = { since: '2026-01-02T00:00:00Z', until: '2026-01-01T00:00:00Z' };
    await expect(series(empty)).rejects.toMatchObject({ param: 'since' });
  });

  test.each([
    [{ since: '1969-01-01' }, '`since` must be 2020-01-01 or later.'],
    [{ since: '0001-01-01T00:00:00Z' }, '`since` must be 2020-01-01 or later.'],
    [{ until: '2019-12-31' }, '`until` must be 2020-01-01 or later.'],
    [{ since: '2026-11-24' }, '`since` must be tomorrow at the latest.'],
    [{ since: '9999-12-31T23:59:59Z' }, '`since` must be tomorrow at the latest.'],
  ])('is refused with %j', async (range, message) => {
    for (const endpoint of [listUsage, getUsageSeries, getUsageLatency])
      await expect(callHandler(handlers, endpoint, { caller, query: range })).rejects.toMatchObject({
        code: 'invalid_request',
        message,
      });
  });

  test('ends with tomorrow at the latest', async () => {
    for (const until of ['2026-11-30', '9999-12-31', '9999-12-31T23:59:59Z']) {
      const query = { since: '2026-11-20', until, bucket: 'day' as const };
      const { buckets } = (await callHandler(handlers, getUsageSeries, { caller, query })) as {
        buckets: { end: string }[];
      };
      expect(buckets.at(-1)?.end).toBe('2026-11-23T00:00:00.000Z');
    }
  });

  test('has buckets of a fitting length, and days of the zone', async () => {
    const series = async (query: object) => {
      const { bucket, buckets } = (await callHandler(handlers, getUsageSeries, { caller, query })) as {
        bucket: string;
        buckets: { start: string }[];
      };
      return [bucket, buckets.length, buckets[0]?.start];
    };
    const day = { since: '2026-11-20', until: '2026-11-20' };
    expect(await series(day)).toEqual(['15m', 96, '2026-11-20T00:00:00.000Z']);
    const berlin = { since: '2026-03-29', until: '2026-03-29', tz: 'Europe/Berlin', bucket: 'hour' };
    expect(await series(berlin)).toEqual(['hour', 23, '2026-03-28T23:00:00.000Z']);
    expect(await series({ since: '2026-01-01', until: '2026-11-20' })).toEqual([
      'week',
      47,
      '2025-12-29T00:00:00.000Z',
    ]);
  });
});
