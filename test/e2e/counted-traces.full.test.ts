import { afterAll, beforeAll, expect, test } from 'vitest';
import { routeTo } from '../../src/cli/hosts/send.ts';
import { createClient } from '../../src/shared/client.ts';
import type { TraceView } from '../../src/shared/contract/traces.ts';
import { getTraceFacets, listTraces, listUsage, searchTraceContent } from '../../src/shared/endpoints.ts';
import { eventually } from '../support/eventually.ts';
import { runCli } from '../support/run-cli.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

/*
 * Five hundred calls with every fate, many of them rejected in floods: lists, counts, facets, searches and exports have the same
 * ones, and each once.
 */

const word = 'Kumquat';
let daemon: RunningDaemon;
let sent = 0;

beforeAll(async () => {
  daemon = await startDaemon({ config: 'capture: {memory_mb: 64}\n' });
});

afterAll(() => daemon.stop());

interface Wanted {
  key?: string;
  model?: string;
  body?: object;
  headers?: Record<string, string>;
}

async function times(
  count: number,
  { key = daemon.key, model = 'sim/echo', body = {}, headers = {} }: Wanted,
) {
  for (let at = 0; at < count; at += 1) {
    sent += 1;
    const answer = await fetch(`${daemon.url}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model, input: 'Hello.', ...body }),
    });
    await answer.text();
  }
}

const asOwner = () => ({ authorization: `Bearer ${daemon.login}` });
const callsOf = (traces: readonly Pick<TraceView, 'rejection'>[]) =>
  traces.reduce((sum, { rejection }) => sum + 1 + (rejection?.more ?? 0), 0);

/** The lines of an export; texts of CSV have no line breaks here. */
async function exported(format: string, q: string): Promise<string[]> {
  const query = new URLSearchParams({ format, q });
  const answer = await fetch(`${daemon.url}/v1/traces/export?${query}`, { headers: asOwner() });
  expect(answer.status).toBe(200);
  return (await answer.text()).trim().split(/\r?\n/);
}

function ofOtlp(line: string) {
  const { resourceSpans } = JSON.parse(line) as {
    resourceSpans: {
      scopeSpans: { spans: { attributes: { key: string; value: Record<string, unknown> }[] }[] }[];
    }[];
  };
  const [root] = resourceSpans[0]?.scopeSpans[0]?.spans ?? [];
  const attribute = (key: string) =>
    Object.values(root?.attributes.find((one) => one.key === key)?.value ?? {})[0];
  return { id: attribute('gateway.request.id'), calls: 1 + Number(attribute('gateway.rejected.more') ?? 0) };
}

test('hundreds of calls are the same in lists, counts, facets, searches and exports', async () => {
  await times(225, { headers: { 'x-service-user': 'ann' } });
  await times(60, { body: { input: `${word}?` }, headers: { 'x-service-tags': 'team=a,job=7' } });
  await times(30, { model: 'sim/assistant', body: { max_output_tokens: 16, input: 'Write 300 words.' } });
  await times(10, { model: 'sim/limited' });
  await times(10, { model: 'sim/broken', body: { stream: true } });
  await times(90, { model: 'gpt-nosuch', headers: { 'x-service-user': 'bob' } });
  await times(50, { body: { input: 7 } });
  await times(25, { key: 'svc_wrong' });
  expect(sent).toBe(500);

  const client = createClient({ ...routeTo({ url: daemon.url }, {}), token: daemon.login });
  await eventually('all are settled', async () => {
    const { total } = await client.call(listUsage, { query: { group_by: 'status' } });
    return total.requests + total.rejected === sent;
  });
  const listed = async (q: string) => {
    const found: TraceView[] = [];
    for (let after: string | undefined; ; ) {
      const page = await client.call(listTraces, { query: { limit: 100, q, ...(after && { after }) } });
      found.push(...page.data);
      if (page.next === null) return found;
      after = page.next;
    }
  };
  const queries: [q: string, calls: number][] = [
    ['', 500],
    ['status:completed', 285],
    ['status:incomplete', 30],
    ['status:failed', 20],
    ['status:rejected', 165],
    ['user:ann', 225],
    ['tag:team=a', 60],
    ['model:gpt-nosuch', 90],
    ['-status:rejected', 335],
    ['error:unauthenticated', 25],
  ];
  for (const [q, calls] of queries) {
    const traces = await listed(q);
    const ids = traces.map(({ request_id: id }) => id);
    expect([q, callsOf(traces), new Set(ids).size]).toEqual([q, calls, ids.length]);
    expect([q, (await client.call(getTraceFacets, { query: q === '' ? {} : { q } })).calls]).toEqual([
      q,
      calls,
    ]);

    const rows = (await exported('jsonl', q)).map((line) => JSON.parse(line) as TraceView);
    expect([q, rows.map(({ request_id: id }) => id)]).toEqual([q, ids]);
    expect([q, callsOf(rows)]).toEqual([q, calls]);
    const [head = '', ...cells] = (await exported('csv', q)).map((line) => line);
    const at = head.split(',').indexOf('more');
    expect([q, cells.map((line) => line.split(',')[0])]).toEqual([q, ids]);
    // Only the message before it could have commas.
    const more = cells.map((line) => Number(line.split(',').at(at - head.split(',').length)));
    expect([q, more.reduce((sum, one) => sum + 1 + one, 0)]).toEqual([q, calls]);
    const spans = (await exported('otlp', q)).map(ofOtlp);
    expect([q, spans.map(({ id }) => id)]).toEqual([q, ids]);
    expect([q, spans.reduce((sum, one) => sum + one.calls, 0)]).toEqual([q, calls]);
  }

  const counted = await runCli(['calls', 'count', '--by', 'status', '--json'], {
    env: { GATEWAY_HOME: daemon.home },
  });
  const statuses = JSON.parse(counted.stdout) as { value: string; requests: number }[];
  expect(Object.fromEntries(statuses.map((row) => [row.value, row.requests]))).toEqual({
    completed: 285,
    rejected: 165,
    incomplete: 30,
    failed: 20,
  });

  // The content of each is found once, and its call is in the list of those with the text.
  const matches = new Set<string>();
  for (let after: string | undefined; ; ) {
    const page = await client.call(searchTraceContent, {
      query: { text: word, limit: 100, ...(after && { after }) },
    });
    for (const { request_id: id } of page.matches) matches.add(id);
    if (page.next === null) break;
    after = page.next;
  }
  const withText = await listed(`"${word}"`);
  expect(new Set(withText.map(({ request_id: id }) => id))).toEqual(matches);
}, 240_000);
