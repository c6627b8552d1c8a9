import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type FakeOpenAi, startFakeOpenAi } from '../support/fake-openai.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

let fake: FakeOpenAi;
let daemon: RunningDaemon;

beforeAll(async () => {
  fake = await startFakeOpenAi();
  daemon = await startDaemon({
    config: `
upstreams:
  - { name: paid, base_url: ${fake.baseUrl}, models: [small], prices: { input: "1", output: "2" } }
  - { name: priceless, base_url: ${fake.baseUrl}, models: [unknown] }
`,
  });
});

afterAll(async () => {
  await daemon.stop();
  await fake.close();
});

beforeEach(() => {
  fake.forget();
  fake.always({ text: 'Some words.', usage: { input: 20, output: 10 } });
});

// biome-ignore lint/suspicious/noExplicitAny: what is in it is what the tests are about.
async function send(path: string, json: object, secret = daemon.login): Promise<any> {
  const answer = await daemon.fetch(path, { json, headers: { authorization: `Bearer ${secret}` } });
  return { ...((await answer.json()) as object), http: answer.status };
}

async function keyWithCap(usd: string): Promise<string> {
  const issued = await send('/v1/workspaces/me/keys', { name: 'capped' });
  const limits = await daemon.fetch(`/v1/workspaces/me/keys/${issued.key.id}/limits`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${daemon.login}`, 'content-type': 'application/json' },
    body: JSON.stringify({ spend_cap: { usd, period: 'total' } }),
  });
  expect(limits.status).toBe(200);
  return issued.secret;
}

const messages = [{ role: 'user', content: 'Hello, what is new?' }];
const formats: [path: string, body: object][] = [
  ['/responses', { input: 'Hello, what is new?', max_output_tokens: 100, store: false }],
  ['/chat/completions', { messages, max_tokens: 100 }],
  ['/messages', { messages, max_tokens: 100 }],
];

test.each(formats)(
  'the preview of a call to %s is the amount that admission reserves',
  async (path, rest) => {
    const body = { model: 'paid/small', ...rest };
    const preview = await send(`/v1/preview${path}`, body);
    expect(preview).toMatchObject({
      http: 200,
      model: 'paid/small',
      provider: 'paid',
      output_tokens_max: 100,
    });
    expect(preview.charged_usd_max).toBe(preview.cost_usd_max);
    expect(fake.requests).toEqual([]);
    // With exactly this much the call is made as it is; with a nano-dollar less, its answer is bounded further.
    const outputOf = async (usd: string) => {
      fake.forget();
      expect((await send(`/v1${path}`, body, await keyWithCap(usd))).http).toBe(200);
      const [request] = fake.requests;
      const sent = request?.body as Record<string, unknown>;
      return sent.max_output_tokens ?? sent.max_completion_tokens ?? sent.max_tokens;
    };
    expect(await outputOf(preview.cost_usd_max)).toBe(100);
    const less = (Math.round(Number(preview.cost_usd_max) * 1e9) - 1) / 1e9;
    expect(await outputOf(less.toFixed(9))).toBe(99);
  },
);

test('embeddings have a preview, too', async () => {
  const body = { model: 'sim/embedding', input: ['First', 'Second'] };
  expect(await send('/v1/preview/embeddings', body)).toMatchObject({ http: 200, cost_usd_max: '0' });
});

test('without a known price there is no bound', async () => {
  const body = { model: 'priceless/unknown', input: 'Hello.' };
  const preview = await send('/v1/preview/responses', body);
  expect(preview).toMatchObject({ http: 200, cost_usd_max: null, charged_usd_max: '0' });
});

test('a preview fails as the call would', async () => {
  const wrong = await send('/v1/preview/responses', { model: 'nosuch', input: 'Hello.' });
  expect([wrong.http, wrong.error.code]).toEqual([404, 'model_not_found']);
  const invalid = await send('/v1/preview/chat/completions', { model: 'paid/small' });
  expect([invalid.http, invalid.error.param]).toEqual([400, 'messages']);
});
