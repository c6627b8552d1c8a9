import { describe, expect, test } from 'vitest';
import { startWithStranger } from '../support/daemon-with-stranger.ts';
import {
  type BackendName,
  backendNames,
  backend as backendOf,
  backendsForThisFile,
  type ProviderName,
  providerNames,
} from '../support/model-backends.ts';
import { openSocket } from '../support/socket-client.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into by path.
type Json = any;

const backends = await backendsForThisFile();

const relaysResponses = (name: BackendName) => backendOf(name).relays.includes('responses');

const summary = 'Goal: the harbour of Ωslo, in 1,204 words.';

const conversation = [
  { role: 'developer', content: 'Be brief.' },
  { role: 'user', content: 'Describe the harbour of Oslo.', id: 'msg_mine' },
  { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{"at":"harbour"}' },
  { type: 'function_call_output', call_id: 'call_1', output: 'Seven ferries.' },
  { role: 'assistant', content: 'There are seven ferries.' },
  { role: 'user', content: [{ type: 'input_text', text: 'And now longer.' }] },
];

async function send(path: string, json: Json): Promise<{ status: number; headers: Headers; body: Json }> {
  const answer = await backends.daemon.fetch(path, { json });
  return { status: answer.status, headers: answer.headers, body: await answer.json() };
}

const compact = (json: Json) => send('/v1/responses/compact', json);
const respond = (json: Json) => send('/v1/responses', json);

async function streamed(json: Json): Promise<Json[]> {
  const answer = await backends.daemon.fetch('/v1/responses', { json: { ...json, stream: true } });
  const text = await answer.text();
  expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  return [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => JSON.parse(data as string));
}

/** Some providers sign their answers in an item of reasoning. */
const typesOf = ({ output }: Json) =>
  output.map(({ type }: Json) => type).filter((type: string) => type !== 'reasoning');

const usageOf = async (id: string | null) =>
  (await (await backends.daemon.fetch(`/v1/usage/${id}`)).json()) as Json;
const sent = (backend: ProviderName) => JSON.stringify(backends.lastBody(backend));

describe.each(providerNames)('a summary by %s', (backend) => {
  test('is one sealed item after the messages, is metered, and is read by the next call', async () => {
    const model = backends.script(backend, { text: summary }, { text: 'Seven ferries, at length.' });
    const { status, headers, body } = await compact({
      model,
      input: conversation,
      instructions: 'You are a guide.',
    });
    expect([status, body.object]).toEqual([200, 'response.compaction']);
    expect(sent(backend)).toContain('Seven ferries.');
    expect(sent(backend)).toContain('You are a guide.');
    const [developer, first, second, item, ...more] = body.output;
    expect(more).toEqual([]);
    expect(developer).toMatchObject({ type: 'message', role: 'developer', status: 'completed' });
    expect(first).toEqual({
      id: 'msg_mine',
      type: 'message',
      status: 'completed',
      role: 'user',
      content: [{ type: 'input_text', text: 'Describe the harbour of Oslo.' }],
    });
    expect(second).toMatchObject({ id: expect.stringMatching(/^msg_/), role: 'user', status: 'completed' });
    expect(item).toEqual({
      id: expect.stringMatching(/^cmp_/),
      type: 'compaction',
      encrypted_content: expect.stringMatching(/^gwc1\./),
    });
    expect(JSON.stringify(body)).not.toContain('1,204');
    expect(Buffer.from(item.encrypted_content.slice(5), 'base64url').toString('latin1')).not.toContain(
      '1,204',
    );
    const usage = await usageOf(headers.get('x-request-id'));
    expect(usage).toMatchObject({
      endpoint: '/v1/responses/compact',
      response_id: body.id,
      status: 'completed',
      tokens: { input: body.usage.input_tokens, output: body.usage.output_tokens },
      charged_usd: body.service.charged_usd,
    });
    expect(Number(usage.charged_usd)).toBeGreaterThan(0);

    const next = await respond({ model, input: [...body.output, { role: 'user', content: 'Go on.' }] });
    expect(next.status).toBe(200);
    expect(sent(backend)).toContain('1,204 words');
    expect(sent(backend)).not.toContain('gwc1.');
  });

  test('can be triggered at the end of a create call', async () => {
    const model = backends.script(backend, { text: summary });
    const input = [...conversation, { type: 'compaction_trigger' }];
    const { status, body } = await respond({ model, input, tools: [{ type: 'function', name: 'look' }] });
    expect([status, body.status]).toEqual([200, 'completed']);
    expect(body.output).toEqual([
      { id: expect.stringMatching(/^cmp_/), type: 'compaction', encrypted_content: expect.any(String) },
    ]);
    expect(sent(backend)).not.toContain('compaction_trigger');
  });

  test('is streamed as one item and can be continued', async () => {
    const model = backends.script(backend, { text: summary }, { text: 'On.' });
    const events = await streamed({ model, input: [...conversation, { type: 'compaction_trigger' }] });
    expect(events.map(({ type }) => type)).toEqual([
      'response.created',
      'service:route',
      'response.in_progress',
      'response.output_item.added',
      'response.output_item.done',
      'service:cost',
      'response.completed',
    ]);
    const { response } = events.at(-1);
    expect(response.output).toEqual([events[4].item]);
    expect(response.usage.output_tokens).toBeGreaterThan(0);
    const next = await respond({ model, previous_response_id: response.id, input: 'Go on.' });
    expect(next.status).toBe(200);
    expect(sent(backend)).toContain('1,204 words');
    // What the summary stands for is not sent again.
    expect(sent(backend)).not.toContain('ferries');
  });

  test.each([false, true])('is created when the input exceeds the threshold (stream: %s)', async (stream) => {
    const model = backends.script(
      backend,
      { text: summary },
      { text: 'The longer answer.' },
      { text: 'More.' },
    );
    const body = {
      model,
      input: conversation,
      context_management: [{ type: 'compaction', compact_threshold: 20 }],
    };
    const events = stream ? await streamed(body) : [];
    const response = stream ? events.at(-1).response : (await respond(body)).body;
    expect(typesOf(response)).toEqual(['compaction', 'message']);
    expect(response.output[1].content[0].text).toBe('The longer answer.');
    if (stream) {
      const shown = events.filter(({ type }) => /output_item|text.delta/.test(type));
      expect(shown.slice(0, 3).map(({ type, output_index }) => [type, output_index])).toEqual([
        ['response.output_item.added', 0],
        ['response.output_item.done', 0],
        ['response.output_item.added', 1],
      ]);
      expect(shown.slice(3).map(({ output_index }) => output_index)).not.toContain(0);
      expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
    }
    expect(sent(backend)).toContain('1,204 words');
    expect(sent(backend)).toContain('And now longer.');
    expect(sent(backend)).not.toContain('ferries');
    expect(sent(backend)).not.toContain('context_management');
    const next = await respond({ model, previous_response_id: response.id, input: 'Go on.' });
    expect(next.status).toBe(200);
    expect(sent(backend)).toContain('1,204 words');
    expect(sent(backend)).toContain('The longer answer.');
    expect(sent(backend)).not.toContain('ferries');
  });

  test('is not created below the threshold', async () => {
    const model = backends.script(backend, { text: 'Hello.' });
    const { body } = await respond({
      model,
      input: conversation,
      context_management: [{ type: 'compaction', compact_threshold: 100_000 }],
    });
    expect(typesOf(body)).toEqual(['message']);
  });

  test('that is empty fails, and so does a failing provider', async () => {
    const model = backends.script(backend, { text: ' ' });
    const { status, body } = await compact({ model, input: conversation });
    expect([status, body.error.code]).toEqual([500, 'model_error']);
  });
});

describe('a sealed summary', () => {
  const sealedItem = async (): Promise<{ type: string; encrypted_content: string }> => {
    const model = backends.script('openai', { text: summary });
    return (await compact({ model, input: conversation })).body.output.at(-1);
  };

  test('is read by chat providers, too, and becomes part of the next one', async () => {
    const item = await sealedItem();
    const model = backends.script('chat-only', { text: 'Goal: all of it.' });
    const { status, body } = await compact({ model, input: [item, { role: 'user', content: 'Go on.' }] });
    expect(status).toBe(200);
    expect(sent('chat-only')).toContain('1,204 words');
    expect(body.output.map(({ type }: Json) => type)).toEqual(['message', 'compaction']);
  });

  test.each(backendNames)('that was damaged is rejected by %s, which names it', async (backend) => {
    const { encrypted_content: sealed } = await sealedItem();
    const model = backends.script(backend, { text: 'Never.' });
    const changed = `${sealed.slice(0, 40)}${sealed[40] === 'A' ? 'B' : 'A'}${sealed.slice(41)}`;
    for (const encrypted_content of [changed, sealed.slice(0, -1), 'gwc1.', sealed.replace('gwc1', 'gws1')]) {
      const input = [...conversation.slice(0, 3), { type: 'compaction', encrypted_content }];
      if (encrypted_content.startsWith('gws1') && relaysResponses(backend)) continue;
      const { status, body } = await respond({ model, input });
      expect(status).toBe(400);
      expect(body.error).toMatchObject({ code: 'invalid_request', param: 'input[3].encrypted_content' });
    }
  });

  test('of another workspace is rejected', async () => {
    const { daemon, stranger } = await startWithStranger();
    const made = await daemon.fetch('/v1/responses/compact', {
      json: { model: 'sim/assistant', input: 'Hello.' },
    });
    const { output } = (await made.json()) as Json;
    const body = { model: 'sim/assistant', input: output };
    expect((await daemon.fetch('/v1/responses', { json: body })).status).toBe(200);
    const refused = await daemon.fetch('/v1/responses', {
      json: body,
      headers: { authorization: `Bearer ${stranger.key}` },
    });
    expect(refused.status).toBe(400);
    expect(((await refused.json()) as Json).error.param).toBe('input[1].encrypted_content');
    await daemon.stop();
  });

  test('created by a provider reaches that provider unchanged, and no other', async () => {
    const theirs = { type: 'compaction', id: 'cmp_theirs', encrypted_content: 'gAAAAABtheirs' };
    const input = [theirs, { role: 'user', content: 'Go on.' }];
    const model = backends.script('openai', { text: 'On.' });
    expect((await respond({ model, input })).status).toBe(200);
    expect((backends.lastBody('openai').input as Json[])[0]).toEqual(theirs);
    for (const backend of backendNames.filter((name) => !relaysResponses(name))) {
      const { status, body } = await respond({ model: backends.script(backend, { text: 'On.' }), input });
      expect([status, body.error.param]).toEqual([400, 'input[0].encrypted_content']);
    }
    const summed = await compact({ model, input });
    expect([summed.status, summed.body.error.param]).toEqual([400, 'input[0].encrypted_content']);
  });
});

describe('compaction', () => {
  test('continues a stored response', async () => {
    const model = backends.script('openai', { text: 'It is large.' }, { text: summary });
    const first = await respond({ model, input: 'Describe the harbour.' });
    const { body } = await compact({ model, previous_response_id: first.body.id });
    expect(sent('openai')).toContain('It is large.');
    expect(body.output.map(({ type }: Json) => type)).toEqual(['message', 'compaction']);
  });

  test.each([
    ['no conversation', { model: 'sim/assistant' }, 400, 'input'],
    ['an empty one', { model: 'sim/assistant', input: [] }, 400, 'input'],
    ['no model', { input: 'Hello.' }, 400, 'model'],
    [
      'an unknown response',
      { model: 'sim/assistant', previous_response_id: 'resp_none' },
      404,
      'previous_response_id',
    ],
  ])('of %s is rejected', async (_what, body, status, param) => {
    const answer = await compact(body);
    expect([answer.status, answer.body.error.param]).toEqual([status, param]);
  });

  test('rejects a trigger that is not last', async () => {
    const input = [{ type: 'compaction_trigger' }, { role: 'user', content: 'Hello.' }];
    const { status, body } = await respond({ model: 'sim/assistant', input });
    expect([status, body.error.param]).toEqual([400, 'input']);
  });

  test('works on a socket, whose context is then the summary', async () => {
    const { daemon } = backends;
    const client = await openSocket(`${daemon.url}/v1/responses`, { key: daemon.key });
    const model = backends.script('anthropic', { text: summary }, { text: 'On.' });
    const create = { type: 'response.create', model, store: false };
    const events = await client.ask({ ...create, input: [...conversation, { type: 'compaction_trigger' }] });
    const { response } = events.at(-1);
    expect(response.output.map(({ type }: Json) => type)).toEqual(['compaction']);
    await client.ask({ ...create, input: 'Go on.', previous_response_id: response.id });
    expect(sent('anthropic')).toContain('1,204 words');
    expect(sent('anthropic')).not.toContain('ferries');
  });

  test('done automatically is a separate call in the usage', async () => {
    const count = async () =>
      ((await (await backends.daemon.fetch('/v1/usage')).json()) as Json).total.requests;
    const before = await count();
    const model = backends.script('openai', { text: summary }, { text: 'On.' });
    await respond({
      model,
      input: conversation,
      context_management: [{ type: 'compaction', compact_threshold: 5 }],
    });
    expect((await count()) - before).toBe(2);
  });
});
