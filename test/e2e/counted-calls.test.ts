import { afterAll, beforeAll, expect, test } from 'vitest';
import { routeTo } from '../../src/cli/hosts/send.ts';
import { loadOverview, periods } from '../../src/cli/tui/services/overview-figures.ts';
import { createClient } from '../../src/shared/client.ts';
import type { UsageGroup, UsageSeries, UsageSums } from '../../src/shared/contract/usage.ts';
import {
  getTraceFacets,
  getUsageLatency,
  getUsageSeries,
  listTraces,
  listUsage,
} from '../../src/shared/endpoints.ts';
import { SseReader } from '../../src/shared/http/sse.ts';
import { allCalls, callsPerBucket, errorsPerBucket, figuresOf } from '../../src/view/usage.ts';
import { rowsOfGroups, rowsOfSeries, rowsOverTime, totalOf } from '../../src/web/screens/usage/usage-rows.ts';
import { eventually } from '../support/eventually.ts';
import { readExposition } from '../support/prometheus-text.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

/*
 * Some hundreds of calls with every fate, and every place that shows a number of them: each call is counted once, everywhere
 * the same.
 */

let daemon: RunningDaemon;

beforeAll(async () => {
  daemon = await startDaemon();
});

afterAll(async () => {
  await daemon.stop();
});

const asOwner = () => ({ authorization: `Bearer ${daemon.login}` });

async function issue(body: object): Promise<{ id: string; secret: string }> {
  const answer = await daemon.fetch('/v1/workspaces/me/keys', { headers: asOwner(), json: body });
  const { key, secret } = (await answer.json()) as { key: { id: string }; secret: string };
  return { id: key.id, secret };
}

interface Wanted {
  key?: string;
  model?: string;
  body?: object;
  headers?: Record<string, string>;
}

let sent = 0;

