import fc from 'fast-check';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Decision } from '../../src/shared/contract/decisions.ts';
import { easySignUp, signUpAgent, viewAgent } from '../support/agents.ts';
import { chatCompletion, type FakeDecider, optionsShown, startFakeDecider } from '../support/fake-decider.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

let fake: FakeDecider;
let engine: FakeDecider;
let daemon: RunningDaemon;

beforeAll(async () => {
  [fake, engine] = await Promise.all([startFakeDecider(), startFakeDecider()]);
  daemon = await startDaemon({
    config: `${easySignUp}
vault: { insecure_plain_file: true, keychain: false }
providers: { openai: { base_url: '${fake.url}/v1' } }
upstreams:
  - { name: free, base_url: '${fake.url}/v1', models: ['*'], prices: { input: '0', output: '0' } }
  - { name: paid, base_url: '${fake.url}/v1', models: ['*'], prices: { input: '1000', output: '1000' } }
decisions:
  models: [paid/offered]
  daily_budget_usd: "0.2"
  engine: { url: '${engine.url}', model: big }
`,
  });
});

afterAll(async () => {
  await daemon.stop();
  await Promise.all([fake.close(), engine.close()]);
});

let count = 0;
/** Models are remembered, so each test has its own. */
let model = '';
beforeEach(() => {
  count += 1;
  model = `free/model-${count}`;
  for (const server of [fake, engine]) {
    server.requests.length = 0;
    server.answer = () => undefined;
  }
});

const predicate = { type: 'predicate', name: 'late', instructions: 'Is it late?' };
const colours = {
  type: 'choice',
  instructions: 'Which?',
  choices: [{ value: 'red' }, { value: 'green', description: 'like grass' }, { value: true }],
};

async function decide(body: object, headers: Record<string, string> = {}, path = '/v1/decisions') {
  // Without a key.
  const response = await fetch(daemon.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: JSON.parse(text) };
}

const errorOf = ({ status, json }: Awaited<ReturnType<typeof decide>>) =>
  [status, json.error?.code, json.error?.param].join(' ');

describe('the answer', () => {
  test('has one entry per question in order, sums of 1, and says how it was made', async () => {
    const level = { type: 'score', instructions: 'How much?', levels: [{ label: 'low' }, { label: 'high' }] };
    const { status, headers, json } = await decide({
      model: 'sim/assistant',
      input: [{ role: 'user', content: [{ type: 'input_text', text: 'green grass' }] }],
      questions: [predicate, colours, level],
    });
    expect(status).toBe(200);
    expect(headers.get('x-service-model')).toBe('sim/assistant');
    expect(headers.get('x-service-upstream')).toBe('simulator');
    expect(headers.get('x-service-cost-usd')).toBe('0');
    const { answers, service } = json as Decision;
    expect(answers.map(({ type, name }) => [type, name])).toEqual([
      ['predicate', 'late'],
      ['choice', null],
      ['score', null],
    ]);
    expect(answers[1]).toMatchObject({ choice: 'green' });
    for (const answer of answers) {
      if (!('probabilities' in answer)) continue;
      const sum = answer.probabilities.reduce((total, { probability }) => total + probability, 0);
      expect(Math.abs(sum - 1)).toBeLessThan(1e-6);
    }
    expect(service).toMatchObject({
      answered_by: 'simulator',
      method: 'native',
      calibrated: false,
      attempts: [],
    });
    expect(service.diagnostics).toHaveLength(3);
  });

  test('works with the official SDK', async () => {
    const client = new OpenAI({ baseURL: `${daemon.url}/v1`, apiKey: daemon.key });
    const decision = await client.decisions.create({
      model: 'sim/assistant',
      input: 'green grass',
      questions: [
        { type: 'choice', instructions: 'Which?', choices: [{ value: 'red' }, { value: 'green' }] },
      ],
    });
    expect(decision.answers[0]).toMatchObject({ type: 'choice', choice: 'green' });
  });

  test('of a caller with a key is recorded as usage without a charge', async () => {
    const answer = await daemon.fetch('/v1/decisions', {
      json: { model: 'sim/assistant', input: 'x', questions: [predicate] },
    });
    const usage = await daemon.fetch(`/v1/usage/${answer.headers.get('x-request-id')}`);
    expect(await usage.json()).toMatchObject({
      endpoint: '/v1/decisions',
      model: 'sim/assistant',
      charged_usd: '0',
      status: 'completed',
    });
  });

  test('is served in the System One format', async () => {
    const { status, json } = await decide(
      {
        model: 'sim/assistant',
        state: { colour: 'green', things: ['grass'] },
        questions: {
          late: { type: 'noul', instructions: 'Is it late?', criteria: { true: 'after nine', false: null } },
          colour: { type: 'choice', instructions: 'Which?', criteria: { red: null, green: 'like grass' } },
          much: { type: 'score', instructions: 'How much?', criteria: ['low', 'high'] },
        },
      },
      {},
      '/v1/systemone',
    );
    expect(status).toBe(200);
    expect(json.answers).toMatchObject({
      late: { type: 'noul', noul: expect.any(Number) },
      colour: { type: 'choice', choice: 'green', probabilities: { red: expect.any(Number) } },
      much: { type: 'score', legend: ['low', 'high'], probabilities: { '0': 0.5, '1': 0.5 } },
    });
  });
});

