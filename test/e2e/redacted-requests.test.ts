import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type FakeAnthropic, startFakeAnthropic } from '../support/fake-anthropic.ts';
import { type FakeOpenAi, startFakeOpenAi } from '../support/fake-openai.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

const email = 'ann.miller@example.com';
const phone = '+49 170 1234567';
const badge = 'EMP-123456';
const key = 'sk-proj-Zx81kQv7Wp3LmN4tR6yBc2Df';
const personal = [email, phone, badge, key];
const sentence = `Ask ${email} or ${phone}, badge ${badge}, key ${key}.`;

let openAi: FakeOpenAi;
let anthropic: FakeAnthropic;
let daemon: RunningDaemon;

beforeAll(async () => {
  openAi = await startFakeOpenAi();
  anthropic = await startFakeAnthropic();
  daemon = await startDaemon({
    env: { OPENAI_API_KEY: 'sk-host', ANTHROPIC_API_KEY: 'sk-ant-host' },
    config: `
providers:
  openai: {base_url: "${openAi.baseUrl}"}
  anthropic: {base_url: "${anthropic.baseUrl}"}
upstreams:
  - {name: priced, base_url: "${openAi.baseUrl}", models: ["*"], wire: chat, prices: {input: "1", output: "1"}}
  - {name: chat, base_url: "${openAi.baseUrl}", models: ["*"], wire: chat}
decisions: {models: ["openai/*"]}
redaction:
  kinds: [email, phone, credential]
  patterns: ["EMP-\\\\d{6}"]
  models: ["openai/*", "anthropic/*", "chat/gpt-*", "priced/*"]
`,
  });
});

afterAll(async () => {
  await daemon?.stop();
  await Promise.all([openAi?.close(), anthropic?.close()]);
});

beforeEach(() => {
  openAi.forget();
  anthropic.forget();
});

const bodies = {
  responses: (model: string, stream: boolean) => ({
    model,
    stream,
    instructions: `You work for ${email}.`,
    input: [
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: sentence }] },
      { type: 'function_call', call_id: 'call_1', name: 'mail', arguments: `{"to":"\\n${email}","n":1}` },
      { type: 'function_call_output', call_id: 'call_1', output: `Sent to ${email}.` },
    ],
  }),
  chat: (model: string, stream: boolean) => ({
    model,
    stream,
    messages: [
      { role: 'system', content: `You work for ${email}.` },
      { role: 'user', content: [{ type: 'text', text: sentence }] },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          {
            id: 'call_1',
            type: 'function',
            function: { name: 'mail', arguments: `{"to":"\\n${email}","n":1}` },
          },
        ],
      },
      { role: 'tool', tool_call_id: 'call_1', content: `Sent to ${email}.` },
    ],
  }),
  messages: (model: string, stream: boolean) => ({
    model,
    stream,
    max_tokens: 100,
    system: [{ type: 'text', text: `You work for ${email}.` }],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: sentence },
          { type: 'document', source: { type: 'text', media_type: 'text/plain', data: `From ${email}` } },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: 'toolu_1', name: 'mail', input: { to: `\n${email}`, data: email } },
        ],
      },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: `Sent to ${email}.` }],
      },
    ],
  }),
};

const paths = { responses: '/v1/responses', chat: '/v1/chat/completions', messages: '/v1/messages' };
const cases = (['responses', 'chat', 'messages'] as const).flatMap((format) =>
  ['openai/gpt-5', 'chat/gpt-5', 'anthropic/claude-sonnet-4-5'].flatMap((model) =>
    [false, true].map((stream) => ({ format, model, stream })),
  ),
);

const requests = () => [...openAi.requests, ...anthropic.requests].map(({ body }) => JSON.stringify(body));

/** The texts that stand for the personal data, in its order. */
function marksIn(request: string): string[] {
  return ['email', 'phone', 'pattern', 'credential'].map(
    (kind) => new RegExp(`\\[${kind}-[a-z]{10}\\]`).exec(request)?.[0] ?? `no ${kind}`,
  );
}

const inPieces = (text: string) => text.match(/.{1,3}/gs) ?? [];

async function ask(format: keyof typeof bodies, model: string, stream: boolean): Promise<string> {
  const answer = await daemon.fetch(paths[format], { json: bodies[format](model, stream) });
  const text = await answer.text();
  expect(answer.status, text).toBe(200);
  return text;
}

/** What is said in an answer, whatever its form. */
function saidIn(text: string): string {
  if (text.startsWith('{')) return text;
  const deltas = text
    .split('\n')
    .flatMap((line) => (line.startsWith('data: {') ? [JSON.parse(line.slice(6))] : []))
    .map((event) => {
      if (typeof event.delta === 'string') return event.delta;
      if (event.delta) return event.delta.text ?? event.delta.partial_json ?? '';
      const [choice] = event.choices ?? [];
      return (
        choice?.delta?.content ??
        choice?.delta?.tool_calls?.map((call: never) => argumentsIn(call)).join('') ??
        ''
      );
    });
  return deltas.join('');
}

