import { afterAll, beforeAll, expect, type TestContext, test } from 'vitest';
import { drips, hangs, stallsAfter, words } from '../support/chaos-behaviours.ts';
import { chaosConfig } from '../support/chaos-daemon.ts';
import { type ChaosUpstream, startChaosUpstream } from '../support/chaos-upstream.ts';
import { type ChildDaemon, startChildDaemon } from '../support/child-daemon.ts';
import { eventually } from '../support/eventually.ts';
import { readLedger } from '../support/ledger.ts';

let chaos: ChaosUpstream;

beforeAll(async () => {
  chaos = await startChaosUpstream(drips(5));
});

afterAll(async () => {
  await chaos.close();
});

interface Answer {
  id: string;
  status: string;
  error: { code: string } | null;
  output: { content: { text: string }[] }[];
}

async function ask(daemon: ChildDaemon, path: string, body?: object): Promise<Response> {
  return fetch(daemon.url + path, {
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
    headers: { authorization: `Bearer ${daemon.key}`, 'content-type': 'application/json' },
  });
}

async function begin(daemon: ChildDaemon, model: string, more: object = {}): Promise<Response> {
  const answer = await ask(daemon, '/v1/responses', { model, input: 'Go.', background: true, ...more });
  expect(answer.status).toBe(200);
  return answer;
}

const idOf = async (answer: Response) => ((await answer.json()) as Answer).id;
const read = async (daemon: ChildDaemon, id: string) =>
  (await (await ask(daemon, `/v1/responses/${id}`)).json()) as Answer;

/** Reads a stream until its text holds this, and leaves it. */
async function readUntil(answer: Response, wanted: string): Promise<string> {
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  let text = '';
  while (!text.includes(wanted)) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`the stream ended without ${wanted}: ${text}`);
    text += decoder.decode(value, { stream: true });
  }
  await reader.cancel();
  return text;
}

/** Each event's sequence and type. */
const eventsIn = (text: string) =>
  [...text.matchAll(/^data: (\{.*\})$/gm)].map(([, data]) => {
    const { sequence_number: sequence, type } = JSON.parse(data as string);
    return [sequence as number, type as string] as const;
  });

async function start(
  onTestFinished: TestContext['onTestFinished'],
  drain = '25000,5000',
): Promise<ChildDaemon> {
  const daemon = await startChildDaemon({ config: chaosConfig(chaos.baseUrl), env: { DRAIN_MS: drain } });
  onTestFinished(() => daemon.remove());
  return daemon;
}

test('background responses of a killed daemon have failed and are settled at the next start', async ({
  onTestFinished,
}) => {
  chaos.on('stalled', stallsAfter(8));
  chaos.on('silent', hangs());
  const killed = await start(onTestFinished);
  const stream = await begin(killed, 'chat/stalled', { stream: true });
  const seen = await readUntil(stream, 'response.output_text.delta');
  const id = /"id":"(resp_\w+)"/.exec(seen)?.[1] as string;
  const silent = await idOf(await begin(killed, 'chat/silent'));
  const done = await idOf(await begin(killed, 'chat/done'));
  await eventually('one is done', async () => (await read(killed, done)).status === 'completed');
  await eventually('both are held', () => readLedger(killed.home).holds.length === 2);
  killed.signal('SIGKILL');
  await killed.ended;

  const daemon = await startChildDaemon({ home: killed.home });
  onTestFinished(() => daemon.remove());
  for (const lost of [id, silent])
    expect(await read(daemon, lost)).toMatchObject({ status: 'failed', error: { code: 'server_error' } });
  expect(await read(daemon, done)).toMatchObject({
    status: 'completed',
    output: [{ content: [{ text: words }] }],
  });
  const { holds, usage, faults } = readLedger(daemon.home);
  expect({ holds, faults }).toEqual({ holds: [], faults: [] });
  expect(usage.map(({ status }) => status).sort()).toEqual(['completed', 'interrupted', 'interrupted']);

  // A client that saw more events than were stored still gets the end, with later sequence numbers.
  for (const after of [0, eventsIn(seen).at(-1)?.[0] as number, 1000]) {
    const rest = await (await ask(daemon, `/v1/responses/${id}?stream=true&starting_after=${after}`)).text();
    const events = eventsIn(rest);
    expect(events.map(([sequence]) => sequence)).toEqual(events.map((_, index) => after + 1 + index));
    expect(events.slice(-2).map(([, type]) => type)).toEqual(['error', 'response.failed']);
    expect(rest.endsWith('data: [DONE]\n\n')).toBe(true);
  }
  expect((await ask(daemon, `/v1/responses/${id}`)).status).toBe(200);
  const cancelled = await ask(daemon, `/v1/responses/${id}/cancel`, {});
  expect(await cancelled.json()).toMatchObject({ status: 'failed' });
});

test('a daemon that stops waits for background responses without followers', async ({ onTestFinished }) => {
  chaos.on('waited-for', drips(10));
  const stopped = await start(onTestFinished);
  const id = await idOf(await begin(stopped, 'chat/waited-for'));
  await eventually('it is asked', () => chaos.callsOf('waited-for').length === 1);
  stopped.signal('SIGTERM');
  expect(await stopped.ended).toBe(0);
  const daemon = await startChildDaemon({ home: stopped.home });
  onTestFinished(() => daemon.remove());
  expect(await read(daemon, id)).toMatchObject({ status: 'completed' });
});

test('at the deadline of a stop, background responses fail and are settled', async ({ onTestFinished }) => {
  chaos.on('endless', stallsAfter(8));
  const stopped = await start(onTestFinished, '200,100');
  const stream = await begin(stopped, 'chat/endless', { stream: true });
  const quiet = await idOf(await begin(stopped, 'chat/endless'));
  await eventually('both are asked', () => chaos.callsOf('endless').length === 2);
  stopped.signal('SIGTERM');
  const text = await stream.text();
  expect(eventsIn(text).at(-1)?.[1]).toBe('response.failed');
  expect(text).toContain('"code":"unavailable"');
  expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  expect(await stopped.ended).toBe(0);
  const { holds, usage } = readLedger(stopped.home);
  expect(holds).toEqual([]);
  expect(usage.map(({ status }) => status)).toEqual(['failed', 'failed']);
  const daemon = await startChildDaemon({ home: stopped.home });
  onTestFinished(() => daemon.remove());
  expect(await read(daemon, quiet)).toMatchObject({ status: 'failed', error: { code: 'unavailable' } });
});
