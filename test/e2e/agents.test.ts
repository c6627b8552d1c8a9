import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  easySignUp,
  requestSignUp,
  signUpAgent,
  solve,
  solvedChallenge,
  viewAgent,
} from '../support/agents.ts';
import { type FakeOpenAi, startFakeOpenAi } from '../support/fake-openai.ts';
import type { FakeRequest } from '../support/fake-openai-script.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

/** A dollar per million input tokens and ten per million output tokens, of which 400 cost almost the free budget. */
const free = 'fake/small';
const other = 'fake/large';
let provider: FakeOpenAi;
let daemon: RunningDaemon;
const settings = (more = '') =>
  `agents: {difficulty: 4, sign_ups_per_address: 1000, free_models: ["sim/*", "${free}"], free_input_tokens: 2000${more}}`;

const upstream = () =>
  `upstreams: [{name: fake, base_url: "${provider.baseUrl}", key_env: FAKE_KEY, models: [small, large], wire: responses, prices: {input: "1", output: "10"}}]`;

beforeAll(async () => {
  provider = await startFakeOpenAi();
  daemon = await startDaemon({ config: `${upstream()}\n${settings()}\n`, env: { FAKE_KEY: 'sk-fake' } });
});

afterAll(async () => {
  await daemon.stop();
  await provider.close();
});

/** Answers of so many tokens, or of as many as the request allows. */
const answersWith =
  (tokens: number) =>
  ({ body }: FakeRequest) => ({
    text: 'Hello.',
    usage: { input: 10, output: Math.min(tokens, Number(body?.max_output_tokens ?? tokens)) },
  });

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into by path.
type Json = any;

