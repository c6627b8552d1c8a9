import { describe, expect, test } from 'vitest';
import { startChildDaemon } from '../support/child-daemon.ts';
import { eventually } from '../support/eventually.ts';
import { missingPostgres, sharedPostgres } from '../support/postgres.ts';
import { SeveralDaemons } from '../support/several-daemons.ts';
import { type SlotServer, startSlotServer } from '../support/slot-server.ts';

const missing = missingPostgres();

const configOf = ({ url }: SlotServer, calls: number) =>
  [
    'log: { level: error }',
    'upstreams:',
    `  - { name: slots, base_url: "${url}", concurrency: ${calls}, queue: 10m, models: ["*"], prices: { input: "0", output: "0" } }`,
  ].join('\n');

interface Place {
  url: string;
  key: string;
}

async function ask(
  { url, key }: Place,
  stream: boolean,
  { model = 'slots/m', signal }: { model?: string; signal?: AbortSignal | undefined } = {},
): Promise<string> {
  try {
    const answer = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, stream, messages: [{ role: 'user', content: 'Hello' }] }),
      ...(signal && { signal }),
    });
    const text = await answer.text();
    if (!answer.ok) return `${answer.status} ${text}`;
    return text.includes('Hello') ? 'answered' : 'cut';
  } catch {
    return 'left';
  }
}

/** Calls at all places at once, of which some leave while they wait or run, once as many run as the limit allows. */
async function callAll(
  places: readonly Place[],
  server: SlotServer,
  { count, limit }: { count: number; limit: number },
) {
  const leavers: AbortController[] = [];
  const calls = Array.from({ length: count }, (_, index) => {
    const leaver = index % 8 === 3 ? new AbortController() : undefined;
    if (leaver) leavers.push(leaver);
    return ask(places[index % places.length] as Place, index % 3 === 0, { signal: leaver?.signal });
  });
  await eventually('calls run', () => server.running === limit);
  for (const leaver of leavers.slice(0, leavers.length / 2)) leaver.abort();
  server.answerAll();
  await eventually('some are answered', () => server.asked.length > 20);
  for (const leaver of leavers) leaver.abort();
  return new Set(await Promise.all(calls));
}

test('a limit holds over the threads of a daemon', async () => {
  const server = await startSlotServer(7);
  const daemon = await startChildDaemon({ config: `workers: 3\n${configOf(server, 7)}` });
  try {
    expect(await callAll([daemon], server, { count: 400, limit: 7 })).toEqual(new Set(['answered', 'left']));
    expect(server.most).toBe(7);
    // Other calls are still the workers'.
    const others = Array.from({ length: 20 }, () => ask(daemon, false, { model: 'sim/echo' }));
    expect(new Set(await Promise.all(others))).toEqual(new Set(['answered']));
    const metrics = await (await fetch(`${daemon.url}/metrics`)).text();
    const counts = [...metrics.matchAll(/^gateway_worker_calls_total\{.*\} (\d+)$/gm)].map(([, count]) =>
      Number(count),
    );
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(20);
  } finally {
    await daemon.remove();
    await server.close();
  }
});

describe.skipIf(missing)(`several daemons${missing ? ` (skipped: ${missing})` : ''}`, () => {
  test('a limit holds over all daemons of a database, and all are served', async () => {
    const server = await startSlotServer(2);
    const several = await SeveralDaemons.start(await sharedPostgres(), {
      count: 3,
      config: configOf(server, 2),
    });
    try {
      const places = several.daemons.map(({ url }) => several.at(url));
      expect(await callAll(places, server, { count: 120, limit: 2 })).toEqual(new Set(['answered', 'left']));
      expect(server.most).toBe(2);
      await eventually(
        'all slots are given back',
        async () => (await several.count('SELECT count(*) FROM call_slots')) === 0,
      );
    } finally {
      await several.remove();
      await server.close();
    }
  });

  test('what a killed daemon had is free once another one takes over its work', async () => {
    const server = await startSlotServer(1);
    const several = await SeveralDaemons.start(await sharedPostgres(), {
      count: 2,
      config: configOf(server, 1),
    });
    try {
      const [first, second] = [several.daemon(0), several.daemon(1)].map(({ url }) => several.at(url));
      if (!first || !second) throw new TypeError('there are two daemons');
      const lost = ask(first, true);
      await eventually('one runs', () => server.running === 1);
      const waiting = ask(second, false);
      await eventually(
        'the other daemon is due a slot',
        async () => (await several.count('SELECT count(*) FROM call_slots WHERE is_due = 1')) === 1,
      );
      several.daemon(0).signal('SIGKILL');
      server.answerAll();
      expect(await lost).not.toBe('answered');
      expect(await waiting).toBe('answered');
      expect(server.most).toBe(1);
    } finally {
      await several.remove();
      await server.close();
    }
  });
});