describe('methods', () => {
  test('a decision endpoint in OpenAI’s format is used, and keeps the types of values', async () => {
    fake.answer = ({ path }) =>
      path === '/v1/decisions'
        ? {
            json: {
              model: 'served',
              answers: [
                { type: 'predicate', name: null, probability: 0.75 },
                {
                  type: 'choice',
                  name: null,
                  choice: true,
                  confidence: 0.5,
                  probabilities: [
                    { value: true, probability: 0.5 },
                    { value: 'red', probability: 0.3 },
                    { value: 'green', probability: 0.2 },
                  ],
                },
              ],
              usage: { input_tokens: 7, output_tokens: 0 },
            },
          }
        : undefined;
    const { json } = await decide({ model, input: 'x', questions: [predicate, colours] });
    expect(json).toMatchObject({
      service: { method: 'native', answered_by: 'free' },
      usage: { input_tokens: 7 },
    });
    expect(json.answers).toMatchObject([{ probability: 0.75 }, { choice: true, confidence: 0.5 }]);
    expect(json.answers[1].probabilities.map(({ value }: { value: unknown }) => value)).toEqual([
      'red',
      'green',
      true,
    ]);
    expect(JSON.stringify(fake.requests[0]?.body)).not.toContain('late"');
  });

  test('else one in the System One format, and that there is none is remembered', async () => {
    fake.answer = ({ path }) =>
      path === '/v1/systemone'
        ? {
            json: {
              answers: { q0: { type: 'noul', noul: 0.25 } },
              usage: { input_tokens: 3, output_tokens: 0 },
            },
          }
        : undefined;
    const body = { model, input: 'x', questions: [predicate] };
    expect((await decide(body)).json.answers[0].probability).toBe(0.25);
    await decide(body);
    expect(fake.requests.map(({ path }) => path)).toEqual([
      '/v1/decisions',
      '/v1/systemone',
      '/v1/systemone',
    ]);
  });

  test('else the probabilities of letters, in every order of the options', async () => {
    // Sees that green is right, and likes the letter A.
    fake.answer = (request) => {
      if (request.path !== '/v1/chat/completions') return undefined;
      const shown = [...optionsShown(request)];
      const weights = shown.map(
        ([letter, label]) => (label.startsWith('green') ? 6 : 1) * (letter === 'A' ? 3 : 1),
      );
      const total = weights.reduce((sum, weight) => sum + weight, 0);
      const tokens = shown.map(([letter], at) => [letter, (0.9 * (weights[at] ?? 0)) / total]);
      return { json: chatCompletion('A', [Object.fromEntries(tokens)]) };
    };
    const { json } = await decide({ model, input: 'x', questions: [colours] });
    expect(json.service).toMatchObject({ method: 'token_probabilities', diagnostics: [{ permutations: 3 }] });
    expect(json.service.diagnostics[0].mass).toBeCloseTo(0.9, 9);
    const [red, green, yes] = json.answers[0].probabilities.map(
      (each: { probability: number }) => each.probability,
    );
    expect(green).toBeCloseTo(0.75, 9);
    expect(red).toBeCloseTo(0.125, 9);
    expect(yes).toBeCloseTo(0.125, 9);
    const calls = fake.requests.filter(({ path }) => path === '/v1/chat/completions');
    expect(calls).toHaveLength(3);
    expect(calls[0]?.body).toMatchObject({ max_tokens: 1, logprobs: true, top_logprobs: 20 });
  });

  test('a model that thinks first is asked again without thinking', async () => {
    fake.answer = ({ path, body }) => {
      if (path !== '/v1/chat/completions') return undefined;
      if (body.reasoning_effort !== 'none') return { json: chatCompletion('<think>', [{ '<think>': 1 }]) };
      return { json: chatCompletion('\nA', [{ '\n': 1 }, { A: 0.5, B: 0.5 }]) };
    };
    const { json } = await decide({ model, input: 'x', questions: [predicate] });
    expect(json).toMatchObject({
      service: { method: 'token_probabilities' },
      answers: [{ probability: 0.5 }],
    });
    expect(fake.requests.at(-1)?.body).toMatchObject({
      think: false,
      chat_template_kwargs: { enable_thinking: false },
    });
  });

  test('a model without probabilities writes them down, several times', async () => {
    fake.answer = (request) => {
      if (request.path !== '/v1/chat/completions') return undefined;
      if (request.body.logprobs) {
        const error = { message: 'logprobs are not supported', param: 'logprobs', code: 'unsupported_value' };
        return { status: 400, json: { error } };
      }
      const keyed = [...optionsShown(request)].map(([key, label]) => [
        key,
        label.startsWith('Yes') ? 0.8 : 0.2,
      ]);
      return { json: chatCompletion(JSON.stringify(Object.fromEntries(keyed))) };
    };
    const body = { model, input: 'x', questions: [predicate] };
    const { json } = await decide(body);
    expect(json.service).toMatchObject({ method: 'sampled', diagnostics: [{ samples: 3, agreement: 1 }] });
    expect(json.answers[0].probability).toBeCloseTo(0.8, 9);
    fake.requests.length = 0;
    await decide({ ...body, service: { samples: 1 } });
    expect(fake.requests).toHaveLength(1);
  });
});

