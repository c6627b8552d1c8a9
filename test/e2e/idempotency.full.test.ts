import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { answers, drips, hangs, says, words } from '../support/chaos-behaviours.ts';
import { chaosConfig } from '../support/chaos-daemon.ts';
import { type ChaosUpstream, startChaosUpstream } from '../support/chaos-upstream.ts';
import { type ChildDaemon, startChildDaemon } from '../support/child-daemon.ts';
import { eventually } from '../support/eventually.ts';
import { readLedger } from '../support/ledger.ts';

let chaos: ChaosUpstream;
let daemon: ChildDaemon;

beforeAll(async () => {
  chaos = await startChaosUpstream(answers());
  daemon = await startChildDaemon({ config: chaosConfig(chaos.baseUrl) });
});

afterAll(async () => {
  await daemon.remove();
  await chaos.close();
});

interface Asked {
  key?: string;
  body: Record<string, unknown>;
  path?: string;
  secret?: string;
  signal?: AbortSignal;
}

async function send({ key, body, path = '/v1/responses', secret = daemon.key, signal }: Asked) {
  const answer = await fetch(daemon.url + path, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: {
      authorization: `Bearer ${secret}`,
      'content-type': 'application/json',
      ...(key !== undefined && { 'idempotency-key': key }),
    },
    ...(signal && { signal }),
  });
  const text = await answer.text();
  const { headers, status } = answer;
  return {
    status,
    text,
    error: status === 200 ? undefined : JSON.parse(text).error,
    requestId: headers.get('x-request-id'),
    isReplayed: headers.get('idempotent-replayed') === 'true',
    replayOf: headers.get('x-service-replay-of'),
    shouldRetry: headers.get('x-should-retry'),
    headers,
  };
}

const responses = (model: string, input = 'Say something.') => ({ model, input });
const chat = (model: string, content = 'Say something.') => ({
  model,
  messages: [{ role: 'user', content }],
});

