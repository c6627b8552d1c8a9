import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type SlotServer, startSlotServer } from '../support/slot-server.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

/** Calls that run at a time at each server. */
const limits = { two: 2, seven: 7, one: 1, short: 1, open: undefined } as const;
type Name = keyof typeof limits;

let servers: Record<Name, SlotServer>;
let daemon: RunningDaemon;

async function start(): Promise<void> {
  const names = Object.keys(limits) as Name[];
  const started = await Promise.all(
    names.map(async (name) => [name, await startSlotServer(limits[name])] as const),
  );
  servers = Object.fromEntries(started) as Record<Name, SlotServer>;
  const more: Partial<Record<Name, string>> = {
    two: 'concurrency: 2, queue: 10m, ',
    seven: 'concurrency: 7, queue: 10m, ',
    one: 'concurrency: 1, ',
    short: 'concurrency: 1, queue: 2s, queue_max: 1, ',
  };
  const upstream = (name: Name) =>
    `  - { name: ${name}, base_url: "${servers[name].url}", ${more[name] ?? ''}models: ["a", "b"], prices: { input: "0", output: "0" } }`;
  daemon = await startDaemon({
    config: [
      'upstreams:',
      ...names.map(upstream),
      'concurrency:',
      '  open/a: { calls: 1, queue: 0s }',
      '  open: 300',
      'aliases:',
      '  either: [one/a, open/b]',
      '  both: [one/a, short/a]',
    ].join('\n'),
  });
}

beforeAll(start);
afterAll(async () => {
  await daemon.stop();
  await Promise.all(Object.values(servers).map((server) => server.close()));
});

beforeEach(async () => {
  await eventually('all limits are free', async () => (await queueMetrics()).length === 0);
  for (const server of Object.values(servers)) server.asked.length = 0;
});

interface Asked {
  key?: string;
  stream?: boolean;
  signal?: AbortSignal;
}

function ask(model: string, { key = daemon.key, stream = false, signal }: Asked = {}): Promise<Response> {
  return daemon.fetch('/v1/chat/completions', {
    json: { model, messages: [{ role: 'user', content: 'Hi.' }], stream },
    headers: { authorization: `Bearer ${key}` },
    ...(signal && { signal }),
  });
}

async function issue(limits: object, name = 'limited') {
  const answer = await daemon.fetch('/v1/workspaces/me/keys', {
    method: 'POST',
    json: { name, limits },
    headers: { authorization: `Bearer ${daemon.login}` },
  });
  return (await answer.json()) as { key: { id: string }; secret: string };
}

