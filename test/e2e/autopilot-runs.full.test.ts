import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { mint } from '../../src/daemon/features/paywalls/macaroon.ts';
import { encodeMacaroon } from '../../src/shared/payments/macaroon.ts';
import { parseAuthChallenges } from '../../src/shared/payments/payment-scheme.ts';
import { startChildDaemon } from '../support/child-daemon.ts';
import { eventually } from '../support/eventually.ts';
import { type PaywalledServer, startPaywalledServer } from '../support/paywalled-server.ts';
import { runCli } from '../support/run-cli.ts';
import { newToken } from '../support/site.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';
import { type AskOptions, addPerson, askDaemon, type Person } from '../support/users.ts';

const config = 'vault: {keychain: false, insecure_plain_file: true}\n';

/** The model does what it is told: it sends a request, or pays for it, and reports what it got. */
const simulate = `
rules:
  - when: { message: { matches: '^get (\\S+)$' } }
    tool_calls: [{ name: http_request, arguments: '{"url":"{{1}}"}' }]
  - when: { message: { matches: '^post (\\S+)$' } }
    tool_calls: [{ name: http_request, arguments: '{"url":"{{1}}","method":"POST","body":"beans"}' }]
  - when: { message: { matches: '^buy (\\S+) for (\\d+)$' } }
    tool_calls:
      - { name: paid_http_request, arguments: '{"url":"{{1}}","max_amount_sats":{{2}}}' }
  - when: { message: { matches: '^get (\\S+) with (.*)$' } }
    tool_calls: [{ name: http_request, arguments: '{"url":"{{1}}","headers":{{2}}}' }]
  - when: { message: { matches: '^wrong arguments$' } }
    tool_calls: [{ name: http_request, arguments: '{"uri":"here"}' }]
  - when: { message: { matches: '^unknown tool$' } }
    tool_calls: [{ name: shell, arguments: '{}' }]
  - when: { message: { matches: '^wait$' } }
    latency_ms: 600000
    reply: Too late.
  - when: { message: { matches: '^loop (\\S+)$' }, tool_result: true }
    tool_calls: [{ name: http_request, arguments: '{"url":"{{1}}"}' }]
  - when: { message: { matches: '^loop (\\S+)$' } }
    tool_calls: [{ name: http_request, arguments: '{"url":"{{1}}"}' }]
  - when: { message: { matches: '^insist (\\S+)$' }, tool_result: upstream_failed }
    tool_calls: &pay [{ name: paid_http_request, arguments: '{"url":"{{1}}","max_amount_sats":3}' }]
  - when: { message: { matches: '^insist (\\S+)$' } }
    tool_calls: *pay
  - when: { message: Which answer }
    reply: 'Answer {{turn}}.'
  - when: { tool_result: true }
    reply: '{{tool_result}}'
default:
  reply: Hello, I am awake.
`;

// biome-ignore lint/suspicious/noExplicitAny: the tests say what they expect in it.
type Json = any;

let daemon: RunningDaemon;
let server: PaywalledServer;
let seller: Person;
let bob: Person;
/** A paywall of this daemon in front of the server: 10 satoshis for each request. */
let paywall: string;

const ask = (method: string, path: string, { as = daemon.login, ...options }: AskOptions = {}) =>
  askDaemon(daemon, method, path, { as, ...options });
const data = async (method: string, path: string, options: AskOptions = {}): Promise<Json> => {
  const answer = await ask(method, path, options);
  expect(answer).toMatchObject({ status: 200 });
  return answer.body.data;
};
const create = (policy: object = {}, json: object = {}, as = daemon.login) =>
  data('POST', '/api/autopilots', {
    as,
    json: { displayName: 'Night Watch', ...json, policy: { model: 'sim/assistant', ...policy } },
  });
/** With limits that allow what the tests buy. */
const createBuyer = (policy: object = {}) =>
  create({
    l402RequireApproval: false,
    l402MaxSpendMsatsPerCall: 50_000,
    l402MaxSpendMsatsPerDay: 100_000,
    l402AllowedHosts: ['127.0.0.1:*'],
    ...policy,
  });
const start = (autopilot: Json, input: unknown, { as = daemon.login, ...json }: Json = {}): Promise<Json> =>
  data('POST', `/api/autopilots/${autopilot.id}/runs`, { as, json: { input, ...json } });
const show = (run: Json, as = daemon.login): Promise<Json> =>
  data('GET', `/api/autopilots/${run.autopilotId}/runs/${run.id}`, { as });
