import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { endpoints } from '../support/endpoints.ts';
import { eventually } from '../support/eventually.ts';
import { exampleOf, requestOf } from '../support/example-calls.ts';
import { type FakeOpenAi, startFakeOpenAi } from '../support/fake-openai.ts';
import { readLedger } from '../support/ledger.ts';
import { paidConfig } from '../support/paid-daemon.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

/** Nano-dollars a token at the prices of `paid/…`. */
const prices = { input: 1_000, output: 2_000 };
let fake: FakeOpenAi;
let daemon: RunningDaemon;

beforeAll(async () => {
  fake = await startFakeOpenAi();
  daemon = await startDaemon({ config: paidConfig(fake.baseUrl) });
});

afterAll(async () => {
  await daemon.stop();
  await fake.close();
});

beforeEach(() => {
  fake.forget();
  fake.always({ text: 'Some words.', usage: { input: 20, output: 100 } });
});

interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: what is in it is what the tests are about.
  body: any;
}

async function reported(answer: Response): Promise<Answer> {
  return { status: answer.status, headers: answer.headers, body: await answer.json() };
}

async function asOwner(method: string, path: string, json?: unknown): Promise<Answer> {
  return reported(
    await fetch(daemon.url + path, {
      method,
      headers: { authorization: `Bearer ${daemon.login}`, 'content-type': 'application/json' },
      ...(json !== undefined && { body: JSON.stringify(json) }),
    }),
  );
}

async function issue(body: object = {}): Promise<{ id: string; secret: string }> {
  const { status, body: issued } = await asOwner('POST', '/v1/workspaces/me/keys', body);
  expect([status, issued.error]).toEqual([200, undefined]);
  return { id: issued.key.id, secret: issued.secret };
}

async function ask(secret: string, body: object = {}, path = '/v1/responses'): Promise<Answer> {
  const json = { model: 'paid/small', input: 'Hello.', max_output_tokens: 100, store: false, ...body };
  return reported(await daemon.fetch(path, { json, headers: { authorization: `Bearer ${secret}` } }));
}

const limitsOf = (id: string) => `/v1/workspaces/me/keys/${id}/limits`;
const chargedTo = (rows: { charged: number }[]) => rows.reduce((sum, { charged }) => sum + charged, 0);
const spent = async (secret: string): Promise<number> => {
  const { body } = await reported(
    await daemon.fetch('/v1/key', { headers: { authorization: `Bearer ${secret}` } }),
  );
  return Math.round(Number(body.spend_usd.total) * 1e9);
};
const outcome = ({ status, body }: Answer) => [status, body.error?.code, body.error?.param];