async function ask(secret: string, body: object, where: { url: string } = daemon) {
  const answer = await fetch(`${where.url}/v1/responses`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}` },
    body: JSON.stringify({ model: 'sim/echo', input: 'Hello.', max_output_tokens: 16, ...body }),
  });
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Json };
}

const codeOf = async (call: ReturnType<typeof ask>) => (await call).body.error?.code;

async function grant(id: string, usd: string): Promise<void> {
  const answer = await daemon.fetch('/v1/admin/credit', {
    headers: { authorization: `Bearer ${daemon.login}` },
    json: { workspace: `agent-${id.slice('agt_'.length)}`, usd },
  });
  expect(answer.status).toBe(200);
}

describe('signing up', () => {
  test('returns the agent and its only key', async () => {
    const answer = await requestSignUp(daemon, { name: 'Späher', ...(await solvedChallenge(daemon)) });
    expect(answer.status).toBe(200);
    const { agent, key, secret } = (await answer.json()) as Json;
    expect(agent).toEqual({
      id: expect.stringMatching(/^agt_/),
      name: 'Späher',
      created_at: expect.stringMatching(/Z$/),
    });
    expect(key).toEqual({ id: agent.id, hint: expect.stringMatching(/^gwa_/), created_at: agent.created_at });
    expect(secret).toMatch(/^gwa_[0-9A-Za-z]{38}$/);
    expect((await viewAgent(daemon, secret)).agent).toEqual(agent);
  });

  test('accepts each challenge once, of any number of attempts', async () => {
    const proof = await solvedChallenge(daemon);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => requestSignUp(daemon, { name: 'Twin', ...proof })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const refused = (await answers.find(({ status }) => status !== 200)?.json()) as Json;
    expect(refused.error).toMatchObject({ type: 'invalid_request', code: 'invalid_proof' });
  });

  test.each([
    ['a wrong nonce', ({ challenge }: { challenge: string }) => ({ challenge, proof: 'x'.repeat(40) })],
    [
      'a forged challenge',
      () => ({ challenge: `0.9999999999999.${'a'.repeat(22)}.${'b'.repeat(43)}`, proof: '0' }),
    ],
    ['no challenge of ours', () => ({ challenge: 'hello', proof: '0' })],
    [
      'a lower difficulty',
      ({ challenge }: { challenge: string }) => {
        const easier = challenge.replace(/^\d+/, '0');
        return { challenge: easier, proof: solve({ challenge: easier, difficulty: 0 } as never) };
      },
    ],
  ])('rejects %s', async (_what, forge) => {
    const body = { name: 'Scout', ...forge(await solvedChallenge(daemon)) };
    // One in sixteen wrong nonces is right.
    for (let turn = 0; turn < 3; turn += 1) {
      const answer = await requestSignUp(daemon, body);
      if (answer.status === 200) body.proof += 'x';
      else {
        expect(((await answer.json()) as Json).error.code).toBe('invalid_proof');
        return;
      }
    }
    expect.unreachable();
  });

  test.each([
    ['empty', ''],
    ['65 bytes', 'a'.repeat(65)],
    ['17 emoji', '🦊'.repeat(17)],
    ['two lines', 'a\nb'],
  ])('rejects a name: %s', async (_what, name) => {
    const answer = await requestSignUp(daemon, { name, ...(await solvedChallenge(daemon)) });
    expect(answer.status).toBe(400);
    expect(((await answer.json()) as Json).error).toMatchObject({ code: 'invalid_name', param: 'name' });
  });

  test('accepts a name of 64 bytes', async () => {
    const answer = await requestSignUp(daemon, { name: '🦊'.repeat(16), ...(await solvedChallenge(daemon)) });
    expect(answer.status).toBe(200);
  });

  test('is limited per address, and can be closed', async () => {
    const few = await startDaemon({ config: 'agents: {difficulty: 0, sign_ups_per_address: 2}' });
    const statuses: number[] = [];
    for (let turn = 0; turn < 3; turn += 1) {
      const answer = await requestSignUp(few, { name: 'Scout', ...(await solvedChallenge(few)) });
      statuses.push(answer.status);
      if (answer.status === 429) {
        expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
        expect(((await answer.json()) as Json).error.code).toBe('signup_limit');
      }
    }
    expect(statuses).toEqual([200, 200, 429]);
    await few.stop();
    const closed = await startDaemon({ config: 'agents: {sign_ups: false}' });
    const answer = await fetch(`${closed.url}/v1/agents/challenge`, { method: 'POST' });
    expect(answer.status).toBe(503);
    expect(((await answer.json()) as Json).error.code).toBe('signup_unavailable');
    await closed.stop();
  });
});

describe('the free tier', () => {
  test('covers twenty requests a day, exactly, however many come at once', async () => {
    const { secret } = await signUpAgent(daemon);
    const answers = await Promise.all(Array.from({ length: 100 }, () => ask(secret, {})));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(20);
    const refused = answers.find(({ status }) => status !== 200);
    expect(refused?.status).toBe(402);
    expect(refused?.body.error).toMatchObject({
      type: 'insufficient_balance',
      code: 'agent_free_requests_used',
      balance_usd: '0',
      free_tier: { requests: { limit: 20, used: 20 } },
      pay: { methods: ['credit'] },
      resets_at: expect.stringMatching(/T00:00:00\.000Z$/),
    });
    const view = await viewAgent(daemon, secret);
    expect(view).toMatchObject({
      plan: 'free',
      balance_usd: '0',
      free_tier: { requests: { limit: 20, used: 20 }, shared_pool: { state: 'open' } },
      calls_today: { other: { limit: 500, used: 20 }, lifted: false },
    });
  });

  test('covers half a cent a day, by the cost that a call can have', async () => {
    const { secret } = await signUpAgent(daemon);
    provider.always(answersWith(300));
    const spent = async () => Number((await viewAgent(daemon, secret)).free_tier.budget_usd.used);
    let code: string | undefined;
    for (let turn = 0; turn < 20 && code === undefined; turn += 1) {
      code = await codeOf(ask(secret, { model: free, max_output_tokens: 400 }));
      expect(await spent()).toBeLessThanOrEqual(0.005);
    }
    expect(code).toBe('agent_free_budget_used');
    expect(await spent()).toBeGreaterThan(0.004);
  });

  test.each([
    ['another model', { model: other }],
    [
      'a picture',
      {
        input: [
          { role: 'user', content: [{ type: 'input_image', image_url: 'data:image/png;base64,aGVsbG8=' }] },
        ],
      },
    ],
    ['a long input', { input: 'x'.repeat(4000) }],
  ])('does not cover %s', async (_what, body) => {
    const { secret } = await signUpAgent(daemon);
    const { status, body: answer } = await ask(secret, body);
    expect([status, answer.error?.code]).toEqual([402, 'agent_payment_required']);
  });

  test('is full once all agents together have used it', async () => {
    const config = `${upstream()}\n${settings(', free_pool_usd: "0.006"')}\n`;
    const host = await startDaemon({ config, env: { FAKE_KEY: 'sk-fake' } });
    provider.always(answersWith(290));
    const codes = new Set<string | undefined>();
    const stateFor = async (secret: string) =>
      (await viewAgent(host, secret)).free_tier.shared_pool.state as string;
    for (let each = 0; each < 4; each += 1) {
      const { secret } = await signUpAgent(host);
      for (let turn = 0; turn < 5; turn += 1) {
        const code = await codeOf(ask(secret, { model: free, max_output_tokens: 300 }, host));
        codes.add(code);
        if (code !== 'agent_free_budget_used')
          expect([code, await stateFor(secret)]).toEqual([code, code === undefined ? 'open' : 'full']);
      }
    }
    expect(codes).toContain('agent_free_tier_full');
    expect(await stateFor((await signUpAgent(host)).secret)).toBe('full');
    await host.stop();
  });

  test('is counted across a restart', async () => {
    const first = await startDaemon({ config: easySignUp });
    const { secret } = await signUpAgent(first);
    for (let turn = 0; turn < 3; turn += 1) expect((await ask(secret, {}, first)).status).toBe(200);
    await first.stop({ keep: true });
    const again = await startDaemon({ config: easySignUp, home: first.home });
    const answers = await Promise.all(Array.from({ length: 25 }, () => ask(secret, {}, again)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(17);
    await again.stop();
  });
});

describe('the credit of an agent', () => {
  test('pays for what is not free, and is charged exactly', async () => {
    const { id, secret } = await signUpAgent(daemon);
    await grant(id, '1');
    provider.always({ text: 'Hello.' });
    const { status, body } = await ask(secret, { model: other });
    expect(status).toBe(200);
    const view = await viewAgent(daemon, secret);
    expect(view).toMatchObject({
      plan: 'credit',
      calls_today: { other: { limit: null, used: 1 }, lifted: true },
    });
    expect(Number(view.balance_usd)).toBeCloseTo(1 - Number(body.service.charged_usd), 9);
    expect(Number(body.service.charged_usd)).toBeGreaterThan(0);
  });

  test('is refused where it is too low', async () => {
    const { id, secret } = await signUpAgent(daemon);
    await grant(id, '0.00001');
    const { status, body } = await ask(secret, { model: other, max_output_tokens: 4000 });
    expect([status, body.error.code]).toEqual([402, 'agent_balance_too_low']);
    expect(body.error.balance_usd).toBe('0.00001');
  });
});

describe('credit for 500 tokens of output', () => {
  const messages = [{ role: 'user', content: 'Hello.' }];
  const json = (path: string, body: object) => ({ path, body });
  const inEachFormat = (most: number | undefined) => [
    json('/v1/responses', { input: 'Hello.', max_output_tokens: most }),
    json('/v1/chat/completions', { messages, max_tokens: most }),
    json('/v1/chat/completions', { messages, max_completion_tokens: most }),
    ...(most === undefined ? [] : [json('/v1/messages', { messages, max_tokens: most })]),
  ];
  test.each([
    ['an answer without a maximum, which is shortened', undefined, 200, undefined],
    ['an answer of at most 300 tokens', 300, 200, undefined],
    ['an answer of at most 4000 tokens', 4000, 402, 'agent_balance_too_low'],
  ])('%s', async (_what, most, status, code) => {
    provider.always({ text: 'Hello.', usage: { input: 10, output: 5 } });
    for (const { path, body } of inEachFormat(most)) {
      const { id, secret } = await signUpAgent(daemon);
      await grant(id, '0.005');
      const answer = await fetch(daemon.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}` },
        body: JSON.stringify({ model: other, ...body }),
      });
      const { error } = (await answer.json()) as Json;
      // Errors in Anthropic's format have no codes.
      const expected = code && path === '/v1/messages' ? 'billing_error' : code;
      expect([path, answer.status, error?.code ?? error?.type]).toEqual([path, status, expected]);
    }
  });
});