const ended = (run: Json, as = daemon.login): Promise<Json> =>
  eventually('the end of the run', async () => {
    const shown = await show(run, as);
    return shown.status !== 'running' && shown;
  });
/** The end of a run. */
const run = async (autopilot: Json, input: unknown, { as = daemon.login, ...json }: Json = {}) =>
  ended(await start(autopilot, input, { as, ...json }), as);
/** What a tool answered, which the model repeats. */
const resultOf = async (...given: Parameters<typeof run>): Promise<Json> => {
  const shown = await run(...given);
  expect([shown.status, shown.error]).toEqual(['completed', null]);
  return JSON.parse(shown.output);
};
const balance = async (as = daemon.login): Promise<number> =>
  (await data('GET', '/api/agents/me/balance', { as })).balanceSats;
const invoiceOf = async (amountSats: number): Promise<string> =>
  (await data('POST', '/api/payments/invoice', { as: seller.login, json: { amountSats } })).invoice
    .paymentRequest;
const eventsOf = (shown: Json): Promise<Json[]> =>
  data('GET', `/api/chats/${shown.chatId}/runs/${shown.id}/events`);

beforeAll(async () => {
  server = await startPaywalledServer();
  daemon = await startDaemon({ config, simulate });
  [seller, bob] = [await addPerson(daemon, 'seller'), await addPerson(daemon, 'bob')];
  for (const as of [daemon.login, seller.login, bob.login])
    await data('POST', '/api/agents/me/wallet', { as, json: {} });
  await data('POST', '/api/agents/me/wallet/faucet', { json: { amountSats: 100_000 } });
  const json = { priceSats: 10, upstream: { url: server.url } };
  paywall = (await data('POST', '/api/l402/paywalls', { json })).url;
});

afterAll(async () => {
  await daemon.stop();
  await server.close();
});

beforeEach(() => {
  server.seen.length = 0;
});