describe('the limits of a key', () => {
  test('are set one by one, persist, and are cleared with null', async () => {
    const { id } = await issue();
    const none = {
      spend_cap: null,
      max_price: null,
      models: null,
      requests_per_minute: null,
      concurrency: null,
      queue_seconds: null,
      expires_at: null,
    };
    expect((await asOwner('GET', limitsOf(id))).body).toEqual(none);
    const first = await asOwner('PUT', limitsOf(id), {
      spend_cap: { usd: '5', period: 'day' },
      max_price: { input: '2.5' },
    });
    const both = {
      ...none,
      spend_cap: { usd: '5', period: 'day' },
      max_price: { input: '2.5', output: null },
    };
    expect([first.status, first.body]).toEqual([200, both]);
    const second = await asOwner('PUT', limitsOf(id), {
      spend_cap: null,
      models: ['sim/*'],
      requests_per_minute: 7,
      concurrency: 2,
      queue_seconds: 60,
      expires_at: '2099-01-01T00:00:00Z',
    });
    const changed = {
      ...both,
      spend_cap: null,
      models: ['sim/*'],
      requests_per_minute: 7,
      concurrency: 2,
      queue_seconds: 60,
      expires_at: '2099-01-01T00:00:00.000Z',
    };
    expect(second.body).toEqual(changed);
    expect((await asOwner('GET', limitsOf(id))).body).toEqual(changed);
    const listed = await asOwner('GET', '/v1/workspaces/me/keys');
    expect(listed.body.data.find((key: { id: string }) => key.id === id).limits).toEqual(changed);
  });

  test.each([
    [{ spend_cap: { usd: '-1', period: 'day' } }, 'spend_cap.usd'],
    [{ spend_cap: { usd: '9999999', period: 'day' } }, 'spend_cap.usd'],
    [{ spend_cap: { usd: '1', period: 'year' } }, 'spend_cap.period'],
    [{ spend_cap: { usd: '1', period: 'day', day_starts: '6:00' } }, 'spend_cap.day_starts'],
    [{ spend_cap: { usd: '1' } }, 'spend_cap.period'],
    [{ max_price: { input: 'cheap' } }, 'max_price.input'],
    [{ models: [] }, 'models'],
    [{ models: ['a', ''] }, 'models[1]'],
    [{ requests_per_minute: 0 }, 'requests_per_minute'],
    [{ concurrency: 0 }, 'concurrency'],
    [{ queue_seconds: 3601 }, 'queue_seconds'],
    [{ requests_per_minute: 1.5 }, 'requests_per_minute'],
    [{ expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
    [{ expires_at: 'tomorrow' }, 'expires_at'],
    [{ spending: 1 }, 'spending'],
  ])('reject %j', async (body, param) => {
    const { id } = await issue();
    expect(outcome(await asOwner('PUT', limitsOf(id), body))).toEqual([400, 'invalid_request', param]);
    const atIssue = await asOwner('POST', '/v1/workspaces/me/keys', { limits: body });
    expect(outcome(atIssue)).toEqual([400, 'invalid_request', `limits.${param}`]);
  });

  test('expire at a time with any offset', async () => {
    const { id } = await issue({});
    const set = await asOwner('PUT', limitsOf(id), { expires_at: '2099-01-31T00:30:00+01:00' });
    expect(set.body).toMatchObject({ expires_at: '2099-01-30T23:30:00.000Z' });
  });

  test('can be changed only by the owner', async () => {
    const { id, secret } = await issue({ scopes: ['keys', 'workspace', 'responses'] });
    const asKey = await reported(
      await daemon.fetch(limitsOf(id), { headers: { authorization: `Bearer ${secret}` } }),
    );
    expect(outcome(asKey)).toEqual([401, 'signed_out', null]);
    expect(outcome(await asOwner('GET', limitsOf('key_none')))).toEqual([403, 'permission', null]);
  });
});

const hello = [{ role: 'user', content: 'Hello.' }];

describe('a spending cap', () => {
  test('holds for 400 simultaneous calls', async () => {
    const cap = 5_000_000;
    const { secret } = await issue({ limits: { spend_cap: { usd: '0.005', period: 'total' } } });
    const answers = await Promise.all(Array.from({ length: 400 }, () => ask(secret)));
    const accepted = answers.filter(({ status }) => status === 200);
    const refused = answers.filter(({ status }) => status !== 200);
    expect(new Set(refused.map((answer) => outcome(answer).join(' ')))).toEqual(
      new Set(['403 limit_reached limits.spend_cap']),
    );
    expect(accepted.length).toBeGreaterThanOrEqual(15);
    expect(await spent(secret)).toBeLessThanOrEqual(cap);
    expect(await spent(secret)).toBeGreaterThan(cap * 0.8);
    expect(readLedger(daemon.home)).toMatchObject({ faults: [], holds: [] });
  });

  test('limits an answer to the rest of the budget, tells the provider, and cuts a stream that exceeds it', async () => {
    const { secret } = await issue({ limits: { spend_cap: { usd: '0.0002', period: 'month' } } });
    fake.always({ text: 'word '.repeat(5_000), usage: { input: 20, output: 5_000 } });
    const answer = await daemon.fetch('/v1/responses', {
      json: { model: 'paid/small', input: 'Hello.', stream: true, store: false },
      headers: { authorization: `Bearer ${secret}` },
    });
    const events = [...(await answer.text()).matchAll(/^data: (\{.*)$/gm)].map(([, json]) =>
      JSON.parse(json ?? ''),
    );
    const last = events.at(-1);
    expect(last).toMatchObject({
      type: 'response.incomplete',
      response: { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
    });
    const sent = fake.requests.at(-1)?.body as { max_completion_tokens?: number; max_tokens?: number };
    const reported = sent.max_completion_tokens ?? sent.max_tokens ?? 0;
    expect(reported).toBeGreaterThanOrEqual(16);
    expect(reported * prices.output).toBeLessThanOrEqual(200_000);
    expect(await spent(secret)).toBeLessThanOrEqual(200_000);
  });

  test.each([
    ['/v1/responses', { input: 'Hello.', store: false }, 'max_output_tokens'],
    ['/v1/chat/completions', { messages: hello }, 'max_completion_tokens'],
    ['/v1/chat/completions', { messages: hello }, 'max_tokens'],
    ['/v1/messages', { messages: hello }, 'max_tokens'],
  ])('reports to %s that it shortened an explicit maximum', async (path, body, member) => {
    const { secret } = await issue({ limits: { spend_cap: { usd: '0.0002', period: 'total' } } });
    fake.always({ text: 'Hi.', usage: { input: 2, output: 2 } });
    const dropped = async (maximum: number) => {
      const answer = await daemon.fetch(path, {
        json: { model: 'paid/small', ...body, [member]: maximum },
        headers: { authorization: `Bearer ${secret}` },
      });
      expect(answer.status).toBe(200);
      return answer.headers.get('x-service-dropped');
    };
    expect(await dropped(32_000)).toBe(member);
    expect(await dropped(16)).toBeNull();
  });

  test('rejects calls that could write fewer than 16 tokens, and says until when', async () => {
    const { id, secret } = await issue({ limits: { spend_cap: { usd: '0.00005', period: 'day' } } });
    const refused = await ask(secret);
    expect(outcome(refused)).toEqual([403, 'limit_reached', 'limits.spend_cap']);
    expect(Date.parse(refused.body.error.resets_at) % 86_400_000).toBe(0);
    expect(fake.requests).toEqual([]);
    // What costs nothing may go on.
    expect((await ask(secret, { model: 'sim/echo' })).status).toBe(200);
    await asOwner('PUT', limitsOf(id), { spend_cap: { usd: '1', period: 'day' } });
    expect((await ask(secret)).status).toBe(200);
    await asOwner('PUT', limitsOf(id), { spend_cap: { usd: '0', period: 'day' } });
    expect((await ask(secret)).status).toBe(403);
  });

  test('counts spending from before it was set, and that of keys which the key issued', async () => {
    const { id, secret } = await issue({ scopes: ['keys', 'responses', 'usage:read'] });
    const child = await reported(
      await daemon.fetch('/v1/workspaces/me/keys', {
        json: {},
        headers: { authorization: `Bearer ${secret}` },
      }),
    );
    expect((await ask(secret)).status).toBe(200);
    expect((await ask(child.body.secret)).status).toBe(200);
    expect(await spent(secret)).toBe(440_000);
    await asOwner('PUT', limitsOf(id), { spend_cap: { usd: '0.00045', period: 'total' } });
    for (const one of [secret, child.body.secret]) {
      expect(outcome(await ask(one))).toEqual([403, 'limit_reached', 'limits.spend_cap']);
    }
    expect(await spent(child.body.secret)).toBe(220_000);
    const shown = await asOwner('GET', `/v1/workspaces/me/keys/${id}`);
    expect(shown.body.used).toEqual({
      spend_usd: { total: '0.00044', day: '0.00044', month: '0.00044' },
      spend_cap: { spent_usd: '0.00044', period_start: null, resets_at: null },
      requests_last_minute: 2,
    });
  });

  test('rejects models without a known price', async () => {
    const { secret } = await issue({ limits: { spend_cap: { usd: '1', period: 'day' } } });
    const refused = await ask(secret, { model: 'priceless/unknown' });
    expect(outcome(refused)).toEqual([503, 'no_route', null]);
    expect(refused.body.error.message).toContain('price is unknown');
  });
});

describe('requests per minute', () => {
  test('hold, however many calls come at once', async () => {
    const { id, secret } = await issue({ limits: { requests_per_minute: 20 } });
    const answers = await Promise.all(Array.from({ length: 200 }, () => ask(secret, { model: 'sim/echo' })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(20);
    const refused = answers.find(({ status }) => status !== 200) as Answer;
    expect(outcome(refused)).toEqual([403, 'limit_reached', 'limits.requests_per_minute']);
    const wait = Number(refused.headers.get('retry-after'));
    expect(wait).toBeGreaterThan(50);
    expect(wait).toBeLessThanOrEqual(60);
    expect(refused.body.error?.message).toBe(
      `This key allows 20 calls per minute. Try again in ${wait} seconds.`,
    );
    await asOwner('PUT', limitsOf(id), { requests_per_minute: 21 });
    expect((await ask(secret, { model: 'sim/echo' })).status).toBe(200);
    expect((await ask(secret, { model: 'sim/echo' })).status).toBe(403);
  });
});

describe('the models and actions of a key', () => {
  test.each<[object, object, string, string]>([
    [{ models: ['sim/*'] }, { model: 'paid/small' }, '/v1/responses', 'scopes.models'],
    [{ limits: { models: ['paid/l*'] } }, { model: 'paid/small' }, '/v1/responses', 'limits.models'],
    [{ actions: ['chat'] }, { model: 'sim/echo' }, '/v1/responses', 'scopes.actions'],
  ])('%j rejects %j', async (held, body, path, param) => {
    const { secret } = await issue(held);
    expect(outcome(await ask(secret, body, path))).toEqual([403, 'limit_reached', param]);
  });

  test('are those it was issued for', async () => {
    const { secret } = await issue({
      models: ['sim/*'],
      actions: ['responses'],
      limits: { models: ['sim/e*'] },
    });
    expect((await ask(secret, { model: 'sim/echo' })).status).toBe(200);
    expect(outcome(await ask(secret, { model: 'sim/assistant' }))).toEqual([
      403,
      'limit_reached',
      'limits.models',
    ]);
  });

  test('respect its price cap', async () => {
    const { id, secret } = await issue({ limits: { max_price: { output: '1.99' } } });
    expect(outcome(await ask(secret))).toEqual([503, 'no_route', 'limits.max_price']);
    await asOwner('PUT', limitsOf(id), { max_price: { output: '2' } });
    expect((await ask(secret)).status).toBe(200);
  });

  test('never exceed those of the key that issued it', async () => {
    const { secret } = await issue({
      scopes: ['keys', 'responses'],
      actions: ['responses'],
      models: ['sim/*'],
      limits: { requests_per_minute: 3 },
    });
    const from = (json: object) =>
      daemon
        .fetch('/v1/workspaces/me/keys', { json, headers: { authorization: `Bearer ${secret}` } })
        .then(reported);
    expect(outcome(await from({ actions: ['chat'] }))).toEqual([403, 'out_of_scope', 'actions']);
    const child = await from({ models: ['*'], limits: { requests_per_minute: 100 } });
    expect(child.body.key).toMatchObject({ actions: ['responses'], models: ['*'] });
    expect(outcome(await ask(child.body.secret))).toEqual([403, 'limit_reached', 'scopes.models']);
    const answers = await Promise.all([0, 1, 2, 3].map(() => ask(child.body.secret, { model: 'sim/echo' })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
  });
});

describe('a key that expires', () => {
  test('is rejected, and its running streams end', async () => {
    const { id, secret } = await issue({ scopes: ['responses', 'usage:read', 'traces:read'] });
    const headers = { authorization: `Bearer ${secret}` };
    const running = await daemon.fetch('/v1/responses', {
      json: { model: 'sim/slow', input: 'Write 2000 words.', stream: true, store: false },
      headers,
    });
    // On a slow machine, the time may have passed when it arrives.
    let soonMs = 150;
    await eventually('a time in the future is set', async () => {
      soonMs *= 2;
      const until = new Date(Date.now() + soonMs).toISOString();
      return (await asOwner('PUT', limitsOf(id), { expires_at: until })).status === 200;
    });
    const text = await running.text();
    expect(text).toContain('limit_reached');
    expect(text.trimEnd().endsWith('data: [DONE]')).toBe(true);
    expect(outcome(await ask(secret))).toEqual([403, 'limit_reached', 'limits.expires_at']);
    const ids = { workspace: 'me', response: 'resp_1', request: 'req_1', key: id };
    for (const endpoint of endpoints) {
      const request = requestOf(endpoint, exampleOf(endpoint, ids));
      const refused = await fetch(daemon.url + request.path, {
        ...request,
        headers: { ...request.headers, ...headers },
      });
      const { error } = JSON.parse(await refused.text());
      const isSite = endpoint.surface === 'site';
      const param = error?.param ?? error?.details?.param;
      expect([endpoint.id, refused.status, isSite || param]).toEqual([
        endpoint.id,
        403,
        isSite || 'limits.expires_at',
      ]);
    }
    const listed = await asOwner('GET', `/v1/workspaces/me/keys/${id}`);
    expect(listed.body.status).toBe('expired');
    await asOwner('PUT', limitsOf(id), { expires_at: null });
    expect((await ask(secret, { model: 'sim/echo' })).status).toBe(200);
  });
});

describe('the body sent to a provider', () => {
  const chat = {
    input: undefined,
    max_output_tokens: undefined,
    messages: [{ role: 'user', content: 'Hello.' }],
  };
  const choices: [string, unknown][] = [
    ['models', ['dear/model']],
    ['route', 'fallback'],
    ['fallbacks', [{ model: 'dear/model' }]],
    ['context_window_fallbacks', [{ small: ['dear/model'] }]],
    ['content_policy_fallbacks', [{ small: ['dear/model'] }]],
    ['provider', { order: ['dear'] }],
    ['providerOptions', { gateway: { models: ['dear/model'] } }],
    ['plugins', [{ id: 'web' }]],
    ['preset', 'dear'],
  ];

  test.each(choices)('has no %s, which would bypass limits', async (name, value) => {
    for (const limits of [
      { models: ['paid/*'] },
      { max_price: { output: '5' } },
      { spend_cap: { usd: '1', period: 'day' } },
    ]) {
      const { secret } = await issue({ limits });
      for (const [body, path] of [[{}], [chat, '/v1/chat/completions']] as [object, string?][]) {
        expect(outcome(await ask(secret, { ...body, [name]: value }, path))).toEqual([
          400,
          'invalid_request',
          name,
        ]);
      }
    }
    expect(fake.requests).toEqual([]);
    const { secret } = await issue();
    await ask(secret, { ...chat, [name]: value }, '/v1/chat/completions');
    expect(fake.requests[0]?.body).toMatchObject({ [name]: value });
  });

  const picture = { type: 'image_generation', model: 'gpt-image-dear' };
  const advisor = { type: 'advisor_20260301', name: 'advisor', model: 'claude-dear' };
  const addition = { type: 'tool_addition', tool: { type: 'tool_definition', definition: advisor } };
  const input = (item: object) => ({ input: [{ role: 'user', content: 'Hello.' }, item] });
  const toolModels: [string, string, object][] = [
    ['tools[0].model', '/v1/responses', { tools: [picture] }],
    [
      'tools[0].svg.model',
      '/v1/responses',
      { tools: [{ type: 'image_generation', svg: { model: 'dear' } }] },
    ],
    [
      'input[1].tools[0].model',
      '/v1/responses',
      input({ type: 'additional_tools', role: 'developer', tools: [picture] }),
    ],
    [
      'input[1].tools[0].tools[0].model',
      '/v1/responses',
      input({ type: 'tool_search_output', tools: [{ type: 'namespace', name: 'n', tools: [picture] }] }),
    ],
    ['tools[0].model', '/v1/messages', { tools: [advisor] }],
    [
      'messages[0].content[0].tool.definition.model',
      '/v1/messages',
      { messages: [{ role: 'user', content: [addition, { type: 'text', text: 'Hello.' }] }] },
    ],
    ['tools[0]', '/v1/responses', { tools: [{ type: 'x', ['x'.repeat(1_000)]: { model: 'dear' } }] }],
    [
      'tools[0].parameters.models',
      '/v1/chat/completions',
      { ...chat, tools: [{ type: 'search:paid', parameters: { models: ['dear'] } }] },
    ],
  ];

  test.each(toolModels)('has no %s of %s, which would bypass limits', async (param, path, members) => {
    const isMessages = path === '/v1/messages';
    const body = isMessages ? { ...chat, input: undefined, max_tokens: 64, ...members } : members;
    const { secret } = await issue({ limits: { models: ['paid/*'] } });
    const answer = await ask(secret, body, path);
    const { error } = answer.body;
    const found = isMessages ? error.details.param : error.param;
    expect([answer.status, found]).toEqual([400, param]);
    expect(fake.requests).toEqual([]);
  });

  test('has tools whose settings only look like another model', async () => {
    const toolset = {
      type: 'mcp_toolset',
      mcp_server_name: 'm',
      configs: { list_models: { enabled: true } },
    };
    const { secret } = await issue({ limits: { models: ['paid/*'] } });
    const body = { messages: chat.messages, input: undefined, max_tokens: 64, tools: [toolset] };
    const { body: answer } = await ask(secret, body, '/v1/messages');
    expect(JSON.stringify(answer)).not.toContain('list_models');
  });

  test('has a tool with another model for keys without limits', async () => {
    const { secret } = await issue();
    expect((await ask(secret, { tools: [picture] })).status).toBe(200);
  });

  const fees: [string, unknown, string][] = [
    ['a container', { type: 'code_interpreter', container: { type: 'auto' } }, 'tools[1]'],
    ['a shell in a container', { type: 'shell', environment: { type: 'container_auto' } }, 'tools[1]'],
    ['pictures of another model', { type: 'image_generation' }, 'tools[1]'],
    ['an unknown tool', { type: 'x_search' }, 'tools[1]'],
  ];

  test.each(fees)(
    'has no %s when money is limited, as its fee cannot be counted',
    async (_what, tool, param) => {
      const tools = [{ type: 'custom', name: 'grep' }, tool];
      for (const limits of [{ max_price: { output: '5' } }, { spend_cap: { usd: '1', period: 'day' } }]) {
        const { secret } = await issue({ limits });
        expect(outcome(await ask(secret, { tools }))).toEqual([400, 'invalid_request', param]);
        const item = { type: 'additional_tools', role: 'developer', tools: [tool] };
        expect(outcome(await ask(secret, input(item)))).toEqual([
          400,
          'invalid_request',
          'input[1].tools[0]',
        ]);
      }
      expect(fake.requests).toEqual([]);
      const { secret } = await issue();
      expect((await ask(secret, { tools })).status).toBe(200);
    },
  );

  test('has tools without a fee, or with a known fee, whatever the limits', async () => {
    const { secret } = await issue({ limits: { max_price: { output: '5' } } });
    const tools = [
      { type: 'custom', name: 'grep' },
      { type: 'shell', environment: { type: 'local' } },
      { type: 'web_search' },
      { type: 'file_search', vector_store_ids: ['vs_1'] },
      { type: 'mcp', server_label: 'docs', server_url: 'https://docs.test/mcp' },
    ];
    expect((await ask(secret, { tools })).status).toBe(200);
    const search = { ...chat, web_search_options: {} };
    expect(outcome(await ask(secret, search, '/v1/chat/completions'))).toEqual([
      400,
      'invalid_request',
      'web_search_options',
    ]);
  });

  test('has no priority service tier when money is limited', async () => {
    const { secret } = await issue({ limits: { spend_cap: { usd: '1', period: 'day' } } });
    expect(outcome(await ask(secret, { service_tier: 'priority' }))).toEqual([
      400,
      'invalid_request',
      'service_tier',
    ]);
    for (const tier of ['auto', 'default', 'flex', null]) {
      expect((await ask(secret, { service_tier: tier })).status).toBe(200);
    }
    const { secret: free } = await issue({ limits: { models: ['paid/*'] } });
    expect((await ask(free, { service_tier: 'priority' })).status).toBe(200);
    const fast = {
      model: 'paid/reason',
      max_tokens: 9,
      messages: [{ role: 'user', content: 'Hi' }],
      speed: 'fast',
    };
    const refused = await ask(secret, fast, '/v1/messages');
    expect(refused).toMatchObject({ status: 400, body: { error: { type: 'invalid_request_error' } } });
    expect(JSON.stringify(refused.body)).toContain('service tiers');
  });
});

test('every limit that is hit is published as an event', async () => {
  const { id, secret } = await issue({ actions: ['chat'] });
  const leave = new AbortController();
  const followed = await fetch(`${daemon.url}/v1/events`, {
    headers: { authorization: `Bearer ${daemon.login}` },
    signal: leave.signal,
  });
  let seen = '';
  const reading = (async () => {
    for await (const chunk of followed.body as ReadableStream<Uint8Array>)
      seen += Buffer.from(chunk).toString();
  })().catch(() => {});
  const refused = await ask(secret);
  await eventually('the limit is reported', () => seen.includes('limit.reached'));
  leave.abort();
  await reading;
  const line = seen.split('\n').find((text) => text.includes('limit.reached') && text.startsWith('data:'));
  expect(line).toContain(id);
  expect(line).toContain('scopes.actions');
  expect(line).toContain(refused.body.error.request_id);
});

test('a key that spent 80 % of its cap is announced once, also after a restart', async () => {
  const { id, secret } = await issue({ limits: { spend_cap: { usd: '0.001', period: 'total' } } });
  for (let call = 1; call <= 3; call += 1) expect((await ask(secret)).status).toBe(200);
  await daemon.stop({ keep: true });
  daemon = await startDaemon({ config: paidConfig(fake.baseUrl), home: daemon.home });
  for (let call = 4; call <= 6; call += 1) await ask(secret);
  await asOwner('DELETE', `/v1/workspaces/me/keys/${id}`);
  const followed = await fetch(`${daemon.url}/v1/events?after=0&type=limit.warning,key.revoked&key=${id}`, {
    headers: { authorization: `Bearer ${daemon.login}` },
  });
  let text = '';
  for await (const chunk of followed.body ?? []) {
    text += Buffer.from(chunk).toString();
    if (text.includes('key.revoked')) break;
  }
  const events = [...text.matchAll(/^data: (.*)$/gm)].map(([, json]) => JSON.parse(json ?? ''));
  expect(events.map(({ type }) => type)).toEqual(['limit.warning', 'key.revoked']);
  expect(events[0].data).toEqual({
    key: id,
    param: 'limits.spend_cap',
    period: 'total',
    limit_usd: '0.001',
    spent_usd: '0.00088',
    resets_at: null,
  });
});

test('limits survive a restart', async () => {
  const { secret } = await issue({
    limits: { spend_cap: { usd: '0.00026', period: 'day' }, requests_per_minute: 2 },
  });
  expect((await ask(secret)).status).toBe(200);
  await daemon.stop({ keep: true });
  daemon = await startDaemon({ config: paidConfig(fake.baseUrl), home: daemon.home });
  expect(outcome(await ask(secret))).toEqual([403, 'limit_reached', 'limits.spend_cap']);
  expect((await ask(secret, { model: 'sim/echo' })).status).toBe(200);
  expect(outcome(await ask(secret, { model: 'sim/echo' }))).toEqual([
    403,
    'limit_reached',
    'limits.requests_per_minute',
  ]);
  expect(chargedTo(readLedger(daemon.home).usage)).toBeGreaterThan(0);
});