/** The lines of the metrics that say how many calls wait or run within limits. */
async function queueMetrics(name = ''): Promise<string[]> {
  const text = await (await daemon.fetch('/metrics')).text();
  return text
    .split('\n')
    .filter(
      (line) =>
        /^gateway_queue_(running|waiting)\{/.test(line) && line.includes(name) && !line.endsWith(' 0'),
    );
}

const waiting = (name: string, count: number) =>
  eventually(`${count} wait for ${name}`, async () =>
    (await queueMetrics(name)).some(
      (line) => line.startsWith('gateway_queue_waiting') && line.endsWith(` ${count}`),
    ),
  );
const running = (name: Name, count: number) =>
  eventually(`${name} works on ${count} calls`, () => servers[name].running === count);

async function traceOf(response: Response) {
  const id = response.headers.get('x-request-id');
  const answer = await daemon.fetch(`/v1/traces/${id}`, {
    headers: { authorization: `Bearer ${daemon.login}` },
  });
  return (await answer.json()) as {
    queue_ms: number | null;
    waits: { limit: string; name: string; position: number }[];
    attempts: { provider: string }[];
  };
}

describe.each(['two', 'seven'] as const)('400 calls against a server with few places: %s', (name) => {
  test('it never works on more at once, whoever leaves, and all others are answered', async () => {
    const server = servers[name];
    const leavers = new Map<number, AbortController>();
    const calls = Array.from({ length: 400 }, (_, index) => {
      const leaver = index % 8 === 3 ? new AbortController() : undefined;
      if (leaver) leavers.set(index, leaver);
      return ask(`${name}/${index % 2 === 0 ? 'a' : 'b'}`, {
        stream: index % 3 === 0,
        ...(leaver && { signal: leaver.signal }),
      })
        .then(async (response) => {
          if (!response.ok) return `${response.status} ${await response.text()}`;
          return (await response.text()).includes('Hello') ? 'answered' : 'cut';
        })
        .catch(() => 'left');
    });
    await waiting(name, 400 - limits[name]);
    expect(server.running).toBe(limits[name]);
    // Those that run are streams and whole answers, and some of both leave.
    for (const [index, leaver] of leavers) if (index % 16 === 3) leaver.abort();
    server.answerAll();
    await Promise.race([
      Promise.all(calls.slice(0, 30)),
      eventually('some are answered', () => server.asked.length > 30),
    ]);
    for (const leaver of leavers.values()) leaver.abort();
    const ends = await Promise.all(calls);
    expect(server.most).toBe(limits[name]);
    expect(new Set(ends)).toEqual(new Set(['answered', 'left']));
    expect(ends.filter((end) => end === 'left').length).toBeLessThanOrEqual(leavers.size);
  });
});

describe('a call that waits', () => {
  test('says so in an event, its headers and its trace', async () => {
    const events = await daemon.fetch('/v1/events?type=request.queued', {
      headers: { authorization: `Bearer ${daemon.login}` },
    });
    const first = ask('one/a');
    await running('one', 1);
    const second = ask('one/a');
    await waiting('one', 1);
    const third = ask('one/b');
    await waiting('one', 2);
    const reader = events.body?.getReader();
    let seen = '';
    while (!seen.includes('"position":2'))
      seen += new TextDecoder().decode((await reader?.read())?.value ?? new Uint8Array());
    await reader?.cancel();
    expect(seen).toContain('"limit":"provider","name":"one","position":1');
    daemon.advance(1500);
    for (const [index, call] of [first, second, third].entries()) {
      await running('one', 1);
      servers.one.finish();
      const response = await call;
      expect(response.status).toBe(200);
      expect(response.headers.get('x-service-queue-position')).toBe(index === 0 ? null : String(index));
      const trace = await traceOf(response);
      expect(trace.waits.map(({ limit, name, position }) => [limit, name, position])).toEqual(
        index === 0 ? [] : [['provider', 'one', index]],
      );
      if (index > 0) expect(Number(response.headers.get('x-service-queue-ms'))).toBe(trace.queue_ms);
      else expect(trace.queue_ms).toBeNull();
    }
  });

  test('is refused with 429 when the queue is full, and when it has waited for too long', async () => {
    const first = ask('short/a');
    await running('short', 1);
    const second = ask('short/a');
    await waiting('short', 1);
    const full = await ask('short/b');
    expect(full.status).toBe(429);
    expect(Number(full.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    const { error } = (await full.json()) as { error: { code: string; param: string; message: string } };
    expect(error).toMatchObject({ code: 'rate_limited', param: 'limits.concurrency' });
    expect(error.message).toContain('short runs 1 call at a time, and 1 call waits.');
    daemon.advance(2100);
    const late = await second;
    expect(late.status).toBe(429);
    expect(late.headers.get('retry-after')).not.toBeNull();
    const lateBody = (await late.json()) as { error: { param: string; message: string } };
    expect(lateBody.error.param).toBe('limits.concurrency');
    expect(lateBody.error.message).toContain('has waited for one of them to end for 2 seconds');
    servers.short.finish();
    expect((await first).status).toBe(200);
  });

  test('frees its place when its client leaves', async () => {
    const first = ask('short/a');
    await running('short', 1);
    const leaver = new AbortController();
    const left = ask('short/a', { signal: leaver.signal }).catch(() => 'left');
    await waiting('short', 1);
    leaver.abort();
    expect(await left).toBe('left');
    await eventually(
      'no one waits',
      async () => !(await queueMetrics('short')).some((line) => line.includes('waiting')),
    );
    const next = ask('short/a');
    await waiting('short', 1);
    for (const call of [first, next]) {
      await running('short', 1);
      servers.short.finish();
      expect((await call).status).toBe(200);
    }
  });

  test('ends with its key', async () => {
    const { key, secret } = await issue({});
    const first = ask('one/a');
    await running('one', 1);
    const second = ask('one/a', { key: secret });
    await waiting('one', 1);
    await daemon.fetch(`/v1/workspaces/me/keys/${key.id}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${daemon.login}` },
    });
    expect((await second).status).toBe(401);
    servers.one.finish();
    expect((await first).status).toBe(200);
    expect(await queueMetrics('one')).toEqual([]);
  });
});

describe('a call that waits ends', () => {
  test('when an owner cancels it', async () => {
    const events = await daemon.fetch('/v1/events?type=request.queued', {
      headers: { authorization: `Bearer ${daemon.login}` },
    });
    const first = ask('one/a');
    await running('one', 1);
    const second = ask('one/a');
    const reader = events.body?.getReader();
    let seen = '';
    while (!seen.includes('request_id'))
      seen += new TextDecoder().decode((await reader?.read())?.value ?? new Uint8Array());
    await reader?.cancel();
    const [, id] = /"request_id":"(\w+)"/.exec(seen) ?? [];
    const canceled = await daemon.fetch(`/v1/traces/${id}/cancel`, {
      method: 'POST',
      json: {},
      headers: { authorization: `Bearer ${daemon.login}` },
    });
    expect(await canceled.json()).toMatchObject({ canceled: true });
    expect((await second).status).toBe(409);
    servers.one.finish();
    expect((await first).status).toBe(200);
  });

  test('at the deadline of a stop', async () => {
    const server = await startSlotServer();
    const other = await startDaemon({
      config: `upstreams: [{ name: slots, base_url: "${server.url}", concurrency: 1, queue: 10m, models: [m] }]`,
      drain: { patientMs: 1, hurriedMs: 1 },
    });
    const call = () =>
      other.fetch('/v1/chat/completions', {
        json: { model: 'slots/m', messages: [{ role: 'user', content: 'Hi.' }] },
      });
    const first = call();
    await eventually('one runs', () => server.running === 1);
    const second = call();
    await eventually('one waits', async () =>
      (await (await other.fetch('/metrics')).text()).includes(
        'gateway_queue_waiting{limit="provider",name="slots"} 1',
      ),
    );
    const stopped = other.stop();
    const codes = await Promise.all(
      [first, second].map(async (answer) => {
        const { error } = (await (await answer).json()) as { error: { code: string } };
        return error.code;
      }),
    );
    expect(codes).toEqual(['unavailable', 'unavailable']);
    expect(await stopped).toBe(0);
    await server.close();
  });
});

test('clients of every format are told to wait', async () => {
  const first = ask('open/a');
  await running('open', 1);
  const bodies: [string, object][] = [
    ['/v1/responses', { input: 'Hi.' }],
    ['/v1/messages', { max_tokens: 16, messages: [{ role: 'user', content: 'Hi.' }] }],
    ['/v1/responses', { input: 'Hi.', stream: true }],
    ['/v1/messages', { max_tokens: 16, stream: true, messages: [{ role: 'user', content: 'Hi.' }] }],
  ];
  for (const [path, body] of bodies) {
    const refused = await daemon.fetch(path, { json: { model: 'open/a', ...body } });
    expect([path, refused.status, refused.headers.get('retry-after')]).toEqual([path, 429, '1']);
    expect(await refused.text()).toContain('open/a runs 1 call at a time.');
  }
  servers.open.finish();
  expect((await first).status).toBe(200);
});

describe('several routes', () => {
  test('the first with a free place is taken', async () => {
    const first = ask('either');
    await running('one', 1);
    const second = ask('either');
    await running('open', 1);
    servers.open.finish();
    expect((await second).headers.get('x-service-upstream')).toBe('open');
    servers.one.finish();
    expect((await first).headers.get('x-service-upstream')).toBe('one');
  });

  test('if none is free, whichever is free first', async () => {
    const blockers = [ask('one/a'), ask('short/b')];
    await running('one', 1);
    await running('short', 1);
    const call = ask('both');
    await waiting('one', 1);
    servers.short.finish();
    await eventually('it runs at the second', () => servers.short.asked.length === 2);
    servers.short.finish();
    expect((await call).headers.get('x-service-upstream')).toBe('short');
    servers.one.finish();
    for (const blocker of blockers) expect((await blocker).status).toBe(200);
  });

  test('a fallback gives the place of the first route back', async () => {
    const broken = await startSlotServer();
    broken.failAll();
    const other = await startDaemon({
      config: [
        'upstreams:',
        `  - { name: broken, base_url: "${broken.url}", concurrency: 1, models: [m] }`,
        `  - { name: spare, base_url: "${servers.open.url}", concurrency: 1, models: [m] }`,
        'aliases: { any: [broken/m, spare/m] }',
      ].join('\n'),
    });
    const body = { model: 'any', messages: [{ role: 'user', content: 'Hi.' }] };
    const call = other.fetch('/v1/chat/completions', { json: body });
    await running('open', 1);
    const metrics = await (await other.fetch('/metrics')).text();
    expect(metrics).not.toMatch(/gateway_queue_running\{[^}]*name="broken"[^}]*\} 1/);
    expect(metrics).toMatch(/gateway_queue_running\{[^}]*name="spare"[^}]*\} 1/);
    servers.open.finish();
    expect((await call).headers.get('x-service-upstream')).toBe('spare');
    await other.stop();
    await broken.close();
  });
});