describe('a run', () => {
  test('is started with a text, answers, and is listed by its autopilot and its chat', async () => {
    const autopilot = await create();
    const started = await start(autopilot, 'Are you awake?');
    expect(started).toMatchObject({
      status: expect.stringMatching(/^(running|completed)$/),
      autopilotId: autopilot.id,
      autopilotConfigVersion: 1,
      chatId: expect.stringMatching(/^th_/),
    });
    const shown = await ended(started);
    expect(shown).toMatchObject({
      status: 'completed',
      output: 'Hello, I am awake.',
      model: 'sim/assistant',
      provider: 'simulator',
      usage: { totalTokens: expect.any(Number), chargedUsd: '0' },
    });
    const { output: _, ...listed } = shown;
    expect(await data('GET', `/api/autopilots/${autopilot.handle}/runs`)).toEqual([
      { ...listed, notRun: null },
    ]);
    expect(await data('GET', `/api/chats/${shown.chatId}/runs`)).toEqual([listed]);
    expect(await data('GET', `/api/chats/${shown.chatId}`)).toMatchObject({
      autopilotId: autopilot.id,
      title: 'Are you awake?',
      working: false,
    });
    expect(await data('GET', `/api/chats/${shown.chatId}/messages`)).toMatchObject([
      { role: 'user', content: 'Are you awake?', autopilotId: autopilot.id },
      { role: 'assistant', content: 'Hello, I am awake.', autopilotId: autopilot.id },
    ]);
  });

  test('is metered like any other call, and its events name the request', async () => {
    const shown = await run(await create(), 'Are you awake?');
    const events = await eventsOf(shown);
    expect(events.map(({ type }) => type)).toEqual(['run_started', 'model_finished', 'run_completed']);
    const { request_id: id } = events[1].payload;
    const { body } = await ask('GET', `/v1/usage/${id}`);
    expect(body).toMatchObject({ request_id: id, model: 'sim/assistant', status: 'completed' });
  });

  test('continues a chat, whose messages the model sees', async () => {
    const autopilot = await create();
    const first = await run(autopilot, [
      { role: 'user', content: 'My name is Ada.' },
      { role: 'assistant', content: 'Hello, Ada.' },
      { role: 'user', content: 'Which answer is this?' },
    ]);
    const second = await run(autopilot, 'Which answer is that?', { chatId: first.chatId });
    expect([first.output, second.output]).toEqual(['Answer 2.', 'Answer 3.']);
    const messages = await data('GET', `/api/chats/${first.chatId}/messages`);
    expect(messages.map(({ content }: Json) => content)).toEqual([
      ...[
        'My name is Ada.',
        'Hello, Ada.',
        'Which answer is this?',
        'Answer 2.',
        'Which answer is that?',
        'Answer 3.',
      ],
    ]);
    expect(second.usage.inputTokens).toBeGreaterThan(first.usage.inputTokens);
  });

  test('is started by a chat that is addressed to an autopilot', async () => {
    const autopilot = await create();
    const chat = await data('POST', '/api/chats', { json: { autopilot: autopilot.handle } });
    expect(chat.autopilotId).toBe(autopilot.id);
    const started = await data('POST', `/api/chats/${chat.id}/runs`, { json: { input: 'Are you awake?' } });
    expect(started).toMatchObject({ autopilotId: autopilot.id, chatId: chat.id });
    expect((await ended(started)).output).toBe('Hello, I am awake.');
    const plain = await data('POST', '/api/chats', { json: {} });
    expect(await ask('POST', `/api/chats/${plain.id}/runs`, { json: { input: 'Hi.' } })).toMatchObject({
      status: 409,
      body: { message: 'This chat is not addressed to an autopilot.' },
    });
    const json = { autopilot: 'nobody' };
    expect((await ask('POST', '/api/chats', { json })).status).toBe(404);
  });

  test('is started once for an Idempotency-Key', async () => {
    const autopilot = await create();
    const path = `/api/autopilots/${autopilot.id}/runs`;
    const headers = { 'Idempotency-Key': 'once' };
    const send = (input: string) => ask('POST', path, { json: { input }, headers } as AskOptions);
    const [first, second] = [await send('Hi.'), await send('Hi.')];
    expect(second.body).toEqual(first.body);
    expect((await send('Ho.')).status).toBe(409);
    expect(await data('GET', path)).toHaveLength(1);
  });

  test('needs an active autopilot with a model', async () => {
    const autopilot = await create();
    const path = `/api/autopilots/${autopilot.id}`;
    for (const status of ['disabled', 'archived']) {
      await data('PATCH', path, { json: { status } });
      expect(await ask('POST', `${path}/runs`, { json: { input: 'Hi.' } })).toMatchObject({
        status: 409,
        body: { message: `The autopilot is \`${status}\`; only active autopilots can run.` },
      });
    }
    const { id } = await create({ model: null });
    expect(await ask('POST', `/api/autopilots/${id}/runs`, { json: { input: 'Hi.' } })).toMatchObject({
      status: 409,
      body: { message: 'The autopilot has no model: set `policy.model`.' },
    });
  });

  test.each<[object, string]>([
    [{}, 'input'],
    [{ input: ' ' }, 'input'],
    [{ input: [] }, 'input'],
    [{ input: 'Hi.', maxSpendMsats: -1 }, 'maxSpendMsats'],
    [{ input: 'Hi.', model: 'sim/echo' }, 'model'],
  ])('is not started with %j', async (json, field) => {
    const { id } = await create();
    expect(await ask('POST', `/api/autopilots/${id}/runs`, { json })).toMatchObject({
      status: 422,
      body: { errors: { [field]: [expect.any(String)] } },
    });
  });

  test('fails with the error of its model, and ends after a number of steps', async () => {
    expect(await run(await create({ model: 'sim/nothing' }), 'Hi.')).toMatchObject({
      status: 'failed',
      output: null,
      error: { code: 'model_not_found' },
    });
    expect(await run(await create({ modelProvider: 'openai' }), 'Hi.')).toMatchObject({ status: 'failed' });
    const looping = await createBuyer();
    const shown = await run(looping, `loop ${server.url}/again`);
    expect(shown).toMatchObject({
      status: 'failed',
      error: { message: 'The model still called tools in the last of 16 steps.' },
    });
    expect(server.seen).toHaveLength(16);
  });

  test('is cancelled, also by disabling its autopilot before the next step', async () => {
    const autopilot = await create();
    const started = await start(autopilot, 'wait');
    const path = `/api/autopilots/${autopilot.id}/runs/${started.id}`;
    expect(await data('POST', `${path}/cancel`)).toMatchObject({ status: 'cancelled', output: null });
    expect(await data('POST', `${path}/cancel`)).toMatchObject({ status: 'cancelled' });
    const second = await createBuyer();
    server.on('/disable', (_request, response) => {
      void data('PATCH', `/api/autopilots/${second.id}`, { json: { status: 'disabled' } }).then(() =>
        response.end('done'),
      );
    });
    expect(await run(second, `get ${server.url}/disable`)).toMatchObject({
      status: 'failed',
      error: { code: 'conflict', message: expect.stringContaining('is `disabled`') },
    });
  });

  test('belongs to the owner of its autopilot, and a key needs the scopes of model calls', async () => {
    const autopilot = await create();
    const { id } = await run(autopilot, 'Hi.');
    const path = `/api/autopilots/${autopilot.id}/runs`;
    expect((await ask('GET', `${path}/${id}`, { as: bob.login })).status).toBe(404);
    expect((await ask('POST', path, { as: bob.login, json: { input: 'Hi.' } })).status).toBe(404);
    const others = await create();
    expect((await ask('GET', `/api/autopilots/${others.id}/runs/${id}`)).status).toBe(404);
    const keyWith = async (scopes: string[]): Promise<string> =>
      (await ask('POST', '/v1/workspaces/me/keys', { json: { scopes } })).body.secret;
    for (const scopes of [
      ['workspace', 'threads'],
      ['workspace', 'responses'],
    ])
      expect((await ask('POST', path, { as: await keyWith(scopes), json: { input: 'Hi.' } })).status).toBe(
        403,
      );
    const as = await keyWith(['workspace', 'responses', 'threads']);
    expect((await run(autopilot, 'Hi.', { as })).output).toBe('Hello, I am awake.');
  });

  test('is only seen in the workspace of its chat', async () => {
    const autopilot = await create();
    const { id } = await run(autopilot, 'Hi.');
    const { body } = await ask('POST', '/v1/workspaces', { json: { name: 'Other' } });
    const json = { scopes: ['workspace', 'responses', 'threads'] };
    const { secret: as } = (await ask('POST', `/v1/workspaces/${body.id}/keys`, { json })).body;
    const path = `/api/autopilots/${autopilot.id}/runs`;
    expect(await data('GET', path, { as })).toEqual([]);
    expect((await ask('GET', `${path}/${id}`, { as })).status).toBe(404);
    expect((await ask('POST', `${path}/${id}/cancel`, { as })).status).toBe(404);
    const own = await run(autopilot, 'Hi.', { as });
    expect(await data('GET', path, { as })).toMatchObject([{ id: own.id }]);
    expect(await data('GET', path)).toMatchObject([{ id }]);
  });
});

