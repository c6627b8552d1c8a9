import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { answers, words } from '../support/chaos-behaviours.ts';
import { chaosConfig, nanoUsdPerToken } from '../support/chaos-daemon.ts';
import { type ChaosUpstream, startChaosUpstream } from '../support/chaos-upstream.ts';
import { type ChildDaemon, startChildDaemon } from '../support/child-daemon.ts';
import { eventually } from '../support/eventually.ts';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { completeCall, isComplete } from '../support/model-client.ts';
import { missingPostgres, type PostgresServer, startPostgres } from '../support/postgres.ts';
import { runWhenAvailable } from '../support/run-cli.ts';
import { whenAvailable } from '../support/when-available.ts';

const missing = missingPostgres();
if (missing) process.stderr.write(`Cut connections to PostgreSQL are not tested: ${missing}\n`);

const usage = { input: 100, output: 50 };
const price = usage.input * nanoUsdPerToken.input + usage.output * nanoUsdPerToken.output;
const callers = 4;

let server: PostgresServer;
let proxy: FaultProxy;
let chaos: ChaosUpstream;
let daemon: ChildDaemon;
let database: string;

describe.skipIf(missing !== undefined)('a connection to PostgreSQL', () => {
  beforeAll(async () => {
    server = await startPostgres({ hasTcp: true });
    proxy = await startFaultProxy(server.url());
    chaos = await startChaosUpstream(answers({ text: words, usage }));
    const url = await server.newDatabase();
    database = new URL(url).pathname.slice(1);
    daemon = await startChildDaemon({
      config: chaosConfig(chaos.baseUrl),
      env: { GATEWAY_STORAGE_URL: proxy.through(url) },
    });
  });

  afterAll(async () => {
    await daemon?.remove();
    await chaos?.close();
    await proxy?.close();
    await server?.stop();
  });

  /** Calls until stopped; returns the ids of those that were answered, and every status. */
  function keepCalling(isOver: () => boolean) {
    const answered: string[] = [];
    const statuses = new Set<number>();
    const caller = async (at: number) => {
      for (let sent = 0; !isOver(); sent += 1) {
        const stream = (at + sent) % 2 === 0;
        const answer = await completeCall(daemon, { wire: 'chat', model: 'chat/any', stream });
        statuses.add(answer.status);
        if (isComplete(answer, stream)) answered.push(String(answer.headers['x-request-id']));
      }
    };
    const ended = Promise.all(Array.from({ length: callers }, (_, at) => caller(at)));
    return { answered, statuses, ended };
  }

  async function expectBooks(answered: readonly string[]): Promise<void> {
    await eventually('nothing is held', async () => {
      const [row] = await server.query('SELECT count(*)::int AS held FROM gateway.holds', database);
      return row?.held === 0;
    });
    const rows = await server.query('SELECT request_id, status, charged FROM gateway.usage', database);
    const charged = new Map(rows.map((row) => [String(row.request_id), Number(row.charged)]));
    expect(answered.filter((id) => charged.get(id) !== price)).toEqual([]);
    for (const each of charged.values()) expect(each).toBeLessThanOrEqual(price);
    // Each answer of the provider is charged once, whatever became of it.
    expect(charged.size).toBeLessThanOrEqual(chaos.calls.length);
    const verified = await runWhenAvailable(['ledger', 'verify'], { env: { GATEWAY_HOME: daemon.home } });
    expect(verified.stderr).toMatch(/^The ledger balances: /);
  }

  test.each(['before', 'after'] as const)(
    'cut %s the server has a COMMIT loses no answer and charges nothing twice',
    async (where) => {
      let isOver = false;
      const calling = keepCalling(() => isOver);
      for (let cuts = 0; cuts < 8; cuts += 1) {
        const soFar = calling.answered.length;
        await proxy.cutCommit(where);
        await eventually('calls are answered again', () => calling.answered.length > soFar + callers);
      }
      isOver = true;
      await calling.ended;
      expect([...calling.statuses].filter((status) => status !== 200 && status !== 503)).toEqual([]);
      await expectBooks(calling.answered);
    },
  );

  test('cut at any moment, slow or not, loses no answer and charges nothing twice', async () => {
    let isOver = false;
    const calling = keepCalling(() => isOver);
    for (const delayMs of [0, 0, 3, 3, 0]) {
      proxy.delayMs = delayMs;
      const soFar = calling.answered.length;
      await eventually('calls are answered', () => calling.answered.length > soFar + callers);
      proxy.cut();
    }
    const soFar = calling.answered.length;
    await eventually('calls are answered again', () => calling.answered.length > soFar + callers);
    isOver = true;
    await calling.ended;
    await expectBooks(calling.answered);
  });

  test('cut at the COMMIT of an idempotent call gives its answer to the next attempt', async () => {
    for (const where of ['before', 'after'] as const) {
      const before = chaos.calls.length;
      const ask = () =>
        fetch(`${daemon.url}/v1/chat/completions`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${daemon.key}`,
            'content-type': 'application/json',
            'idempotency-key': `cut-${where}`,
          },
          body: JSON.stringify({ model: 'chat/any', messages: [{ role: 'user', content: 'Hi' }] }),
        });
      const cut = proxy.cutCommit(where);
      const answer = await eventually('it is answered', async () => {
        const each = await ask();
        const text = await each.text();
        return each.status === 200 && text;
      });
      await cut;
      expect(await (await whenAvailable(ask)).text()).toBe(answer);
      expect(chaos.calls.length).toBe(before + 1);
    }
    await expectBooks([]);
  });
});
