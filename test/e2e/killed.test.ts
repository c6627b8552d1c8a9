import { existsSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { drips, hangsAfterHeaders, words } from '../support/chaos-behaviours.ts';
import { allFormatPairs, chaosConfig, nanoUsdPerToken } from '../support/chaos-daemon.ts';
import { type ChaosUpstream, startChaosUpstream } from '../support/chaos-upstream.ts';
import { type ChildDaemon, startChildDaemon } from '../support/child-daemon.ts';
import { eventually } from '../support/eventually.ts';
import { type Ledger, readLedger } from '../support/ledger.ts';
import { callModel, completeCall, type ModelAnswer, parseStream } from '../support/model-client.ts';

/** `KILLS=1000` for a night. */
const kills = Number(process.env.KILLS ?? 1);
const limitMs = 120_000 + kills * 10_000;
const clients = 12;
const usage = { input: 100, output: 50 };
const price = usage.input * nanoUsdPerToken.input + usage.output * nanoUsdPerToken.output;

let chaos: ChaosUpstream;
let daemon: ChildDaemon | undefined;

beforeAll(async () => {
  chaos = await startChaosUpstream(drips(2, { text: words, usage }));
});

afterAll(async () => {
  await daemon?.remove();
  await chaos.close();
});

/** Starts the daemon, on the folder of the last one if there was one. */
async function start(): Promise<ChildDaemon> {
  if (daemon) await kill(daemon);
  daemon = await startChildDaemon(
    daemon ? { home: daemon.home } : { config: chaosConfig(chaos.baseUrl, 'capture: { content: disk }\n') },
  );
  return daemon;
}

async function kill({ signal, ended }: ChildDaemon): Promise<void> {
  signal('SIGKILL');
  await ended;
}

/** The cost that a complete answer reported, in nano-dollars. */
function reportedCost(answer: ModelAnswer, stream: boolean): number | undefined {
  if (answer.status !== 200) return undefined;
  if (!stream) return nano(answer.headers['x-service-cost-usd']);
  const { events, isDoneLast } = parseStream(answer.text);
  if (!isDoneLast) return undefined;
  for (const event of events) {
    // This format has no cost in streams.
    if (event.type === 'message_stop') return price;
    if (event.type === 'service:cost') return nano((event.cost as { total_usd: string }).total_usd);
    const chunk = event.usage as { cost_usd?: string } | null | undefined;
    if (chunk?.cost_usd !== undefined) return nano(chunk.cost_usd);
  }
  throw new Error(`no cost was reported: ${answer.text}`);
}

const nano = (usd: unknown) => Math.round(Number(usd) * 1e9);

/** Makes one call after the other until stopped; records the cost of each complete answer. */
async function keepCalling(
  target: ChildDaemon,
  reported: Map<string, number>,
  stopped: () => boolean,
): Promise<void> {
  for (let i = 0; !stopped(); i += 1) {
    const { wire, upstream } = allFormatPairs[Math.floor(Math.random() * allFormatPairs.length)] ?? {
      wire: 'chat',
      upstream: 'chat',
    };
    const stream = Math.random() < 0.7;
    const answer = callModel(target, {
      wire,
      model: `${upstream}/any`,
      stream,
      more: i % 3 || wire === 'messages' ? {} : { store: true },
    });
    if ((await answer.ended) === 'cut') continue;
    const cost = reportedCost(answer, stream);
    if (cost !== undefined) reported.set(String(answer.headers['x-request-id']), cost);
  }
}

/** The number of calls whose content is on disk. */
function keptContent(home: string): number {
  const file = join(home, 'content.db');
  if (!existsSync(file)) return 0;
  const content = new Database(file, { readonly: true });
  try {
    return content.prepare<[], number>('SELECT count(*) FROM captures').pluck().get() ?? 0;
  } catch {
    // Its tables are not made yet.
    return 0;
  } finally {
    content.close();
  }
}

describe('a daemon killed under load', () => {
  test(
    `loses no delivered answer and settles the others, ${kills} times`,
    async () => {
      const reported = new Map<string, number>();
      for (let killed = 0; killed < kills; killed += 1) {
        const running = await start();
        expectBooks(readLedger(running.home), reported);
        let isOver = false;
        const calling = Array.from({ length: clients }, () => keepCalling(running, reported, () => isOver));
        // The moment of the kill depends on nothing in the daemon.
        const after = reported.size + Math.floor(Math.random() * clients * 4);
        await eventually('there is load', () => {
          return keptContent(running.home) > 0 && reported.size >= after && chaos.busy > 0;
        });
        isOver = true;
        await kill(running);
        await Promise.all(calling);
      }
      const running = await start();
      const ledger = readLedger(running.home);
      expectBooks(ledger, reported);
      expect(reported.size).toBeGreaterThan(kills);
      expect(ledger.usage.some(({ status }) => status === 'interrupted')).toBe(true);
      // The file with the content of the calls is sound, too, and the daemon goes on with it.
      expect(keptContent(running.home)).toBeGreaterThan(0);
      const content = new Database(join(running.home, 'content.db'), { readonly: true });
      expect(content.pragma('integrity_check', { simple: true })).toBe('ok');
      content.close();
      expect(running.printed().stderr).not.toContain('content.db');
    },
    limitMs,
  );

  function expectBooks({ usage: rows, holds, faults }: Ledger, reported: ReadonlyMap<string, number>): void {
    expect({ holds, faults }).toEqual({ holds: [], faults: [] });
    const settled = new Map(rows.map((row) => [row.requestId, row]));
    for (const [requestId, cost] of reported) {
      const row = settled.get(requestId);
      expect(row).toMatchObject({ status: 'completed', charged: cost, cost, ...usage });
      expect(cost).toBe(price);
    }
    for (const { status, charged } of rows) {
      expect(['completed', 'interrupted', 'canceled', 'failed']).toContain(status);
      expect(charged).toBeLessThanOrEqual(price);
    }
  }
});

describe('a call that was running when the daemon was killed', () => {
  /** Minutes, as only the kill ends it. */
  const long = { text: `${words} `.repeat(500) };

  /** Kills the daemon during one call of each model, once the holds are as wanted, and returns the hold that each model left. */
  async function interrupt(models: string[], areWanted: (holds: Ledger['holds']) => boolean = () => true) {
    const running = daemon ?? (await start());
    const asked = models.map((model) =>
      callModel(running, { wire: 'responses', model: `chat/${model}`, stream: true }),
    );
    const holds = () => readLedger(running.home).holds;
    await eventually('the holds', () => holds().length === models.length && areWanted(holds()));
    await kill(running);
    for (const answer of asked) expect(await answer.ended).toBe('cut');
    return (model: string) =>
      holds().find((hold) => hold.model === `chat/${model}`) as Ledger['holds'][number];
  }

  test('is charged for the progress that was stored, or else for its prompt, and marked interrupted', async () => {
    chaos.on('silent', hangsAfterHeaders());
    chaos.on('talking', drips(20, long));
    const left = await interrupt(['silent', 'talking'], (holds) =>
      holds.some(({ progressCost }) => progressCost !== null),
    );
    const { promptCost, progressCost, requestId } = left('silent');
    expect(promptCost).toBeGreaterThan(0);
    expect(progressCost).toBeNull();
    const talking = left('talking');
    expect(talking.progressCost).toBeGreaterThan(talking.promptCost);
    const { url, key, home } = await start();
    const { usageOf, holds } = readLedger(home);
    expect(holds).toEqual([]);
    expect(usageOf('chat/silent')).toMatchObject([{ status: 'interrupted', charged: promptCost, requestId }]);
    expect(usageOf('chat/talking')).toMatchObject([
      { status: 'interrupted', charged: talking.progressCost, provider: 'chat' },
    ]);
    const shown = await fetch(`${url}/v1/usage/${requestId}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect(await shown.json()).toMatchObject({ request_id: requestId, status: 'interrupted' });
  });

  test('is settled even if the clock went back', async () => {
    chaos.on('ahead', hangsAfterHeaders());
    await interrupt(['ahead']);
    const database = new Database(join((daemon as ChildDaemon).home, 'gateway.db'));
    database.prepare('UPDATE holds SET created_at = created_at + 86400000').run();
    database.close();
    const running = await start();
    const { holds, usageOf, faults } = readLedger(running.home);
    expect({ holds, faults }).toEqual({ holds: [], faults: [] });
    expect(usageOf('chat/ahead')).toMatchObject([{ status: 'interrupted' }]);
    const answer = await completeCall(running, { wire: 'chat', model: 'chat/any', stream: true });
    expect(parseStream(answer.text).isDoneLast).toBe(true);
  });
});
