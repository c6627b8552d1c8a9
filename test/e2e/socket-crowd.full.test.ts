import { afterAll, beforeAll, expect, test } from 'vitest';
import { drips, stallsAfter } from '../support/chaos-behaviours.ts';
import { type ChaosDaemon, nanoUsdPerToken, startChaosDaemon } from '../support/chaos-daemon.ts';
import { heapBytes } from '../support/collect-garbage.ts';
import { eventually } from '../support/eventually.ts';
import { hostileTexts } from '../support/hostile.ts';
import { openSocket } from '../support/socket-client.ts';

let chaotic: ChaosDaemon;

beforeAll(async () => {
  chaotic = await startChaosDaemon('log: {level: silent}');
  chaotic.chaos.on('drips', drips(2));
  chaotic.chaos.on('stalls', stallsAfter(8));
});

afterAll(async () => {
  await chaotic.close();
});

const open = () => openSocket(`${chaotic.daemon.url}/v1/responses`, { key: chaotic.daemon.key });
const create = (model: string) => ({
  type: 'response.create',
  model: `chat/${model}`,
  input: 'Say something.',
  store: false,
});

/** The same numbers in each run. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

test('100 sockets whose clients disconnect at any moment leave no call behind, and the ledger balances', async () => {
  const random = numbers(7);
  const sockets = await Promise.all(Array.from({ length: 100 }, open));
  await Promise.all(
    sockets.map(async (socket, index) => {
      const model = index % 3 === 0 ? 'stalls' : 'drips';
      const frames = Math.floor(random() * 12);
      for (let i = 0; i <= index % 4; i += 1) socket.send(create(model));
      for (let i = 0; i < (model === 'stalls' ? Math.min(frames, 3) : frames); i += 1) await socket.next();
      if (index % 2 === 0) socket.disconnect();
      else socket.webSocket.close();
    }),
  );
  const { usage, holds, faults } = await chaotic.waitUntilIdle();
  expect({ holds, faults }).toEqual({ holds: [], faults: [] });
  await eventually('every connection to the provider is over', () => chaotic.chaos.busy === 0);
  expect(usage.length).toBeGreaterThan(50);
  for (const { status, charged, input, output } of usage) {
    expect(['completed', 'canceled']).toContain(status);
    expect(charged).toBe(input * nanoUsdPerToken.input + output * nanoUsdPerToken.output);
  }
});

test('a client that disconnects ends its call at the provider', async () => {
  const client = await open();
  client.send(create('stalls'));
  await client.next(({ type }) => type === 'response.output_text.delta');
  client.disconnect();
  await eventually('the provider connection is closed', () => chaotic.chaos.busy === 0);
});

test('any frame is answered or closes the socket, and the daemon keeps working', async () => {
  const random = numbers(11);
  const texts = [
    ...hostileTexts.filter((text) => text.length < 10_000),
    '{"type":"response.create"}',
    '{"type":"response.create","model":null,"input":[null]}',
    '{"type":"response.create","model":"chat/any","input":{"a":1},"previous_response_id":[]}',
    '{"type":"response.create","model":"chat/any","input":"x","generate":"no"}',
    '{"type":"response.cancel"}',
    '{"__proto__":{"type":"response.create"}}',
    'null',
    '7',
    '"response.create"',
  ];
  const client = await open();
  for (let i = 0; i < 300; i += 1) {
    const text = texts[Math.floor(random() * texts.length)] as string;
    const cut = random() < 0.3 ? text.slice(0, Math.floor(random() * text.length)) : text;
    const [first] = await client.ask(random() < 0.1 ? Buffer.from(cut) : cut);
    expect(first).toMatchObject({ type: 'error', error: { code: expect.any(String) } });
    expect(first.status).toBeGreaterThanOrEqual(400);
    expect(first.status).toBeLessThan(500);
  }
  const broken = await open();
  // What is no frame: all reserved bits set.
  (broken.webSocket as unknown as { _socket: { write(bytes: Buffer): void } })._socket.write(
    Buffer.alloc(64, 0xff),
  );
  expect((await broken.closed).code).toBe(1002);
  expect((await client.ask(create('any'))).at(-1).type).toBe('response.completed');
});

test('repeated calls on a socket use no more memory', async () => {
  const client = await open();
  let previous: string | undefined;
  const round = async (count: number) => {
    for (let i = 0; i < count; i += 1) {
      const events = await client.ask({
        ...create('any'),
        previous_response_id: i % 10 === 0 ? undefined : previous,
      });
      previous = events.at(-1).response.id;
      client.forget();
    }
  };
  await round(60);
  const before = heapBytes();
  await round(200);
  // The daemon stores what a call was after its answer.
  await expect.poll(() => heapBytes() - before, { interval: 100 }).toBeLessThan(8 * 1024 * 1024);
});