function argumentsIn(call: { function?: { arguments?: string } }): string {
  return call.function?.arguments ?? '';
}

describe.each(cases)('$format to $model, streamed: $stream', ({ format, model, stream }) => {
  test('no personal data leaves, and the answer has it again', async () => {
    await ask(format, model, stream);
    const [sent = ''] = requests();
    for (const one of personal) expect(sent).not.toContain(one);
    expect(sent).toContain('mail');
    const marks = marksIn(sent);
    const text = `I ask ${marks.join(', ')} [not-a-mark] [ema`;
    const to = `${marks[0]} ${marks[3]}`;
    const call = { name: 'mail', arguments: { to } };
    openAi.script({ pieces: inPieces(text), calls: [call] });
    anthropic.answer({ blocks: [{ text }, { tool: 'mail', input: { to } }] });
    const answer = saidIn(await ask(format, model, stream));
    expect(answer).toContain(`I ask ${email}, ${phone}, ${badge}, ${key} [not-a-mark] [ema`);
    expect(answer).toContain(`${email} ${key}`);
    for (const mark of marks) expect(answer).not.toContain(mark);
    // The same text has the same mark, so that the beginning of a longer conversation stays the same for caches.
    expect(requests()[1]).toBe(sent);
  });
});

test('models that are left out get what was sent', async () => {
  const answer = await daemon.fetch('/v1/chat/completions', { json: bodies.chat('chat/other', false) });
  expect(answer.status).toBe(200);
  expect(requests()[0]).toContain(email);
});

test('the longer texts that are sent are reserved for', async () => {
  const phones = Array.from({ length: 500 }, (_, at) => `555-123-${String(1000 + at)}`).join(' ');
  const messages = [{ role: 'user', content: phones }];
  const answer = await daemon.fetch('/v1/chat/completions', {
    json: { model: 'priced/gpt-5', messages, max_tokens: 1 },
  });
  await answer.text();
  const sent = JSON.stringify(openAi.requests[0]?.body?.messages);
  expect(sent.length).toBeGreaterThan(phones.length + 2_000);
  const login = { authorization: `Bearer ${daemon.login}` };
  const issued = await daemon.fetch('/v1/workspaces/me/keys', {
    headers: login,
    // What a token a byte of the text itself costs, and not one of those that are sent.
    json: {
      name: 'small',
      limits: { spend_cap: { usd: String((phones.length + 500) / 1e6), period: 'total' } },
    },
  });
  const { secret: small } = (await issued.json()) as { secret: string };
  const refused = await daemon.fetch('/v1/chat/completions', {
    headers: { authorization: `Bearer ${small}` },
    json: { model: 'priced/gpt-5', messages, max_tokens: 1 },
  });
  expect(refused.status, await refused.text()).toBe(403);
});

test('the trace tells how much was replaced', async () => {
  const answer = await daemon.fetch('/v1/chat/completions', { json: bodies.chat('openai/gpt-5', false) });
  await answer.text();
  const trace = await daemon.fetch(`/v1/traces/${answer.headers.get('x-request-id')}`, {
    headers: { authorization: `Bearer ${daemon.login}` },
  });
  expect(await trace.json()).toMatchObject({
    hooks: [{ name: 'redaction', on: 'request', result: 'changed', message: '4 texts replaced' }],
  });
});

test.each(['/v1/messages/count_tokens', '/v1/responses/input_tokens'])('%s sends none', async (path) => {
  const isMessages = path.startsWith('/v1/messages');
  const {
    max_tokens: _,
    stream: __,
    ...body
  } = isMessages
    ? bodies.messages('anthropic/claude-sonnet-4-5', false)
    : { ...bodies.responses('openai/gpt-5', false), max_tokens: 0 };
  const answer = await daemon.fetch(path, { json: body });
  expect(answer.status, await answer.text()).toBe(200);
  expect(requests()).toHaveLength(1);
  for (const one of personal) expect(requests()[0]).not.toContain(one);
});

test('decisions are asked for without personal data', async () => {
  const answer = await daemon.fetch('/v1/decisions', {
    json: {
      model: 'openai/gpt-4o',
      input: sentence,
      questions: [{ type: 'predicate', instructions: `Is it from ${email}?` }],
    },
  });
  await answer.text();
  expect(requests().length).toBeGreaterThan(0);
  for (const request of requests()) for (const one of personal) expect(request).not.toContain(one);
});

test('embeddings are asked for without personal data', async () => {
  const answer = await daemon.fetch('/v1/embeddings', {
    json: { model: 'openai/text-embedding-3-small', input: [sentence, 'plain'] },
  });
  expect(answer.status).toBe(200);
  for (const one of personal) expect(requests()[0]).not.toContain(one);
});