describe.each([
  ['/v1/responses', 'responses/', responses],
  ['/v1/responses', 'chat/', responses],
  ['/v1/chat/completions', 'chat/', chat],
] as const)('a call of %s to %s… with an Idempotency-Key', (path, upstream, bodyOf) => {
  const place = `${path}${upstream}`.replaceAll('/', '-');

  test('runs and is charged once; later calls get the same bytes', async () => {
    const model = `once${place}`;
    const asked = { key: `key${place}`, path, body: bodyOf(upstream + model) };
    const first = await send(asked);
    expect([first.status, first.isReplayed]).toEqual([200, false]);
    // Another order of members and another way to write them is the same body.
    const reordered = Object.fromEntries(Object.entries(asked.body).reverse());
    for (const again of [asked, { ...asked, body: reordered }, { ...asked, key: `"${asked.key}"` }]) {
      const twin = await send(again);
      expect([twin.status, twin.isReplayed, twin.replayOf]).toEqual([200, true, first.requestId]);
      expect(twin.text).toBe(first.text);
      expect(twin.requestId).not.toBe(first.requestId);
      for (const name of ['x-service-model', 'x-service-upstream', 'x-service-cost-usd', 'content-type'])
        expect(twin.headers.get(name)).toBe(first.headers.get(name));
    }
    expect(chaos.callsOf(model)).toHaveLength(1);
    expect(readLedger(daemon.home).usageOf(upstream + model)).toHaveLength(1);
  });

  test('runs once for 300 simultaneous calls', async () => {
    const model = `herd${place}`;
    chaos.on(model, drips(30));
    const asked = { key: `herd${place}`, path, body: bodyOf(upstream + model) };
    const all = await Promise.all(Array.from({ length: 300 }, () => send(asked)));
    expect(new Set(all.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(all.filter(({ isReplayed }) => !isReplayed)).toHaveLength(1);
    expect(new Set(all.map(({ requestId }) => requestId)).size).toBe(300);
    expect(chaos.callsOf(model)).toHaveLength(1);
    const rows = readLedger(daemon.home).usageOf(upstream + model);
    expect(rows).toMatchObject([{ status: 'completed' }]);
  });

  test('is immediately rejected with another body, running or done', async () => {
    const model = `other${place}`;
    chaos.on(model, hangs());
    const key = `other${place}`;
    const leaving = new AbortController();
    const running = send({ key, path, body: bodyOf(upstream + model), signal: leaving.signal }).catch(
      () => {},
    );
    await eventually('it is asked', () => chaos.callsOf(model).length === 1);
    const refused = await send({ key, path, body: bodyOf(upstream + model, 'Something else.') });
    expect(refused).toMatchObject({
      status: 409,
      shouldRetry: 'false',
      error: { type: 'conflict', code: 'idempotency_conflict', param: 'Idempotency-Key' },
    });
    chaos.callsOf(model)[0]?.socket.destroy();
    leaving.abort();
    await running;
    const done = `done${place}`;
    await send({ key: done, path, body: bodyOf(`${upstream}any`) });
    const late = await send({ key: done, path, body: bodyOf(`${upstream}any`, 'Something else.') });
    expect(late.error.code).toBe('idempotency_conflict');
  });
});

test('a key belongs to one API key, and to one endpoint', async () => {
  const key = 'mine';
  const issued = await fetch(`${daemon.url}/v1/workspaces/me/keys`, {
    method: 'POST',
    body: '{}',
    headers: { authorization: `Bearer ${daemon.login}`, 'content-type': 'application/json' },
  });
  const { secret } = (await issued.json()) as { secret: string };
  const body = responses('chat/mine');
  const all = [
    await send({ key, body }),
    await send({ key, body, secret }),
    await send({ key, body, secret: daemon.login }),
  ];
  expect(all.map(({ status, isReplayed }) => [status, isReplayed])).toEqual([
    [200, false],
    [200, false],
    [200, false],
  ]);
  const elsewhere = await send({ key, body: chat('chat/mine'), path: '/v1/chat/completions' });
  expect(elsewhere.error.code).toBe('idempotency_conflict');
});

test('failures are not stored: the same key tries again', async () => {
  const asked = { key: 'again', body: responses('chat/again') };
  chaos.on('again', says(500));
  expect((await send(asked)).error.code).toBe('upstream_failed');
  chaos.on('again', answers());
  const second = await send(asked);
  expect([second.status, second.isReplayed]).toEqual([200, false]);
});

test('a client that disconnects and retries gets the answer, which ran and was charged once', async () => {
  chaos.on('left', drips(40));
  const asked = { key: 'left', body: responses('chat/left') };
  const leaving = new AbortController();
  const first = send({ ...asked, signal: leaving.signal });
  await eventually('it is asked', () => chaos.callsOf('left').length === 1);
  leaving.abort();
  await expect(first).rejects.toThrow();
  const second = await send(asked);
  expect([second.status, second.isReplayed]).toEqual([200, true]);
  expect(second.text).toContain('Füchse');
  expect(chaos.callsOf('left')).toHaveLength(1);
  expect(readLedger(daemon.home).usageOf('chat/left')).toMatchObject([{ status: 'completed' }]);
});

test.each([
  ['empty', ''],
  ['empty in quotes', '""'],
  ['too long', 'x'.repeat(129)],
  ['far too long', 'x'.repeat(300)],
  ['too long in quotes', `"${'q'.repeat(129)}"`],
  ['with a space', 'two words'],
  ['with letters beyond ASCII', 'schlüssel'],
])('a key that is %s is rejected', async (_what, key) => {
  expect(await send({ key, body: responses('chat/any') })).toMatchObject({
    status: 400,
    error: {
      code: 'invalid_request',
      param: 'Idempotency-Key',
      message: '`Idempotency-Key` must be 1 to 128 visible ASCII characters, sent once.',
    },
  });
});

test('a key may have 128 characters, also in quotes', async () => {
  for (const key of ['k'.repeat(128), `"${'q'.repeat(128)}"`])
    expect((await send({ key, body: responses('chat/any') })).status).toBe(200);
});

test('streams run again each time', async () => {
  const asked = { key: 'streamed', body: { ...responses('chat/streamed'), stream: true } };
  for (const answer of [await send(asked), await send(asked)])
    expect([answer.status, answer.isReplayed, answer.text.includes('response.completed')]).toEqual([
      200,
      false,
      true,
    ]);
  expect(chaos.callsOf('streamed')).toHaveLength(2);
});

test('a background response starts once', async () => {
  const asked = { key: 'background', body: { ...responses('chat/background'), background: true } };
  const [first, second] = [await send(asked), await send(asked)];
  expect(second).toMatchObject({ status: 200, isReplayed: true, text: first?.text });
  expect(JSON.parse(first?.text ?? '')).toMatchObject({ status: 'queued' });
});

test('answers survive a killed daemon, and its unfinished calls release their keys', async () => {
  const kept = { key: 'kept', body: responses('chat/kept') };
  const first = await send(kept);
  chaos.on('lost', hangs());
  const lost = { key: 'lost', body: responses('chat/lost') };
  const losing = send(lost).catch(() => 'lost');
  await eventually('it is asked', () => chaos.callsOf('lost').length === 1);
  // The hold of a whole answer may leave for the disk after its provider was asked; a kill between the two leaves no trace.
  await eventually('its hold is on disk', () =>
    readLedger(daemon.home).holds.some(({ model }) => model === 'chat/lost'),
  );
  daemon.signal('SIGKILL');
  await daemon.ended;
  expect(await losing).toBe('lost');

  daemon = await startChildDaemon({ home: daemon.home });
  const again = await send(kept);
  expect(again).toMatchObject({ status: 200, isReplayed: true, replayOf: first.requestId, text: first.text });
  chaos.on('lost', answers());
  const retried = await send(lost);
  expect([retried.status, retried.isReplayed]).toEqual([200, false]);
  expect(retried.text).toContain(words);
  expect(
    readLedger(daemon.home)
      .usageOf('chat/lost')
      .map(({ status }) => status)
      .sort(),
  ).toEqual(['completed', 'interrupted']);
});

test('a daemon killed at any moment charges a retried call once', async () => {
  chaos.on('killed', answers());
  const path = '/v1/chat/completions';
  const answered = new Map<string, string>();
  let sent = 0;
  for (let kills = 0; kills < 3; kills += 1) {
    const waiting: string[] = [];
    const call = async (key: string) => {
      const { status, text } = await send({ key, path, body: chat('chat/killed', key) });
      expect(status).toBe(200);
      answered.set(key, text);
    };
    const atMost = sent + 20 + Math.floor(Math.random() * 20);
    let isOver = false;
    const clients = Array.from({ length: 6 }, async () => {
      while (!isOver) {
        const key = `killed-${sent}`;
        sent += 1;
        await call(key).catch(() => waiting.push(key));
        if (sent >= atMost && !isOver) {
          isOver = true;
          daemon.signal('SIGKILL');
        }
      }
    });
    await Promise.all(clients);
    await daemon.ended;
    daemon = await startChildDaemon({ home: daemon.home });
    for (const key of waiting) await call(key);
  }
  expect(answered.size).toBe(sent);
  const rows = readLedger(daemon.home).usageOf('chat/killed');
  expect(rows.filter(({ status }) => status === 'completed')).toHaveLength(sent);
});
