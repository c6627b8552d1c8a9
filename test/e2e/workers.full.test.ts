import { readFileSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { drips, says, stallsAfter } from '../support/chaos-behaviours.ts';
import { chaosConfig } from '../support/chaos-daemon.ts';
import { type ChaosUpstream, startChaosUpstream } from '../support/chaos-upstream.ts';
import { type ChildDaemon, startChildDaemon } from '../support/child-daemon.ts';
import { eventually } from '../support/eventually.ts';
import { startFakeChatServer } from '../support/fake-chat-server.ts';
import { callModel, completeCall, pathOf } from '../support/model-client.ts';
import { openSocket } from '../support/socket-client.ts';

const workers = 3;
const wires = ['responses', 'chat', 'messages'] as const;
let chaos: ChaosUpstream;
let daemon: ChildDaemon;

beforeAll(async () => {
  chaos = await startChaosUpstream(drips(1));
  const vault = 'vault: {keychain: false, insecure_plain_file: true}';
  daemon = await startChildDaemon({
    config: `workers: ${workers}\n${vault}\n${chaosConfig(chaos.baseUrl)}`,
  });
});

afterAll(async () => {
  await daemon.remove();
  await chaos.close();
});

async function ask<T>(method: string, path: string, { json, key = daemon.login, headers = {} }: Asked = {}) {
  const answer = await fetch(`${daemon.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(json !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(json !== undefined && { body: JSON.stringify(json) }),
  });
  const text = await answer.text();
  const body = (/json/.test(answer.headers.get('content-type') ?? '') ? JSON.parse(text) : text) as T;
  return { status: answer.status, headers: answer.headers, body };
}

interface Asked {
  json?: unknown;
  key?: string;
  headers?: Record<string, string>;
}

async function issue(limits: object = {}) {
  const { body } = await ask<{ key: { id: string }; secret: string }>('POST', '/v1/workspaces/me/keys', {
    json: { name: 'one', limits },
  });
  return { id: body.key.id, url: daemon.url, key: body.secret };
}

/** How many calls each worker has admitted. */
async function callsOfWorkers(): Promise<number[]> {
  const { body } = await ask<string>('GET', '/metrics');
  return [...body.matchAll(/^gateway_worker_calls_total\{worker="\d+"\} (\d+)$/gm)].map(([, count]) =>
    Number(count),
  );
}

describe('calls over many connections', () => {
  test('are answered by all workers in each format, whole and streamed, and are settled', async () => {
    const before = await callsOfWorkers();
    expect(before).toHaveLength(workers);
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, index) => {
        const wire = wires[index % 3] ?? 'chat';
        return completeCall(daemon, { wire, model: `${wire}/any`, stream: index % 2 === 0 });
      }),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    for (const { text } of answers) expect(text).toContain('flasks.');
    const admitted = (await callsOfWorkers()).map((count, index) => count - (before[index] ?? 0));
    expect(admitted.reduce((sum, count) => sum + count, 0)).toBe(60);
    expect(Math.min(...admitted)).toBeGreaterThan(0);
    for (const { headers } of answers) {
      const id = String(headers['x-request-id']);
      const trace = await ask<{ id: string; settled_ms: number | null }>('GET', `/v1/traces/${id}`);
      expect(trace.status).toBe(200);
    }
    const { body } = await ask<string>('GET', '/metrics');
    const counted = [...body.matchAll(/^gateway_calls_total\{.*status="completed"\} (\d+)$/gm)];
    expect(counted.reduce((sum, [, count]) => sum + Number(count), 0)).toBe(60);
    expect((await ask<{ workers: number }>('GET', '/v1/admin/status')).body.workers).toBe(workers);
  });

  test('are followed by events, seen as running, and canceled', async () => {
    const model = 'slow';
    chaos.on(model, stallsAfter(8));
    const enough = new AbortController();
    const following = await fetch(`${daemon.url}/v1/events`, {
      headers: { authorization: `Bearer ${daemon.login}` },
      signal: enough.signal,
    });
    let seen = '';
    const reading = (async () => {
      for await (const part of following.body ?? []) seen += Buffer.from(part).toString();
    })().catch(() => {});
    const calls = Array.from({ length: 9 }, () =>
      callModel(daemon, { wire: 'chat', model: `chat/${model}`, stream: true }),
    );
    await Promise.all(calls.map((call) => call.receives('quick')));
    const ids = calls.map(({ headers }) => String(headers['x-request-id']));
    await eventually('all starts are seen', () => ids.every((id) => seen.includes(id)));
    expect((await ask<string>('GET', '/metrics')).body).toMatch(/^gateway_calls_running 9$/m);
    for (const id of ids) {
      const canceled = await ask<{ canceled: boolean }>('POST', `/v1/traces/${id}/cancel`);
      expect(canceled.body).toMatchObject({ canceled: true });
    }
    await Promise.all(calls.map(({ ended }) => ended));
    const isSettled = (id: string) =>
      seen.split('\n\n').some((event) => event.includes(id) && /"status":"(cancell?ed|failed)"/.test(event));
    await eventually('all ends are seen', () => ids.every(isSettled));
    enough.abort();
    await reading;
  });

  test('of a revoked key are refused by every worker, and its streams end', async () => {
    chaos.on('long', stallsAfter(8));
    const revoked = await issue();
    const streams = Array.from({ length: 9 }, () =>
      callModel(revoked, { wire: 'responses', model: 'responses/long', stream: true }),
    );
    await Promise.all(streams.map((stream) => stream.receives('quick')));
    await ask('DELETE', `/v1/workspaces/me/keys/${revoked.id}`);
    const later = await Promise.all(
      Array.from({ length: 12 }, () =>
        completeCall(revoked, { wire: 'chat', model: 'chat/any', stream: false }),
      ),
    );
    expect(later.map(({ status }) => status)).toEqual(later.map(() => 401));
    await Promise.all(streams.map(({ ended }) => ended));
    for (const { text } of streams) expect(text).toContain('response.failed');
  });

  test('keep their content where the owner reads it', async () => {
    await ask('PATCH', '/v1/workspaces/me', { json: { capture: 'memory' } });
    const call = await completeCall(daemon, {
      wire: 'chat',
      model: 'chat/any',
      stream: true,
      prompt: 'a prompt that is kept',
    });
    const path = `/v1/traces/${call.headers['x-request-id']}/content`;
    const content = await eventually('the content is there', async () => {
      const { status, body } = await ask<object>('GET', path);
      return status === 200 && body;
    });
    expect(JSON.stringify(content)).toContain('a prompt that is kept');
  });
});

describe('what workers learned of a provider', () => {
  const calls = (model: string, count: number, more: object = {}) =>
    Promise.all(
      Array.from({ length: count }, async () => {
        const json = { model, messages: [{ role: 'user', content: 'x' }], ...more };
        // Each on a connection of its own, so that each worker gets some.
        const headers = { connection: 'close' };
        return (await ask('POST', '/v1/chat/completions', { json, key: daemon.key, headers })).status;
      }),
    );

  test('is benched and tried again in all of them', async () => {
    chaos.on('broke', says(402));
    await calls('chat/broke', 24);
    expect(new Set(await calls('chat/any', 12))).toEqual(new Set([503]));
    const { body } = await ask<{ ended: unknown[] }>('POST', '/v1/admin/providers/chat/retry');
    expect(body.ended).toEqual([{ workspace: null, key: null, model: null, reason: 'billing' }]);
    expect(new Set(await calls('chat/any', 12))).toEqual(new Set([200]));
  });

  test('is shown of all of them', async () => {
    chaos.on('picky', (call) => {
      const refuses = call.body.temperature !== undefined;
      const body = '{"error":{"message":"Unsupported parameter: temperature","param":"temperature"}}';
      return (refuses ? says(400, { body }) : drips(1))(call);
    });
    expect(new Set(await calls('chat/picky', 12, { temperature: 1 }))).toEqual(new Set([200]));
    const { body } = await ask<{ learned: object[] }>('GET', '/v1/admin/providers/chat');
    expect(body.learned).toMatchObject([{ model: 'picky', member: 'temperature', change: 'left-out' }]);
  });
});

describe('other requests', () => {
  test('get the answers of the main thread on the connections of workers', async () => {
    const models = await ask<{ data: unknown[] }>('GET', '/v1/models', { key: daemon.key });
    expect(models.body.data.length).toBeGreaterThan(0);
    const refused = await ask('POST', '/v1/responses', {
      json: { model: 'chat/any', input: 'x' },
      key: 'wrong',
    });
    expect(refused.status).toBe(401);
    const invalid = await ask<{ error: { code: string } }>('POST', '/v1/responses', {
      json: { model: 1 },
      key: daemon.key,
    });
    expect([invalid.status, invalid.body.error.code]).toEqual([400, 'invalid_request']);
    const kept = await ask<{ id: string }>('POST', '/v1/responses', {
      json: { model: 'chat/any', input: 'x', background: true },
      key: daemon.key,
    });
    await eventually('the background response is complete', async () => {
      const { body } = await ask<{ status: string }>('GET', `/v1/responses/${kept.body.id}`, {
        key: daemon.key,
      });
      return body.status === 'completed';
    });
    const headers = { 'idempotency-key': 'once' };
    const twice = await Promise.all(
      [1, 2].map(() =>
        ask<{ id: string }>('POST', '/v1/responses', {
          json: { model: 'chat/any', input: 'x' },
          key: daemon.key,
          headers,
        }),
      ),
    );
    expect(twice[0]?.body.id).toBe(twice[1]?.body.id);
  });

  test('open a socket, and answer its messages', async () => {
    const socket = await openSocket(`${daemon.url}/v1/responses`, { key: daemon.key });
    const events = await socket.ask({
      type: 'response.create',
      model: 'responses/any',
      input: 'Hello',
      store: false,
    });
    expect(events.at(-1)?.type).toBe('response.completed');
    const refused = openSocket(`${daemon.url}/v1/responses`, { key: 'wrong' });
    await expect(refused).rejects.toMatchObject({ status: 401 });
  });

  test('and calls take turns on one connection', async () => {
    const { port } = new URL(daemon.url);
    const socket = createConnection(Number(port), '127.0.0.1');
    let received = '';
    socket.setEncoding('utf8').on('data', (text: string) => {
      received += text;
    });
    const body = JSON.stringify({ model: 'chat/any', messages: [{ role: 'user', content: 'x' }] });
    const head = `host: 127.0.0.1:${port}\r\nauthorization: Bearer ${daemon.key}\r\n`;
    const call = `POST ${pathOf.chat} HTTP/1.1\r\n${head}content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    // The second pair is pipelined.
    for (const count of [1, 2]) {
      socket.write(`${call}GET /healthz HTTP/1.1\r\n${head}\r\n`);
      await eventually('both answers', () => received.split('HTTP/1.1 200 OK').length === 2 * count + 1);
    }
    socket.destroy();
  });

  test('are not believed about their address', async () => {
    const headers = { 'x-gateway-client-address': '203.0.113.7' };
    const answer = await fetch(`${daemon.url}/metrics`, { headers });
    // Without a key, only clients on this machine get it.
    expect(answer.status).toBe(200);
    await answer.text();
  });
});