async function call({
  key = daemon.key,
  model = 'sim/echo',
  body = {},
  headers = {},
}: Wanted): Promise<number> {
  sent += 1;
  const answer = await fetch(`${daemon.url}/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model, input: 'hello', ...body }),
  });
  await answer.text();
  return answer.status;
}

/** Leaves once the answer has begun. */
async function begin(key: string): Promise<{ leave: () => void; ended: Promise<unknown> }> {
  sent += 1;
  const left = new AbortController();
  const answer = await fetch(`${daemon.url}/v1/responses`, {
    method: 'POST',
    signal: left.signal,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sim/slow', input: 'Write 300 words about rain.', stream: true }),
  });
  const ended = answer.text().catch(() => {});
  return { leave: () => left.abort(), ended };
}

const times = async (count: number, wanted: Wanted) => {
  for (let at = 0; at < count; at += 1) await call(wanted);
};

/** What happened by the digests of the events since the start. */
function digests() {
  const leave = new AbortController();
  const counts: Record<string, number> = {};
  const followed = (async () => {
    const answer = await daemon.fetch('/v1/events?digest=1000&rows=5', {
      headers: asOwner(),
      signal: leave.signal,
    });
    const reader = new SseReader();
    for await (const bytes of answer.body as unknown as AsyncIterable<Uint8Array>)
      for (const { data } of reader.push(bytes)) {
        const event = JSON.parse(data) as { type: string; data: { statuses?: Record<string, number> } };
        for (const [status, calls] of Object.entries(event.data.statuses ?? {}))
          counts[status] = (counts[status] ?? 0) + calls;
      }
  })().catch(() => {});
  const end = async () => {
    leave.abort();
    await followed;
  };
  return { counts, end };
}

test('each call is counted once, everywhere the same', { timeout: 60_000 }, async () => {
  const digest = digests();
  const [limited, lost] = [
    await issue({ name: 'limited', limits: { requests_per_minute: 1 } }),
    await issue({ name: 'lost' }),
  ];
  const tagged = { 'x-service-tags': 'team=a,job=7', 'x-service-user': 'ann' };
  await times(30, {});
  await times(10, { headers: tagged });
  await times(6, { headers: { 'x-service-tags': 'team=b' } });
  await times(6, { model: 'sim/assistant', body: { max_output_tokens: 16, input: 'Write 300 words.' } });
  await times(5, { model: 'sim/limited' });
  await times(5, { model: 'sim/broken', body: { stream: true } });
  await times(3, { body: { input: 'cached', service: { cache: 'read-write' } } });
  // Rejected, in floods: by limit, by model, without a body, with a scope, and by unknown callers.
  await times(61, { key: limited.secret, headers: { 'x-service-user': 'bob' } });
  await times(25, { model: 'gpt-nosuch' });
  await times(14, { body: { input: 7 } });
  await times(23, { key: 'svc_wrong' });
  const [left, revoked] = [await begin(daemon.key), await begin(lost.secret)];
  left.leave();
  await daemon.fetch(`/v1/workspaces/me/keys/${lost.id}`, { method: 'DELETE', headers: asOwner() });
  await Promise.all([left.ended, revoked.ended]);
  await times(12, { key: lost.secret });

  const client = createClient({ ...routeTo({ url: daemon.url }, {}), token: daemon.login });
  const range = { since: new Date(Date.now() - 3_600_000).toISOString() };
  const usageBy = async (group_by: string) =>
    await client.call(listUsage, { query: { ...range, group_by, limit: 100 } });
  const seriesBy = async (group_by?: 'model' | 'provider' | 'status' | 'key' | 'error', top = 10) =>
    await client.call(getUsageSeries, { query: { ...range, group_by, top } });
  await eventually('the calls that ended early are settled', async () => {
    const { total } = await usageBy('status');
    return total.requests + total.rejected === sent;
  });

  // The statuses, from totals; everything else is compared with them.
  const byStatus = await usageBy('status');
  const statuses = Object.fromEntries(byStatus.data.map((group) => [group.group, allCalls(group)]));
  expect(statuses).toEqual({
    canceled: 1,
    completed: 30 + 10 + 6 + 3 + 1,
    failed: 5 + 5 + 1,
    incomplete: 6,
    rejected: 60 + 25 + 14 + 23 + 12,
  });
  const [failed, rejected] = [statuses.failed ?? 0, statuses.rejected ?? 0];
  const total: UsageSums = byStatus.total;
  expect([allCalls(total), total.rejected]).toEqual([sent, rejected]);

  // Usage by each group, alone and by pairs: rows add up, and totals are of all calls.
  const rowsBy = new Map<string, UsageGroup[]>();
  for (const group of [
    'day',
    'model',
    'key',
    'provider',
    'client',
    'user',
    'error',
    'tag',
    'day,model',
    'model,key',
    'key,status',
  ]) {
    const { data, total: all } = await usageBy(group);
    rowsBy.set(group, data);
    expect([group, all]).toEqual([group, total]);
    if (group === 'tag') continue;
    expect([group, data.reduce((sum, row) => sum + row.requests, 0)]).toEqual([group, total.requests]);
    expect([group, data.reduce((sum, row) => sum + row.rejected, 0)]).toEqual([group, rejected]);
  }
  const counted = (by: string, name: string | null) =>
    allCalls(rowsBy.get(by)?.find(({ group }) => group === name) ?? { requests: 0, rejected: 0 });
  expect([
    counted('tag', 'team=a'),
    counted('tag', 'team=b'),
    counted('user', 'ann'),
    counted('user', 'bob'),
  ]).toEqual([10, 6, 10, 61]);
  expect([counted('key', limited.id), counted('key', lost.id), counted('model', 'gpt-nosuch')]).toEqual([
    61, 13, 25,
  ]);

  // Series: each group, and with few series the rest in one.
  for (const group of [undefined, 'model', 'provider', 'status', 'key', 'error'] as const)
    for (const top of [1, 20]) {
      const { series } = await seriesBy(group, top);
      const sums = series.map((one) => figuresOf(one));
      const [requests, refused, errors] = (['requests', 'rejected', 'errors'] as const).map((name) =>
        sums.reduce((sum, figures) => sum + figures[name], 0),
      );
      // By error, only calls with a code.
      expect([group, top, requests, refused, errors]).toEqual([
        group,
        top,
        group === 'error' ? failed : total.requests,
        rejected,
        failed,
      ]);
    }

  // Facets and lists of calls.
  const facets = async (q?: string) =>
    await client.call(getTraceFacets, { query: { ...range, ...(q && { q }) } });
  const all = await facets();
  expect(all.calls).toBe(sent);
  const facet = (name: keyof typeof all.facets) =>
    Object.fromEntries(all.facets[name].values.map(({ value, calls }) => [value, calls]));
  expect(facet('status')).toEqual(statuses);
  const groupsOf = (by: string) =>
    Object.fromEntries(
      (rowsBy.get(by) ?? []).flatMap((row) => (row.group === null ? [] : [[row.group, allCalls(row)]])),
    );
  for (const [name, by] of [
    ['error', 'error'],
    ['model', 'model'],
    ['provider', 'provider'],
    ['key', 'key'],
    ['client', 'client'],
  ] as const)
    expect([name, facet(name)]).toEqual([name, groupsOf(by)]);
  for (const status of Object.keys(statuses))
    expect((await facets(`status:${status}`)).calls).toBe(statuses[status]);
  for (const [code, calls] of Object.entries(groupsOf('error')))
    expect((await facets(`error:${code}`)).calls).toBe(calls);
  let listed = 0;
  let after: string | undefined;
  do {
    const page = await client.call(listTraces, { query: { limit: 100, ...(after && { after }) } });
    for (const { rejection } of page.data) listed += 1 + (rejection?.more ?? 0);
    after = page.next ?? undefined;
  } while (after);
  expect(listed).toBe(sent);

  // Metrics.
  const metrics = readExposition(await (await daemon.fetch('/metrics')).text());
  const sumOf = (name: string, labels: Record<string, string> = {}) =>
    (metrics.get(name)?.lines ?? [])
      .filter((line) => Object.entries(labels).every(([label, value]) => line.labels[label] === value))
      .reduce((sum, { value }) => sum + value, 0);
  expect(sumOf('gateway_calls_refused_total')).toBe(rejected);
  expect(sumOf('gateway_calls_total')).toBe(total.requests);
  for (const status of ['completed', 'failed', 'incomplete', 'canceled'])
    expect(sumOf('gateway_calls_total', { status })).toBe(statuses[status]);

  // The Overview of the TUI, and the figures, charts and tables of the page.
  const overview = await loadOverview(client, Date.now() + 1, periods[0]);
  expect(overview.now).toMatchObject({ requests: total.requests, rejected, errors: failed });
  const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0);
  expect(sum(overview.errors)).toBe(failed + rejected);
  const shares = (kind: string) =>
    sum(overview.tops.filter((top) => top.kind === kind).map(({ share }) => share));
  for (const kind of ['model', 'key', 'error']) expect(shares(kind)).toBeCloseTo(1);
  expect(sum(overview.tops.filter(({ kind }) => kind === 'error').map(allCalls))).toBe(failed + rejected);
  const [whole] = (await seriesBy()).series as [UsageSeries];
  expect(sum(callsPerBucket(whole))).toBe(sent);
  const byError = await seriesBy('error', 7);
  expect(sum(byError.series.flatMap(errorsPerBucket))).toBe(failed + rejected);
  for (const by of ['model', 'key', 'status'] as const) {
    const found = await seriesBy(by, 7);
    expect(totalOf(rowsOfSeries(found))).toMatchObject({ calls: sent, rejected, errors: failed });
    expect(totalOf(rowsOverTime(found))).toEqual(totalOf(rowsOfSeries(found)));
  }
  expect(totalOf(rowsOfGroups(rowsBy.get('client') ?? []))).toMatchObject({ calls: sent, rejected });

  // Latency, whose histogram has each answered call once.
  const { series: latency } = await client.call(getUsageLatency, { query: range });
  const [totals] = latency[0]?.total_ms ?? [];
  expect(totals?.count).toBe((statuses.completed ?? 0) + (statuses.incomplete ?? 0));
  expect(sum((totals?.histogram ?? []).map(({ count }) => count))).toBe(totals?.count);

  // Digests, which come once a second.
  await eventually('the digests have all calls', () => {
    daemon.advance(1_000);
    return Object.values(digest.counts).reduce((all, calls) => all + calls, 0) >= sent;
  });
  await digest.end();
  expect(digest.counts).toEqual(statuses);
});