describe('the tools', () => {
  test('send requests to allowed hosts and return the answer to the model', async () => {
    const autopilot = await createBuyer();
    expect(await resultOf(autopilot, `get ${server.url}/weather?in=Rome`)).toEqual({
      status: 200,
      content_type: 'application/json',
      body: '{"path":"/weather?in=Rome","length":0}',
    });
    await resultOf(autopilot, `post ${server.url}/orders`);
    expect(server.seen).toMatchObject([
      { method: 'GET', url: '/weather?in=Rome' },
      { method: 'POST', url: '/orders', body: 'beans' },
    ]);
    const shown = await run(autopilot, `get ${server.url}/weather`);
    expect((await eventsOf(shown)).map(({ type, actorType }) => [type, actorType])).toEqual([
      ['run_started', 'system'],
      ['model_finished', 'system'],
      ['tool_call_started', 'autopilot'],
      ['tool_call_succeeded', 'autopilot'],
      ['model_finished', 'system'],
      ['run_completed', 'system'],
    ]);
    const messages = await data('GET', `/api/chats/${shown.chatId}/messages`);
    expect(messages.map(({ meta }: Json) => meta.type)).toEqual([
      ...['message', 'function_call', 'function_call_output', 'message'],
    ]);
  });

  test('do not follow redirects, and cut long answers', async () => {
    server.on('/moved', (_request, response) => {
      response.writeHead(302, { location: 'http://169.254.169.254/' }).end();
    });
    server.on('/long', (_request, response) => void response.end('x'.repeat(70_000)));
    const autopilot = await createBuyer();
    expect(await resultOf(autopilot, `get ${server.url}/moved`)).toMatchObject({
      status: 302,
      location: 'http://169.254.169.254/',
    });
    const { body, is_truncated } = await resultOf(autopilot, `get ${server.url}/long`);
    expect([body.length, is_truncated]).toEqual([65_536, true]);
  });

  test('reach only hosts of the policy, by name and port', async () => {
    const refused = async (hosts: string[] | null, url = `${server.url}/`) =>
      (await resultOf(await createBuyer({ l402AllowedHosts: hosts }), `get ${url}`)).error;
    expect(await refused(null)).toEqual({
      code: 'permission',
      message: 'No requests are allowed until `policy.l402AllowedHosts` lists hosts.',
    });
    expect(await refused(['api.example.com', '*.example.com', '127.0.0.1:1'])).toEqual({
      code: 'permission',
      message: `127.0.0.1:${server.port} is not among the hosts of \`policy.l402AllowedHosts\`: api.example.com, *.example.com, 127.0.0.1:1.`,
    });
    expect(await refused([`127.0.0.1:${server.port}`])).toBeUndefined();
    expect(await refused(['127.0.0.1'])).toEqual({
      code: 'permission',
      message: `127.0.0.1:${server.port} is not among the hosts of \`policy.l402AllowedHosts\`: 127.0.0.1. Without a port, a host means port 80.`,
    });
    expect(await refused(['127.0.0.1:*'])).toBeUndefined();
    // Without a port, the default port of the scheme: allowed by the policy, and then by nothing else.
    const codeOf = async (hosts: string[], url: string) => (await refused(hosts, url)).code;
    expect(await codeOf(['169.254.169.254'], 'http://169.254.169.254/')).toBe('upstream_failed');
    expect(await codeOf(['169.254.169.254:443'], 'https://169.254.169.254/')).toBe('upstream_failed');
    expect(await codeOf(['169.254.169.254:443'], 'http://169.254.169.254/')).toBe('permission');
    expect(await refused(['*'], 'ftp://127.0.0.1/').catch(() => 'invalid')).toBe('invalid');
    expect(server.seen).toHaveLength(2);
  });

  test('reach neither this daemon nor metadata addresses, and private addresses only for the owner of the host', async () => {
    const everywhere = { l402AllowedHosts: ['127.0.0.1:*', 'localhost:*', '169.254.169.254'] };
    const autopilot = await createBuyer(everywhere);
    const messageOf = async (url: string) => (await resultOf(autopilot, `get ${url}`)).error.message;
    expect(await messageOf(`${daemon.url}/healthz`)).toContain('is this daemon itself');
    const { port } = new URL(daemon.url);
    expect(await messageOf(`http://localhost:${port}/healthz`)).toContain('is this daemon itself');
    expect(await messageOf('http://169.254.169.254/')).toContain('link-local or metadata');
    const his = await create(everywhere, {}, bob.login);
    const { error } = await resultOf(his, `get ${server.url}/`, { as: bob.login });
    expect(error).toMatchObject({
      code: 'upstream_failed',
      message: expect.stringContaining('private address'),
    });
    expect(server.seen).toEqual([]);
  });

  test('report wrong arguments, and tools that the policy does not allow', async () => {
    const errorOf = async (autopilot: Json, input: string) =>
      (await resultOf(autopilot, input)).error.message;
    expect(await errorOf(await createBuyer(), 'wrong arguments')).toMatch(/`?ur[il]`?/);
    const headers = async (json: object) =>
      await errorOf(await createBuyer(), `get ${server.url}/ with ${JSON.stringify(json)}`);
    expect(await headers({ Host: 'example.com' })).toBe('The header `host` cannot be set.');
    expect(await headers({ 'X-A': 'a\r\nx-b: b' })).toBe('`headers` has an invalid name or value: `x-a`.');
    expect(await errorOf(await createBuyer(), 'unknown tool')).toBe('The tool `shell` is not available.');
    const unavailable = 'The tool `http_request` is not available.';
    const allowed = await createBuyer({ toolAllowlist: ['paid_http_request'] });
    expect(await errorOf(allowed, `get ${server.url}/`)).toBe(unavailable);
    const denied = await createBuyer({ toolDenylist: ['http_request'] });
    expect(await errorOf(denied, `get ${server.url}/`)).toBe(unavailable);
    expect(server.seen).toEqual([]);
  });
});