test('a key of the host that is sealed while they run is used by all workers, and no longer once it is deleted', async () => {
  const server = await startFakeChatServer();
  const change = async (changes: object[], keys: Record<string, string | null>) => {
    const json = { changes, keys };
    const preview = await ask<{ version: string }>('POST', '/v1/admin/configuration/preview', { json });
    const { version } = preview.body;
    const { status } = await ask('PATCH', '/v1/admin/configuration', { json: { ...json, version } });
    expect([preview.status, status]).toEqual([200, 200]);
  };
  const value = { base_url: server.url, models: ['*'], key_env: 'KEY_THAT_IS_NOT_SET' };
  await change([{ setting: 'upstreams.sealed', value }], { sealed: 'sealed-key-4711' });
  const callAll = () =>
    Promise.all(
      Array.from({ length: 30 }, () =>
        completeCall(daemon, { wire: 'chat', model: 'sealed/m', stream: false }),
      ),
    );
  const before = await callsOfWorkers();
  expect(new Set((await callAll()).map(({ status }) => status))).toEqual(new Set([200]));
  expect(new Set(server.sent)).toEqual(new Set(['Bearer sealed-key-4711']));
  const admitted = (await callsOfWorkers()).map((count, index) => count - (before[index] ?? 0));
  expect(Math.max(...admitted)).toBeGreaterThan(0);
  await change([], { sealed: null });
  const sent = server.sent.length;
  await eventually('the refusals', async () => (await callAll()).every(({ status }) => status === 404));
  expect(server.sent.slice(sent)).not.toContain('none');
  await change([{ setting: 'upstreams.sealed', value: null }], {});
  server.close();
});