describe('sources', () => {
  const engineAnswers = (noul: number) => () => ({
    json: { answers: { q0: { type: 'noul', noul } }, usage: { input_tokens: 5, output_tokens: 0 } },
  });
  const ask = (changes: object = {}, headers = {}) =>
    decide({ model: 'service/decide', input: 'x', questions: [predicate], ...changes }, headers);

  test('the engine is asked first, at its System One URL', async () => {
    engine.answer = engineAnswers(0.9);
    const { json } = await ask();
    expect(json).toMatchObject({
      model: 'big',
      service: { answered_by: 'engine', requested_model: 'service/decide' },
    });
    expect(engine.requests).toMatchObject([{ path: '/v1/systemone', body: { model: 'big', state: 'x' } }]);
  });

  test.each([
    ['an error', () => ({ status: 500, json: {} }), 'server_error'],
    ['an answer of another shape', () => ({ json: { answers: {} } }), 'wrong_shape'],
    [
      'probabilities that are none',
      () => ({ json: { answers: { q0: { type: 'noul', noul: 7 } } } }),
      'wrong_shape',
    ],
    ['a rate limit', () => ({ status: 429, json: {} }), 'rate_limited'],
  ])('after %s the offered model answers, and the attempt is reported', async (_, answer, outcome) => {
    engine.answer = answer;
    fake.answer = ({ path }) =>
      path === '/v1/decisions' ? { json: { answers: [{ type: 'predicate', probability: 0.4 }] } } : undefined;
    const { json } = await ask();
    expect(json).toMatchObject({
      service: { answered_by: 'paid', attempts: [{ source: 'engine', outcome }] },
      answers: [{ probability: 0.4 }],
    });
  });

  test('`hosted` asks the engine only, and is 503 with the attempts if it fails', async () => {
    engine.answer = () => ({ status: 500, json: {} });
    const answer = await ask({}, { 'x-decision-order': 'hosted' });
    expect(errorOf(answer)).toBe('503 unavailable model');
    expect(answer.headers.get('retry-after')).not.toBeNull();
    expect(answer.json.error.attempts).toMatchObject([{ source: 'engine', outcome: 'server_error' }]);
    expect(fake.requests).toEqual([]);
  });

  test('an engine without a model is unavailable, with the setting to use', async () => {
    const answer = await ask({ model: 'engine-flash' });
    expect(errorOf(answer)).toBe('503 unavailable model');
    expect(answer.json.error.message).toContain('decisions.engine.flash_model');
    const listed = (await (await fetch(`${daemon.url}/v1/models/engine-flash`)).json()) as {
      service: unknown;
    };
    expect(listed.service).toMatchObject({
      available: false,
      reason: expect.stringContaining('flash_model'),
    });
  });

  test('a model that costs the host money answers only if it is offered, and within the budget of the day', async () => {
    const refused = await ask({ model: 'paid/other' });
    expect(refused.json.error.message).toContain('decisions.models');
    expect(fake.requests).toEqual([]);
    const usage = { input_tokens: 1000, output_tokens: 0 };
    fake.answer = ({ path }) =>
      path === '/v1/decisions'
        ? { json: { answers: [{ type: 'predicate', probability: 0.4 }], usage } }
        : undefined;
    // A thousand tokens cost a dollar.
    expect((await ask({ model: 'paid/offered' })).status).toBe(200);
    const spent = await ask({ model: 'paid/offered' });
    expect(spent.json.error).toMatchObject({ code: 'unavailable', attempts: [{ outcome: 'budget_used' }] });
  });

  test('the workspace’s own provider key pays for any of its models', async () => {
    const stored = await fetch(`${daemon.url}/v1/workspaces/me/provider-keys/openai`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${daemon.login}`, 'content-type': 'application/json' },
      body: JSON.stringify({ key: 'sk-own-0123456789abcdef' }),
    });
    expect(stored.status).toBe(200);
    fake.answer = ({ path }) =>
      path === '/v1/decisions' ? { json: { answers: [{ type: 'predicate', probability: 0.4 }] } } : undefined;
    const asked = { model: 'openai/gpt-5-mini', service: { pay: 'mine' } };
    const keyless = await ask(asked);
    expect(keyless.json.error).toMatchObject({ code: 'unavailable', attempts: [{ outcome: 'not_allowed' }] });
    expect(fake.requests).toEqual([]);
    const own = await decide(
      { input: 'x', questions: [predicate], ...asked },
      { authorization: `Bearer ${daemon.key}` },
    );
    expect(own.json).toMatchObject({ model: 'openai/gpt-5-mini', service: { answered_by: 'openai' } });
    expect(fake.requests).toMatchObject([{ authorization: 'Bearer sk-own-0123456789abcdef' }]);
  });

  test('a rejected key benches a source', async () => {
    engine.answer = () => ({ status: 401, json: {} });
    await ask({}, { 'x-decision-order': 'hosted' });
    engine.requests.length = 0;
    const answer = await ask({}, { 'x-decision-order': 'hosted' });
    expect(answer.json.error.attempts).toMatchObject([{ source: 'engine', outcome: 'benched' }]);
    expect(engine.requests).toEqual([]);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(200);
  });
});

test('agents have 20 decisions a day, apart from their other calls', async () => {
  const { secret } = await signUpAgent(daemon);
  const headers = { authorization: `Bearer ${secret}` };
  const body = { model: 'sim/assistant', input: 'x', questions: [predicate] };
  for (let call = 0; call < 20; call += 1) expect((await decide(body, headers)).status).toBe(200);
  const questions = { late: { type: 'noul', instructions: 'Late?' } };
  const refused = await decide({ model: 'sim/assistant', state: 'x', questions }, headers, '/v1/systemone');
  expect(errorOf(refused)).toBe('429 agent_daily_limit ');
  expect((await viewAgent(daemon, secret)).calls_today).toMatchObject({
    decisions: { limit: 20, used: 20 },
    other: { used: 0 },
  });
});

test('the rate card has the decision models, which are free', async () => {
  const { data } = (await (await fetch(`${daemon.url}/v1/rates`)).json()) as {
    data: { model: string; input: { total_usd: string }; output: { total_usd: string } }[];
  };
  for (const model of ['service/decide', 'engine', 'engine-flash']) {
    const [row, ...more] = data.filter((it) => it.model === model);
    expect([row?.input.total_usd, row?.output.total_usd, more]).toEqual(['0', '0', []]);
  }
});

describe('bounds', () => {
  const base = { model: 'sim/assistant', input: 'x' };
  const choices = (count: number) => ({
    type: 'choice',
    instructions: 'Which?',
    choices: Array.from({ length: count }, (_, at) => ({ value: `v${at}` })),
  });
  const levels = (count: number) => ({
    type: 'score',
    instructions: 'Which?',
    levels: Array.from({ length: count }, (_, at) => ({ label: `l${at}` })),
  });

  test.each<[string, object, string]>([
    ['64 questions', { questions: Array(64).fill({ ...predicate, name: undefined }) }, '200  '],
    [
      '65 questions',
      { questions: Array(65).fill({ ...predicate, name: undefined }) },
      '400 too_many_questions questions',
    ],
    ['no question', { questions: [] }, '400 invalid_request questions'],
    ['255 choices', { questions: [choices(255)] }, '200  '],
    ['256 choices', { questions: [predicate, choices(256)] }, '400 too_many_options questions[1].choices'],
    ['one choice', { questions: [choices(1)] }, '400 invalid_request questions[0].choices'],
    ['10 levels', { questions: [levels(10)] }, '200  '],
    ['11 levels', { questions: [levels(11)] }, '400 too_many_options questions[0].levels'],
    ['one level', { questions: [levels(1)] }, '400 invalid_request questions[0].levels'],
    ['a long input', { input: 'é'.repeat(65_536), questions: [predicate] }, '413 limit_exceeded input'],
    [
      'a long question',
      { questions: [{ ...predicate, instructions: 'x'.repeat(32 * 1024) }] },
      '413 limit_exceeded questions[0]',
    ],
    ['the same name twice', { questions: [predicate, predicate] }, '400 invalid_request questions[1].name'],
    [
      'a long name',
      { questions: [{ ...predicate, name: 'é'.repeat(33) }] },
      '400 invalid_request questions[0].name',
    ],
    [
      'the same value twice',
      { questions: [{ ...choices(2), choices: [{ value: 'a' }, { value: 'a' }] }] },
      '400 invalid_request questions[0].choices[1].value',
    ],
    [
      'a value of each type',
      { questions: [{ ...choices(2), choices: [{ value: 'true' }, { value: true }] }] },
      '200  ',
    ],
    [
      'a long value',
      { questions: [{ ...choices(2), choices: [{ value: 'a' }, { value: 'b'.repeat(129) }] }] },
      '400 invalid_request questions[0].choices[1].value',
    ],
    [
      'no instructions',
      { questions: [{ ...predicate, instructions: '' }] },
      '400 invalid_request questions[0].instructions',
    ],
    [
      'an unknown type',
      { questions: [{ ...predicate, type: 'guess' }] },
      '400 invalid_request questions[0].type',
    ],
    ['an unknown field', { questions: [predicate], temperature: 1 }, '400 invalid_request temperature'],
    ['a long model', { model: 'm'.repeat(129), questions: [predicate] }, '400 invalid_request model'],
    ['an unknown model', { model: 'none/such', questions: [predicate] }, '404 model_not_found model'],
    [
      'too many samples',
      { questions: [predicate], service: { samples: 10 } },
      '400 invalid_request service.samples',
    ],
    [
      'an image',
      {
        input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'data:,x' }] }],
        questions: [predicate],
      },
      '400 invalid_request input[0].content[0]',
    ],
  ])('%s', async (_, changes, expected) => {
    expect(errorOf(await decide({ ...base, ...changes }))).toBe(expected);
  });

  test('a body above 256 KiB is 413, and a wrong order 400', async () => {
    const long = await decide({ ...base, input: 'x'.repeat(257 * 1024), questions: [predicate] });
    expect([long.status, long.json.error.code]).toEqual([413, 'limit_exceeded']);
    const order = await decide({ ...base, questions: [predicate] }, { 'x-decision-order': 'both' });
    expect(errorOf(order)).toBe('400 invalid_request X-Decision-Order');
  });
});

test('any mixture of sizes and forms gets an answer or an error of the table, with its field', async () => {
  const text = fc.oneof(
    fc.string({ maxLength: 20 }),
    fc.constantFrom('', 'é'.repeat(70), '\ud800', '__proto__', 'x'.repeat(33_000)),
  );
  const options = (name: string) =>
    fc.oneof(
      fc.array(fc.record({ [name]: fc.oneof(text, fc.boolean()) }), { maxLength: 5 }),
      fc
        .integer({ min: 0, max: 300 })
        .map((size) => Array.from({ length: size }, (_, at) => ({ [name]: `o${at}` }))),
    );
  const question = fc.record(
    {
      type: fc.constantFrom('predicate', 'choice', 'score', 'other'),
      instructions: fc.oneof(text, fc.constant('What?')),
      choices: options('value'),
      levels: options('label'),
      name: text,
    },
    { requiredKeys: ['type', 'instructions'] },
  );
  const expected: Record<string, number> = {
    invalid_request: 400,
    too_many_questions: 400,
    too_many_options: 400,
    limit_exceeded: 413,
    model_not_found: 404,
  };
  await fc.assert(
    fc.asyncProperty(
      fc.record({ model: fc.constantFrom('sim/assistant', 'none/such', ''), input: text }),
      fc.oneof(
        fc.array(question, { maxLength: 4 }),
        question.chain((each) => fc.integer({ min: 60, max: 70 }).map((size) => Array(size).fill(each))),
      ),
      async (base, questions) => {
        // With a key, as the rate of an address is limited.
        const { status, json } = await decide(
          { ...base, questions },
          { authorization: `Bearer ${daemon.key}` },
        );
        if (status === 200) {
          expect(json.answers).toHaveLength(questions.length);
          return;
        }
        const { code, param } = json.error;
        expect({ code, status }).toEqual({ code, status: expected[code] });
        if (code !== 'limit_exceeded') expect(param).not.toBeNull();
      },
    ),
    { numRuns: 150 },
  );
});

describe('an Idempotency-Key', () => {
  const body = { model: 'sim/assistant', input: 'x', questions: [predicate] };

  test('replays the first answer byte for byte, and conflicts with another body', async () => {
    const headers = { 'idempotency-key': 'once' };
    const first = await decide(body, headers);
    const second = await decide(body, headers);
    expect(second.text).toBe(first.text);
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect(second.headers.get('x-service-replay-of')).toBe(first.headers.get('x-request-id'));
    expect(second.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
    expect(errorOf(await decide({ ...body, input: 'y' }, headers))).toBe(
      '409 idempotency_conflict Idempotency-Key',
    );
  });

  test('runs 50 concurrent duplicates once', async () => {
    fake.answer = ({ path }) =>
      path === '/v1/decisions' ? { json: { answers: [{ type: 'predicate', probability: 0.4 }] } } : undefined;
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => decide({ ...body, model }, { 'idempotency-key': 'fifty' })),
    );
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(fake.requests).toHaveLength(1);
  });

  test('stores no failure', async () => {
    const headers = { 'idempotency-key': 'failing' };
    expect((await decide({ ...body, model: 'sim/limited' }, headers)).status).toBe(503);
    expect((await decide(body, headers)).status).toBe(200);
  });

  test.each([['x'.repeat(129)], ['""'], ['with space']])('of the wrong form is refused: %s', async (key) => {
    expect(errorOf(await decide(body, { 'idempotency-key': key }))).toBe(
      '400 invalid_request Idempotency-Key',
    );
  });
});