describe('payments', () => {
  const errorOf = async (...given: Parameters<typeof run>) => (await resultOf(...given)).error;

  test('are offered to the model, and made within the policy, for a paywall of this daemon', async () => {
    const autopilot = await createBuyer();
    const before = await balance();
    expect(await resultOf(autopilot, `get ${paywall}beans`)).toMatchObject({
      status: 402,
      payment: { scheme: 'L402', amount_sats: 10 },
    });
    expect(await balance()).toBe(before);
    const shown = await run(autopilot, `buy ${paywall}beans for 20`);
    expect(JSON.parse(shown.output)).toMatchObject({
      status: 200,
      body: '{"path":"/beans","length":0}',
      payment: { status: 'succeeded', amount_sats: 10, fee_sats: 0 },
    });
    expect(server.seen).toHaveLength(1);
    const paid = (await eventsOf(shown)).find(({ type }) => type === 'payment_succeeded');
    expect(paid).toMatchObject({
      actorType: 'autopilot',
      actorAutopilotId: autopilot.id,
      payload: { host: '127.0.0.1', amount_msats: 10_000 },
    });
    const { payment } = await data('GET', `/api/payments/${paid.payload.payment_id}`);
    expect(payment).toMatchObject({ status: 'succeeded', host: '127.0.0.1', quotedAmountMsats: 10_000 });
    expect((await ask('POST', '/v1/admin/ledger/verify')).body).toMatchObject({ ok: true });
  });

  test.each(['L402', 'Payment', 'x402'])('prove themselves by %s', async (scheme) => {
    const paths: Record<string, (invoice: string) => Record<string, string>> = {
      L402: (invoice) => ({ 'www-authenticate': `L402 macaroon="AgEB", invoice="${invoice}"` }),
      Payment: (invoice) => {
        const charge = { amount: '3', currency: 'sat', methodDetails: { invoice } };
        const request = Buffer.from(JSON.stringify(charge)).toString('base64url');
        return {
          'www-authenticate': `Payment id="1", realm="shop", method="lightning", intent="charge", request="${request}"`,
        };
      },
      x402: (invoice) => {
        const accepts = [
          {
            scheme: 'exact',
            network: 'bip122:0f9188f13cb7b2c71f2a335e3a4fc328',
            amount: '3000',
            asset: 'BTC',
            payTo: 'anonymous',
            maxTimeoutSeconds: 60,
            extra: { paymentMethod: 'lightning', invoice },
          },
        ];
        const offer = { x402Version: 2, resource: { url: 'http://shop' }, accepts };
        return { 'payment-required': Buffer.from(JSON.stringify(offer)).toString('base64') };
      },
    };
    const proofs: Json[] = [];
    server.on(`/${scheme}`, (request, response) => {
      const proof = request.headers.authorization ?? request.headers['payment-signature'];
      if (proof !== undefined) {
        proofs.push(proof);
        const [, preimage = 'none'] = /:([0-9a-f]{64})$/.exec(String(proof)) ?? [];
        response.setHeader('location', `/next?proof=${preimage.toUpperCase()}`);
        response.setHeader('content-type', `text/plain; proof="${String(proof).split(' ').at(-1)}"`);
        return void response.end(`You sent ${proof}.`);
      }
      void invoiceOf(3).then((invoice) => response.writeHead(402, paths[scheme]?.(invoice)).end('Pay.'));
    });
    const result = await resultOf(await createBuyer(), `buy ${server.url}/${scheme} for 3`);
    // A seller that repeats the proof does not bring it into the chat.
    expect(result).toMatchObject({
      status: 200,
      body: 'You sent [proof of payment].',
      content_type: 'text/plain; proof="[proof of payment]"',
      location: scheme === 'L402' ? '/next?proof=[proof of payment]' : '/next?proof=NONE',
      payment: { amount_sats: 3 },
    });
    const pattern = { L402: /^L402 AgEB:[0-9a-f]{64}$/, Payment: /^Payment \S+$/, x402: /^[\w+/]+=*$/ }[
      scheme
    ];
    expect(proofs).toEqual([expect.stringMatching(pattern as RegExp)]);
  });

  const chargeOf = (invoice: string, charge: object, details: object) => {
    const asked = { amount: '3', currency: 'sat', ...charge, methodDetails: { invoice, ...details } };
    const request = Buffer.from(JSON.stringify(asked)).toString('base64url');
    return {
      'www-authenticate': `Payment id="1", realm="shop", method="lightning", intent="charge", request="${request}"`,
    };
  };
  const requirementsOf = (invoice: string, changes: object) => {
    const exact = { scheme: 'exact', network: 'bip122:0f9188f13cb7b2c71f2a335e3a4fc328', amount: '3000' };
    const terms = { asset: 'BTC', payTo: 'anonymous', maxTimeoutSeconds: 60 };
    const extra = { paymentMethod: 'lightning', invoice };
    const accepts = [{ ...exact, ...terms, extra, ...changes }];
    const offer = { x402Version: 2, resource: { url: 'http://shop' }, accepts };
    return { 'payment-required': Buffer.from(JSON.stringify(offer)).toString('base64') };
  };
  const other = 'ab'.repeat(32);
  const tokenFor = (paymentHash: string) => {
    const id = Buffer.from(`0000${paymentHash}${'11'.repeat(32)}`, 'hex');
    return encodeMacaroon(mint(Buffer.alloc(32, 5), id, [])).toString('base64');
  };

  test.each<[string, (invoice: string) => Record<string, string>]>([
    ['another amount by Payment', (invoice) => chargeOf(invoice, { amount: '2' }, {})],
    ['another payment hash by Payment', (invoice) => chargeOf(invoice, {}, { paymentHash: other })],
    ['another network by Payment', (invoice) => chargeOf(invoice, {}, { network: 'mainnet' })],
    ['another amount by x402', (invoice) => requirementsOf(invoice, { amount: '2000' })],
    ['no amount by x402', (invoice) => requirementsOf(invoice, { amount: '3e3' })],
    ['another network by x402', (invoice) => requirementsOf(invoice, { network: 'bip122:00000000' })],
    [
      'another payee by x402',
      (invoice) =>
        requirementsOf(invoice, {
          network: 'lnbtc:0f9188f13cb7b2c71f2a335e3a4fc328',
          payTo: `02${other}`,
          extra: { assetTransferMethod: 'bolt11', invoice },
        }),
    ],
    [
      'another payment hash by L402',
      (invoice) => ({ 'www-authenticate': `L402 macaroon="${tokenFor(other)}", invoice="${invoice}"` }),
    ],
  ])('are not made for an offer that announces %s', async (what, headersOf) => {
    const path = `/${what.replaceAll(' ', '-')}`;
    let asked = 0;
    server.on(path, (_request, response) => {
      asked += 1;
      void invoiceOf(3).then((invoice) => response.writeHead(402, headersOf(invoice)).end('Pay.'));
    });
    const before = await balance();
    const count = (await data('GET', '/api/payments')).length;
    expect(await errorOf(await createBuyer(), `buy ${server.url}${path} for 3`)).toMatchObject({
      code: 'payment_required',
      message: expect.stringContaining('not in a way that is supported'),
    });
    expect(asked).toBe(1);
    expect(await data('GET', '/api/payments')).toHaveLength(count);
    expect(await balance()).toBe(before);
  });

  test('above the limits of the policy are refused, with a result that says why', async () => {
    const before = await balance();
    const buy = `buy ${paywall}beans for 20`;
    const notSet =
      'Payments are not allowed until `policy.l402MaxSpendMsatsPerCall` and `policy.l402MaxSpendMsatsPerDay` are set.';
    expect(await errorOf(await createBuyer({ l402MaxSpendMsatsPerDay: null }), buy)).toMatchObject({
      code: 'permission',
      message: notSet,
    });
    expect(await errorOf(await createBuyer({ l402MaxSpendMsatsPerCall: 9_999 }), buy)).toMatchObject({
      message:
        'The invoice asks for 10 sats, more than `policy.l402MaxSpendMsatsPerCall` allows: 9.999 sats.',
    });
    expect(await errorOf(await createBuyer(), `buy ${paywall}beans for 9`)).toMatchObject({
      code: 'invalid_request',
      message: 'The invoice asks for 10 sats, more than the maximum of 9 sats.',
    });
    expect(await errorOf(await createBuyer({ l402AllowedHosts: ['example.com'] }), buy)).toMatchObject({
      code: 'permission',
      message: expect.stringContaining('is not among the hosts'),
    });
    expect(await balance()).toBe(before);
    expect(server.seen).toEqual([]);
  });

  test('count against the budget of the day, also those of parallel runs', async () => {
    const autopilot = await createBuyer({ l402MaxSpendMsatsPerDay: 25_000 });
    const results = await Promise.all(
      Array.from({ length: 4 }, () => resultOf(autopilot, `buy ${paywall}beans for 20`)),
    );
    expect(results.filter(({ status }) => status === 200)).toHaveLength(2);
    for (const { error } of results.filter(({ status }) => status === undefined)) {
      expect(error.message).toBe(
        'The payment needs up to 10 sats, fees included, more than `policy.l402MaxSpendMsatsPerDay` leaves for today: 5 sats.',
      );
    }
    // The budget of another autopilot is its own.
    expect(await resultOf(await createBuyer(), `buy ${paywall}beans for 20`)).toMatchObject({ status: 200 });
  });

  test('need the approval of the run unless the policy waives it', async () => {
    const autopilot = await createBuyer({ l402RequireApproval: true });
    const buy = `buy ${paywall}beans for 20`;
    expect((await errorOf(autopilot, buy)).message).toContain('needs the approval of the owner');
    expect((await errorOf(autopilot, buy, { maxSpendMsats: 9_000 })).message).toBe(
      'The payment of 10 sats exceeds what `maxSpendMsats` leaves for this run: 9 sats.',
    );
    expect(await resultOf(autopilot, buy, { maxSpendMsats: 10_000 })).toMatchObject({ status: 200 });
    const cleared = await createBuyer({ l402RequireApproval: null });
    expect((await errorOf(cleared, buy)).message).toContain('needs the approval of the owner');
  });

  test('need a credential that may pay', async () => {
    const autopilot = await createBuyer();
    const { secret: as } = await newToken(daemon, daemon.login, ['autopilots:*']);
    const buy = `buy ${paywall}beans for 20`;
    expect((await errorOf(autopilot, buy, { as })).message).toContain('may not pay');
    // Nor may it allow later runs, which someone else starts, to pay more.
    const json = { policy: { l402MaxSpendMsatsPerCall: 50_001 } };
    expect(await ask('PATCH', `/api/autopilots/${autopilot.id}`, { as, json })).toMatchObject({
      status: 403,
      body: { errors: { 'policy.l402MaxSpendMsatsPerCall': [expect.stringContaining('may pay')] } },
    });
    const { secret: payer } = await newToken(daemon, daemon.login, ['autopilots:*', 'payments']);
    expect(await resultOf(autopilot, buy, { as: payer })).toMatchObject({ status: 200 });
  });

  test('are not repeated for a request whose answer was lost', async () => {
    let asked = 0;
    server.on('/lost', (request, response) => {
      const [challenge] = parseAuthChallenges(request.headers.authorization ?? '');
      if (challenge === undefined) {
        void invoiceOf(3).then((invoice) =>
          response.writeHead(402, { 'www-authenticate': `L402 macaroon="AgEB", invoice="${invoice}"` }).end(),
        );
        return;
      }
      asked += 1;
      if (asked === 1) request.socket.destroy();
      else response.end('Found again.');
    });
    const autopilot = await createBuyer();
    const before = await balance();
    expect(await resultOf(autopilot, `insist ${server.url}/lost`)).toMatchObject({
      status: 200,
      body: 'Found again.',
    });
    expect(await balance()).toBe(before - 3);
  });
});