test('a reload applies to all workers', async () => {
  const file = join(daemon.home, 'config.yaml');
  writeFileSync(file, `${readFileSync(file, 'utf8')}aliases: { other: chat/any }\n`);
  await ask('POST', '/v1/admin/reload');
  const before = await callsOfWorkers();
  const answers = await Promise.all(
    Array.from({ length: 12 }, () => completeCall(daemon, { wire: 'chat', model: 'other', stream: false })),
  );
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  const after = await callsOfWorkers();
  expect(after.reduce((sum, count) => sum + count, 0) - before.reduce((sum, count) => sum + count, 0)).toBe(
    12,
  );
});

describe('limits', () => {
  test('of money are exact over all workers', async () => {
    // A call costs at most as much as 20 times the cap allows.
    const calls = {
      wire: 'chat',
      model: 'chat/any',
      stream: false,
      more: { max_completion_tokens: 100 },
    } as const;
    const free = await issue();
    const { headers } = await completeCall(free, calls);
    const { body } = await ask<{ charged_usd: string }>('GET', `/v1/usage/${headers['x-request-id']}`);
    expect(Number(body.charged_usd)).toBeGreaterThan(0);
    const allowed = 20;
    const limited = await issue({
      spend_cap: { usd: (Number(body.charged_usd) * allowed).toFixed(9), period: 'total' },
    });
    const answers = await Promise.all(Array.from({ length: 100 }, () => completeCall(limited, calls)));
    const statuses = answers.map(({ status }) => status);
    const spent = await ask<{ spend_usd: { total: string } }>('GET', '/v1/key', { key: limited.key });
    expect(Number(spent.body.spend_usd.total)).toBeLessThanOrEqual(Number(body.charged_usd) * allowed + 1e-9);
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(0);
    expect(new Set(statuses)).toEqual(new Set([200, 403]));
  });

  test('of requests a minute are exact over all workers', async () => {
    const limited = await issue({ requests_per_minute: 30 });
    const answers = await Promise.all(
      Array.from({ length: 90 }, () =>
        completeCall(limited, { wire: 'chat', model: 'chat/any', stream: false }),
      ),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(30);
    expect(statuses.filter((status) => status !== 200)).toHaveLength(60);
  });
});

test('a worker that dies ends the daemon with code 70, and the connections of its clients', async () => {
  chaos.on('endless', stallsAfter(8));
  const config = `workers: 2\n${chaosConfig(chaos.baseUrl)}`;
  const crashing = await startChildDaemon({ config, env: { CRASHING_THREAD: 'gateway-call-worker' } });
  try {
    const calls = Array.from({ length: 6 }, () =>
      callModel(crashing, { wire: 'chat', model: 'chat/endless', stream: true }),
    );
    await Promise.all(calls.map((call) => call.receives('quick')));
    crashing.signal('SIGUSR2');
    expect(await crashing.ended).toBe(70);
    await Promise.all(calls.map(({ ended }) => ended));
  } finally {
    await crashing.remove();
  }
});
