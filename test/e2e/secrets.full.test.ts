import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Wire } from '../../src/daemon/features/upstreams/neutral.ts';
import { answers, cutAfter, insertsAfter, says, stallsAfter } from '../support/chaos-behaviours.ts';
import { chaosConfig, formatPairs } from '../support/chaos-daemon.ts';
import { type Behaviour, type ChaosUpstream, startChaosUpstream } from '../support/chaos-upstream.ts';
import { type ChildDaemon, startChildDaemon } from '../support/child-daemon.ts';
import { eventually } from '../support/eventually.ts';
import { readLedger } from '../support/ledger.ts';
import { callModel, completeCall, parseStream, pathOf } from '../support/model-client.ts';
import { type SpanCollector, startSpanCollector } from '../support/span-collector.ts';

/** Each is found again wherever it should not be. None may be cut into pieces by a pattern that hides the rest. */
const providerKey = 'sk-PROVIDERKEYCANARY0123456789abcdefghij';
const collectorKey = 'ck-COLLECTORKEYCANARY0123456789abcdefghij';
const wrongKey = 'sk-WRONGKEYCANARY0123456789abcdefghijklmnop';
const prompt = 'PROMPTCANARY';
const words = (what: string) => `${prompt}-${what} said in confidence`;
/** What names something: a model, an id, a member. A failure may repeat it, so that the caller sees the slip. */
const named = (what: string) => `named ${what} by mistake`;

let chaos: ChaosUpstream;
let daemon: ChildDaemon;
let collector: SpanCollector;
/** Every failure that any caller received. */
const failures: string[] = [];
/** Every answer. */
const answered: string[] = [];