describe('the limit of a key', () => {
  test('bounds its own calls and those of keys that it issued', async () => {
    const { key, secret } = await issue({ concurrency: 2, queue_seconds: 60 });
    const calls = Array.from({ length: 3 }, () => ask('open/b', { key: secret }));
    await running('open', 2);
    await waiting('limit="key"', 1);
    servers.open.finish(2);
    await eventually('the third runs', () => servers.open.asked.length === 3);
    await running('open', 1);
    servers.open.finish();
    const answers = await Promise.all(calls);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    const waits = await Promise.all(answers.map(async (answer) => (await traceOf(answer)).waits));
    expect(waits.flat()).toMatchObject([{ limit: 'key', name: key.id, position: 1 }]);
  });

  test('without a queue, the next call is refused, also for a model of the configuration', async () => {
    const { secret } = await issue({ concurrency: 1, queue_seconds: 0 });
    const first = ask('open/b', { key: secret, stream: true });
    await running('open', 1);
    const refused = await ask('open/b', { key: secret });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, expect.any(String)]);
    const model = ask('open/a');
    await running('open', 2);
    expect((await ask('open/a')).status).toBe(429);
    servers.open.finish(2);
    expect((await first).status).toBe(200);
    await (await first).text();
    expect((await model).status).toBe(200);
  });

  test('takes turns with other keys at a server with one place', async () => {
    const [eager, modest] = [await issue({}, 'eager'), await issue({}, 'modest')];
    const first = ask('one/a');
    await running('one', 1);
    const eagers = [];
    for (let index = 0; index < 4; index += 1) {
      eagers.push(ask('one/a', { key: eager.secret }));
      await waiting('one', index + 1);
    }
    const late = ask('one/b', { key: modest.secret });
    await waiting('one', 5);
    for (let count = 1; count <= 6; count += 1) {
      await eventually(
        'the next one runs',
        () => servers.one.asked.length === count && servers.one.running === 1,
      );
      servers.one.finish();
    }
    // After the running call and one of the other key.
    expect(servers.one.asked.indexOf('b')).toBe(2);
    for (const call of [first, ...eagers, late]) expect((await call).status).toBe(200);
  });

  test('is refused by name when it is invalid', async () => {
    const answer = await daemon.fetch('/v1/workspaces/me/keys', {
      method: 'POST',
      json: { limits: { concurrency: 0 } },
      headers: { authorization: `Bearer ${daemon.login}` },
    });
    expect(answer.status).toBe(400);
    expect(((await answer.json()) as { error: { param: string } }).error.param).toBe('limits.concurrency');
  });
});