describe('an agent', () => {
  test('sees its own usage and responses only', async () => {
    const [ann, ben] = [await signUpAgent(daemon), await signUpAgent(daemon)];
    const { headers, body } = await ask(ann.secret, { store: true });
    const read = async (path: string, { secret }: { secret: string }) =>
      (await fetch(daemon.url + path, { headers: { authorization: `Bearer ${secret}` } })).status;
    const usage = `/v1/usage/${headers.get('x-request-id')}`;
    expect([await read(usage, ann), await read(usage, ben)]).toEqual([200, 404]);
    const response = `/v1/responses/${body.id}`;
    expect([await read(response, ann), await read(response, ben)]).toEqual([200, 404]);
    expect(await read('/v1/key', ann)).toBe(200);
  });

  test('is the only caller of its own view', async () => {
    const answer = await daemon.fetch('/v1/agents/me');
    expect(answer.status).toBe(404);
    expect(((await answer.json()) as Json).error.code).toBe('not_an_agent');
  });
});

test('an agent has a wallet of its own, next to those of users', async () => {
  const config = `${easySignUp}vault: {keychain: false, insecure_plain_file: true}\n`;
  const host = await startDaemon({ config });
  const { secret } = await signUpAgent(host);
  const call = async (method: string, path: string, as: string, json?: object) => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${as}` };
    const answer = await fetch(host.url + path, {
      method,
      headers,
      ...(json && { body: JSON.stringify(json) }),
    });
    return { status: answer.status, body: (await answer.json()) as Json };
  };
  expect((await call('GET', '/api/agents/me/balance', secret)).status).toBe(404);
  expect((await call('POST', '/api/agents/me/wallet', secret, {})).status).toBe(200);
  await call('POST', '/api/agents/me/wallet', host.login, {});
  await call('POST', '/api/agents/me/wallet/faucet', host.login, { amountSats: 1000 });
  const invoice = await call('POST', '/api/payments/invoice', secret, { amountSats: 100 });
  expect(invoice.status).toBe(200);
  const paid = await call('POST', '/api/payments/pay', host.login, {
    invoice: invoice.body.data.invoice.paymentRequest,
  });
  expect(paid).toMatchObject({ status: 200, body: { data: { payment: { status: 'succeeded' } } } });
  expect((await call('GET', '/api/agents/me/balance', secret)).body.data).toMatchObject({ balanceSats: 100 });

  // However an agent asks for invoices, it has twenty at a time that are not paid.
  const ask = (each: number) =>
    each % 2 === 0
      ? call('POST', '/api/payments/invoice', secret, { amountSats: 1 })
      : call('POST', '/v1/credit/purchases', secret, { sats: 1 });
  const asked = await Promise.all(Array.from({ length: 40 }, (_, each) => ask(each)));
  expect(asked.filter(({ status }) => status === 200)).toHaveLength(20);
  expect(asked.filter(({ status }) => status === 429)).toHaveLength(20);
  const [bought] = asked.filter(({ status, body }) => status === 200 && body.object === 'credit_purchase');
  await call('POST', '/api/payments/pay', host.login, { invoice: bought?.body.invoice });
  expect([(await ask(0)).status, (await ask(1)).status]).toEqual([200, 429]);
  await host.stop();
});
