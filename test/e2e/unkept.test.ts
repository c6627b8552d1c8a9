import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { words } from '../support/chaos-behaviours.ts';
import { type ChaosDaemon, startChaosDaemon } from '../support/chaos-daemon.ts';
import { completeCall, parseStream } from '../support/model-client.ts';

let chaotic: ChaosDaemon;

beforeAll(async () => {
  chaotic = await startChaosDaemon('log: {level: silent}');
  const database = new Database(join(chaotic.daemon.home, 'gateway.db'));
  database.pragma('foreign_keys = OFF');
  database.exec('DROP TABLE responses');
  database.close();
});

afterAll(async () => {
  await chaotic.close();
});

test.each([true, false])(
  'an answer that cannot be stored is still delivered, and says so (stream: %s)',
  async (stream) => {
    const model = `chat/${stream}`;
    const answer = await completeCall(chaotic.daemon, {
      wire: 'responses',
      model,
      stream,
      more: { store: true },
    });
    expect(answer.status).toBe(200);
    const last = stream
      ? (parseStream(answer.text).events.at(-1)?.response as Record<string, unknown>)
      : JSON.parse(answer.text);
    expect(last).toMatchObject({
      status: 'completed',
      store: false,
      output: [{ content: [{ text: words }] }],
    });
    expect(await chaotic.waitForUsage(model)).toMatchObject({ status: 'completed', isReported: 1 });
    expect(chaotic.ledger().holds).toEqual([]);
  },
);