beforeAll(async () => {
  chaos = await startChaosUpstream(answers());
  collector = await startSpanCollector();
  const key = 'key_env: CANARY_PROVIDER_KEY';
  const doomed = doomedNames().map(
    ({ name, upstream }) =>
      `{name: ${name}, base_url: "${chaos.baseUrl}", models: ["*"], wire: ${upstream}, ${key}}`,
  );
  const config = chaosConfig(chaos.baseUrl, 'timeouts: {first_event_ms: 300, headers_ms: 300, idle_ms: 300}')
    .replaceAll('models: ["*"]', `models: ["*"], ${key}`)
    .replace('upstreams: [', `upstreams: [${doomed.join(', ')}, `);
  daemon = await startChildDaemon({
    config,
    env: {
      CANARY_PROVIDER_KEY: providerKey,
      OPENAI_API_KEY: `${providerKey}-openai`,
      GATEWAY_LOG_LEVEL: 'trace',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${collectorKey}`,
    },
  });
});

afterAll(async () => {
  await daemon.remove();
  await chaos.close();
  await collector.close();
});

/** Refused keys and empty accounts close a provider for minutes: each of these is called once. */
function doomedNames() {
  return formatPairs.flatMap(({ wire, upstream }) =>
    [401, 402, 403].flatMap((status) =>
      [true, false].map((stream) => ({
        wire,
        upstream,
        status,
        stream,
        name: `d${status}-${wire}-${upstream}-${stream}`,
      })),
    ),
  );
}

/** A body with something confidential in every place that takes it. */
function confidential(wire: Wire): Record<string, unknown> {
  const parameters = {
    type: 'object',
    properties: { city: { type: 'string', description: words('schema') } },
  };
  const tool = { name: 'look_up', description: words('tool'), parameters };
  const metadata = { note: words('metadata') };
  // A label of the call, which is kept and shown with it.
  const user = 'user-1';
  if (wire === 'responses') {
    return {
      instructions: words('instructions'),
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: words('input') }] },
        {
          type: 'function_call',
          call_id: 'call_1',
          name: 'look_up',
          arguments: `{"q":"${words('arguments')}"}`,
        },
        { type: 'function_call_output', call_id: 'call_1', output: words('output') },
      ],
      tools: [{ type: 'function', ...tool, strict: false }],
      metadata,
      user,
    };
  }
  const called = { name: 'look_up', arguments: `{"q":"${words('arguments')}"}` };
  return {
    messages: [
      { role: 'system', content: words('system') },
      { role: 'user', content: words('message') },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call_1', type: 'function', function: called }],
      },
      { role: 'tool', tool_call_id: 'call_1', content: words('output') },
    ],
    tools: [{ type: 'function', function: tool }],
    metadata,
    user,
  };
}

/** An error that echoes everything: the key of the call and its body. */
function quotes(status: number, { code = 'bad', param }: { code?: string; param?: string } = {}): Behaviour {
  return (call) => {
    const message = `${call.head} ${JSON.stringify(call.body)} ${words('provider')}`;
    says(status, { body: JSON.stringify({ error: { message, type: 'some_error', code, param } }) })(call);
  };
}

const quoting =
  (before: number, ending: (text: string) => string): Behaviour =>
  (call) => {
    const text = JSON.stringify(`${call.head} ${JSON.stringify(call.body)}`).slice(1, -1);
    insertsAfter(before, ending(text))(call);
  };

const faults: [string, () => Behaviour][] = [
  ...[400, 404, 408, 413, 422, 429, 500, 503].map((status): [string, () => Behaviour] => [
    `a status of ${status}`,
    () => quotes(status),
  ]),
  ['a code and a parameter that are none', () => quotes(400, { code: providerKey, param: words('param') })],
  ['a code that is a key', () => quotes(500, { code: providerKey, param: providerKey })],
  ['an event that is no JSON', () => quoting(0, (text) => `data: {${text}\n\n`)],
  ['an event that is no JSON, later', () => quoting(6, (text) => `data: {${text}\n\n`)],
  ['an event that is text, later', () => quoting(6, (text) => `data: "${text}"\n\n`)],
  ['an error event', () => quoting(0, (text) => `event: error\ndata: {"error":{"message":"${text}"}}\n\n`)],
  [
    'an error event, later',
    () => quoting(6, (text) => `event: error\ndata: {"error":{"message":"${text}"}}\n\n`),
  ],
  ['a web page', () => says(200, { headers: ['content-type: text/html'], body: words('page') })],
  ['a header that quotes', () => says(500, { headers: [`x-request-id: ${words('header')}`] })],
  ['a broken stream', () => cutAfter(8, 'reset', { text: words('answer') })],
  ['a stalled stream', () => stallsAfter(6, { text: words('answer') })],
  [
    'a tool called with broken arguments',
    () => answers({ calls: [{ name: 'look_up', arguments: `{"q":"${words('broken')}` }] }),
  ],
  ['an ordinary answer', () => answers({ text: words('answer') })],
];

describe.each(formatPairs)('a provider that echoes everything it received: $name', ({ wire, upstream }) => {
  test.each(faults)('%s', async (_what, behaviour) => {
    for (const stream of [true, false]) {
      const model = chaos.addModel(upstream, behaviour());
      const more = { ...confidential(wire), store: false };
      const answer = await completeCall(daemon, { wire, model, stream, more });
      note(answer.status, answer.text);
      expect(answer.text).not.toContain('no_route');
    }
  });

  test.each(doomedNames().filter((each) => each.wire === wire && each.upstream === upstream))(
    'a status of $status that closes it (stream: $stream)',
    async ({ status, stream, name }) => {
      const model = chaos.addModel(name, quotes(status));
      const answer = await completeCall(daemon, {
        wire,
        model,
        stream,
        more: { ...confidential(wire), store: false },
      });
      expect(answer.status).toBe(502);
      note(answer.status, answer.text);
    },
  );

  test('a client that leaves', async () => {
    const model = chaos.addModel(upstream, stallsAfter(8));
    const more = { ...confidential(wire), store: false };
    // On a busy machine, the provider may take longer than the daemon waits.
    await eventually('an answer has begun', async () => {
      const answer = callModel(daemon, { wire, model, stream: true, more });
      const hasBegun = await answer.receives('quick').then(
        () => true,
        () => false,
      );
      answer.disconnect();
      return hasBegun;
    });
    await eventually('it is settled', () => {
      const ledger = readLedger(daemon.home);
      return ledger.usageOf(model).length > 0 && ledger.holds.length === 0;
    });
  });

  test('a body that is not valid', async () => {
    const whole = { model: `${upstream}/any`, ...confidential(wire), store: false };
    const spoiled = Object.keys(whole).flatMap((member) => [
      { ...whole, [member]: member === 'model' || member === 'user' ? named(member) : words('wrong') },
      { ...whole, [member]: [words('wrong')] },
      { ...whole, [member]: { [prompt]: words('wrong') } },
      { ...whole, [member]: 17 },
    ]);
    const texts = [
      ...spoiled.map((body) => JSON.stringify(body)),
      JSON.stringify(whole).slice(0, -1),
      `${words('none')}`,
      JSON.stringify(whole).replace('"tools"', 'tools'),
      JSON.stringify({ ...whole, [named('member')]: 1 }),
      JSON.stringify({ ...whole, service: { [named('option')]: words('option'), pay: words('pay') } }),
      JSON.stringify({ ...whole, temperature: words('temperature'), tool_choice: words('choice') }),
      JSON.stringify({ ...whole, previous_response_id: named('previous') }),
    ];
    for (const body of texts) await send('POST', pathOf[wire], { body, key: daemon.key });
  });
});

/** Everything the daemon exposes about calls besides their answers: metrics, every trace, every stored event. */
async function everythingWatched(): Promise<string[]> {
  const headers = { authorization: `Bearer ${daemon.login}` };
  const texts = [await (await fetch(`${daemon.url}/metrics`)).text()];
  let after: string | null = '';
  let count = 0;
  while (after !== null) {
    const text = await (
      await fetch(`${daemon.url}/v1/traces?limit=100${after && `&after=${after}`}`, { headers })
    ).text();
    const page = JSON.parse(text) as { data: unknown[]; next: string | null };
    texts.push(text);
    count += page.data.length;
    after = page.next;
  }
  expect(count).toBeGreaterThan(200);
  const leave = new AbortController();
  const events = await fetch(`${daemon.url}/v1/events?after=0`, { headers, signal: leave.signal });
  let reported = '';
  for await (const chunk of events.body as ReadableStream<Uint8Array>) {
    reported += new TextDecoder().decode(chunk);
    if ((reported.match(/^event: request/gm)?.length ?? 0) >= count) break;
  }
  leave.abort();
  return [...texts, reported];
}

/** Remembers what a caller received. */
function note(status: number, text: string): void {
  answered.push(text);
  if (status >= 400) failures.push(text);
  else if (/^(event|data): /.test(text)) {
    for (const event of parseStream(text).events) {
      const response = event.response as { error?: unknown } | undefined;
      for (const error of [event.error, response?.error]) if (error) failures.push(JSON.stringify(error));
    }
  }
}

interface Sending {
  key?: string | undefined;
  body?: string | undefined;
}

async function send(method: string, path: string, { key, body }: Sending): Promise<void> {
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (key !== undefined) headers.authorization = `Bearer ${key}`;
  const leave = new AbortController();
  const answer = await fetch(daemon.url + path, {
    method,
    headers,
    body: body ?? null,
    signal: leave.signal,
  });
  // Such a stream lasts as long as a client follows it.
  if (answer.headers.get('content-type')?.startsWith('text/event-stream') && method === 'GET') {
    leave.abort();
    return;
  }
  note(answer.status, await answer.text());
}

test('every route, with every kind of credential and nonsense in every field', async () => {
  const document = (await (await fetch(`${daemon.url}/v1/openapi.json`)).json()) as {
    paths: Record<string, Record<string, unknown>>;
  };
  const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path })),
  );
  expect(routes.length).toBeGreaterThan(15);
  for (const { method, path } of routes) {
    // These end the daemon, and the login that the rest is done with.
    if (path.endsWith('/stop') || (method === 'DELETE' && path === '/v1/sessions/current')) continue;
    const filled = path.replace(/\{\w+\}/g, encodeURIComponent(named('path')));
    const body =
      method === 'POST' ? JSON.stringify({ name: words('name'), [named('member')]: wrongKey }) : undefined;
    for (const key of [undefined, daemon.key, daemon.login, wrongKey, `${daemon.key}x`, words('key')]) {
      await send(method, filled, { key, body });
      await send(method, `${filled}?api_key=${wrongKey}&limit=${encodeURIComponent(words('query'))}`, {
        key,
        body,
      });
    }
  }
  for (const authorization of [`Basic ${wrongKey}`, wrongKey, `Bearer ${wrongKey} ${wrongKey}`]) {
    const answer = await fetch(`${daemon.url}/v1/models`, { headers: { authorization } });
    note(answer.status, await answer.text());
  }
});

test('afterwards: no secret is stored or logged, and no prompt is in a log or an error', async () => {
  const issued = await fetch(`${daemon.url}/v1/workspaces/me/keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${daemon.login}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'second' }),
  });
  expect(issued.status).toBe(200);
  const { secret } = (await issued.json()) as { secret: string };
  expect(failures.length).toBeGreaterThan(300);
  expect(answered.some((text) => text.includes(prompt))).toBe(true);
  // A stored response may hold what was said: proof that the search below would find it. The simulator is never late.
  const kept = words('kept');
  const { text } = await completeCall(daemon, {
    wire: 'responses',
    model: 'sim/echo',
    stream: false,
    prompt: kept,
    more: { store: true },
  });
  expect(JSON.parse(text)).toMatchObject({ store: true });
  const watched = await everythingWatched();
  daemon.signal('SIGTERM');
  expect(await daemon.ended).toBe(0);
  const spans = collector.requests.map((request) => request.text);
  expect(collector.spans.length).toBeGreaterThan(300);
  expect(collector.requests[0]?.headers.authorization).toBe(`Bearer ${collectorKey}`);

  const { stdout, stderr } = daemon.printed();
  const dataKey = readFileSync(join(daemon.home, 'data-key'), 'utf8').trim();
  const secrets = {
    providerKey,
    collectorKey,
    wrongKey,
    key: daemon.key,
    login: daemon.login,
    secret,
    dataKey,
  };
  const files = readdirSync(daemon.home, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(daemon.home, name)).isFile() && name.startsWith('gateway.db'))
    .map((name) => readFileSync(join(daemon.home, name)));
  const inFiles = (needle: string) => files.some((bytes) => bytes.includes(needle));
  expect(inFiles(kept)).toBe(true);
  for (const [name, value] of Object.entries(secrets)) {
    // The middle of a secret is as telling as all of it; its first and last characters are its hint.
    const middle = value.slice(12, -6);
    for (const reported of [stdout, stderr, ...failures, ...watched, ...spans])
      expect(reported.includes(middle), name).toBe(false);
    expect(inFiles(middle), name).toBe(false);
    if (name !== 'secret') for (const text of answered) expect(text, name).not.toContain(middle);
  }
  for (const reported of [stdout, stderr, ...watched, ...spans]) expect(reported).not.toContain(prompt);
  const telling = failures.filter((text) => text.includes(prompt));
  expect(telling).toEqual([]);
  const unkept = ['answer', 'input', 'message', 'tool', 'arguments', 'output', 'provider', 'metadata'];
  for (const what of unkept) expect(inFiles(words(what)), what).toBe(false);
});
