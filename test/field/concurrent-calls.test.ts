import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type SlotServer, startSlotServer } from '../support/slot-server.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

/** What users of other gateways report of limits of concurrent calls: places that are never given back, and what refused calls cost. */
let server: SlotServer;
let broken: SlotServer;
let daemon: RunningDaemon;

beforeAll(async () => {
  [server, broken] = await Promise.all([startSlotServer(), startSlotServer()]);
  broken.failAll();
  daemon = await startDaemon({
    config: [
      'upstreams:',
      `  - { name: slots, base_url: "${server.url}", models: [m] }`,
      `  - { name: broken, base_url: "${broken.url}", models: [m] }`,
    ].join('\n'),
  });
});

afterAll(async () => {
  await daemon.stop();
  await Promise.all([server.close(), broken.close()]);
});

/** A key with one call at a time, and a call with it. */
async function keyWithOnePlace(limits: object = {}) {
  const issued = await daemon.fetch('/v1/workspaces/me/keys', {
    json: { name: 'one', limits: { concurrency: 1, queue_seconds: 0, ...limits } },
    headers: { authorization: `Bearer ${daemon.login}` },
  });
  const { secret } = (await issued.json()) as { secret: string };
  return (path: string, body: object = {}, signal?: AbortSignal) =>
    daemon.fetch(path, {
      json: { model: 'slots/m', max_tokens: 16, messages: [{ role: 'user', content: 'Hi.' }], ...body },
      headers: { authorization: `Bearer ${secret}` },
      ...(signal && { signal }),
    });
}

/** Whether the key's only place is free: a call is accepted. */
async function expectFree(call: Awaited<ReturnType<typeof keyWithOnePlace>>): Promise<void> {
  const answer = await eventually('a call is accepted', async () => {
    const asked = call('/v1/chat/completions');
    const next = await Promise.race([asked, eventually('it runs', () => server.running === 1)]);
    if (next !== true && next.status === 429) return undefined;
    server.finish();
    return await asked;
  });
  expect(answer.status).toBe(200);
}

// BerriAI/litellm#27955: clients open a stream and leave as soon as another answer comes.
test.each(['/v1/messages', '/v1/chat/completions'])(
  'a stream of %s that its client leaves gives its place back',
  async (path) => {
    const call = await keyWithOnePlace();
    for (let times = 0; times < 3; times += 1) {
      const client = new AbortController();
      const stream = await call(path, { stream: true }, client.signal);
      await stream.body?.getReader().read();
      expect((await call(path)).status).toBe(429);
      client.abort();
      await eventually('the provider is left', () => server.running === 0);
    }
    await expectFree(call);
  },
);

// BerriAI/litellm#1477 and BerriAI/litellm#20256.
test('a call of no model, and one whose provider fails, give their place back', async () => {
  const call = await keyWithOnePlace();
  for (let times = 0; times < 3; times += 1) {
    expect((await call('/v1/chat/completions', { model: 'nosuch/model' })).status).toBe(404);
    expect((await call('/v1/chat/completions', { model: 'broken/m' })).status).toBe(502);
  }
  await expectFree(call);
});

// BerriAI/litellm#39309.
test('a call that is refused for lack of a place is not counted among those per minute', async () => {
  const call = await keyWithOnePlace({ requests_per_minute: 2 });
  const first = call('/v1/chat/completions');
  await eventually('it runs', () => server.running === 1);
  for (let times = 0; times < 3; times += 1) expect((await call('/v1/chat/completions')).status).toBe(429);
  server.finish();
  expect((await first).status).toBe(200);
  await expectFree(call);
  const last = await call('/v1/chat/completions');
  expect([last.status, await last.text()]).toEqual([
    403,
    expect.stringContaining('limits.requests_per_minute'),
  ]);
});