describe('gateway autopilots', () => {
  const cli = (...args: string[]) => runCli(['autopilots', ...args], { env: { GATEWAY_HOME: daemon.home } });

  test('run prints what the autopilot does and answers; runs lists it', async () => {
    const { handle } = await createBuyer({ l402RequireApproval: true });
    const bought = await cli('run', handle, '-n', `buy ${paywall}beans for 20`, '--max-sats', '10');
    expect(bought.stderr).toContain('Using paid_http_request.\nPaid 10 sats to 127.0.0.1.');
    expect(JSON.parse(bought.stdout)).toMatchObject({ status: 200 });
    expect(bought.code).toBe(0);
    const refused = await cli('run', handle, '-n', `buy ${paywall}beans for 20`);
    expect(refused.stderr).toContain('paid_http_request failed: This payment needs the approval');
    const runs = await cli('runs', handle, '--json=status,autopilotId');
    expect(JSON.parse(runs.stdout)).toMatchObject([{ status: 'completed' }, { status: 'completed' }]);
  });

  test('run fails with the error of the run, and cancel ends one', async () => {
    const { handle } = await create({ model: 'sim/nothing' });
    const failed = await cli('run', handle, '-n', 'Hi.');
    expect([failed.code, failed.stdout]).toEqual([1, '']);
    expect(failed.stderr).toContain('The run failed: ');
    const waiting = await create();
    const started = await cli('run', waiting.handle, '-n', 'wait', '--no-wait', '--json=id');
    const { id } = JSON.parse(started.stdout);
    expect((await cli('cancel', waiting.handle, id, '--json=status')).stdout).toContain('cancelled');
  });
});

test('a run that was under way when the daemon died is failed at its next start', async () => {
  let child = await startChildDaemon({ config });
  try {
    const asOwner = async (method: string, path: string, json?: object) =>
      (await askDaemon(child, method, path, { as: child.login, ...(json && { json }) })).body.data;
    const policy = { model: 'sim/slow' };
    const autopilot = await asOwner('POST', '/api/autopilots', { displayName: 'Night Watch', policy });
    const path = `/api/autopilots/${autopilot.id}/runs`;
    const { id, chatId } = await asOwner('POST', path, { input: 'Write 300 words about rain.' });
    child.signal('SIGKILL');
    await child.ended;
    child = await startChildDaemon({ home: child.home });
    expect(await asOwner('GET', `${path}/${id}`)).toMatchObject({
      status: 'failed',
      error: { message: 'The daemon stopped before this run was finished.' },
    });
    // The chat is free for its next run.
    expect((await asOwner('POST', path, { input: 'Hi.', chatId })).status).toBe('running');
  } finally {
    await child.remove();
  }
});
