import { describe, expect, test } from 'vitest';
import {
  answers,
  bytesOf,
  cutAfter,
  cutAt,
  eventsOf,
  insertsAfter,
  neverEnds,
  says,
  words,
} from '../support/chaos-behaviours.ts';
import { allFormatPairs, chaosForThisFile, nanoUsdPerToken } from '../support/chaos-daemon.ts';
import type { Behaviour } from '../support/chaos-upstream.ts';
import { eventually } from '../support/eventually.ts';
import { responsesDocument } from '../support/fake-openai-responses.ts';
import { bodyOf, callModel, completeCall, type OpenAiWire } from '../support/model-client.ts';
import { checkResponse } from '../support/responses-check.ts';

/** Providers that fail in the middle of an answer, and what the caller and later readers see of it. */
const on = await chaosForThisFile();

type Json = Record<string, unknown>;

async function create(asked: { wire?: OpenAiWire; model: string; stream?: boolean; more?: Json }) {
  const { wire = 'responses', stream = false } = asked;
  const answer = await completeCall(on.daemon, { ...asked, wire, stream });
  return { ...answer, json: (stream ? {} : JSON.parse(answer.text)) as Json };
}

async function read(id: unknown): Promise<{ status: number; body: Json }> {
  const response = await on.daemon.fetch(`/v1/responses/${String(id)}`);
  return { status: response.status, body: (await response.json()) as Json };
}

/** The document of a provider whose model failed. */
function failedDocument(more: Json = {}): Behaviour {
  return (call) => {
    const error = { code: 'server_error', message: 'The model crashed.' };
    const document = { ...responsesDocument({ text: words }, call.body), status: 'failed', error, ...more };
    says(200, { body: JSON.stringify(document) })(call);
  };
}

/** Events that come before any output in each format. */
const beforeOutput = { chat: 1, responses: 3 } as const;
const afterOutput = 6;

describe('a whole answer', () => {
  test('that its provider calls failed is relayed with its output and error code, and charged', async () => {
    const model = on.chaos.addModel('responses', failedDocument());
    const { status, json } = await create({ model, more: { store: true } });
    expect(status).toBe(200);
    expect(json).toMatchObject({
      status: 'failed',
      store: true,
      completed_at: null,
      error: { code: 'server_error', message: 'The model crashed.' },
      output: [{ type: 'message', content: [{ text: words }] }],
      usage: { input_tokens: 11, output_tokens: 7 },
      service: { attempts: [{ provider: 'responses', error_code: 'server_error' }] },
    });
    checkResponse(json);
    expect((await read(json.id)).body).toEqual(json);
    const row = await on.waitForUsage(model);
    expect(row).toMatchObject({ status: 'failed', errorCode: 'upstream_failed', input: 11, output: 7 });
  });

  test('that failed without output comes from the next provider', async () => {
    const model = on.chaos.addModel('responses', failedDocument({ output: [], usage: null }));
    const fallback = on.chaos.addModel('spare', answers({ text: 'From the spare.' }));
    const { status, json } = await create({ model, more: { service: { fallbacks: [fallback] } } });
    expect({ status, state: json.status }).toEqual({ status: 200, state: 'completed' });
    expect(JSON.stringify(json.output)).toContain('From the spare.');
  });

  test.each(['server_error', 'rate_limit_exceeded', 'invalid_prompt'])(
    'that failed without output is relayed if no other provider answers: %s',
    async (code) => {
      const error = { code, message: 'It did not work.' };
      const model = on.chaos.addModel('responses', failedDocument({ output: [], usage: null, error }));
      const { status, json } = await create({ model, more: { store: true } });
      expect(status).toBe(200);
      expect(json).toMatchObject({
        status: 'failed',
        error: { code, message: 'It did not work.' },
        output: [],
        service: { attempts: [{ provider: 'responses', status: 200 }] },
      });
      expect((await read(json.id)).body).toEqual(json);
    },
  );

  test('that breaks off after its first output is failed, with what was generated, if no other provider is left', async () => {
    const model = on.chaos.addModel('chat', cutAfter(afterOutput, 'reset'));
    const { status, json } = await create({ model, more: { store: true } });
    expect(status).toBe(200);
    expect(json).toMatchObject({
      status: 'failed',
      error: { code: 'upstream_failed', message: expect.stringContaining('ended its answer early') },
      output: [{ type: 'message', status: 'incomplete' }],
      service: { attempts: [{ provider: 'chat', status: 200, error_code: 'broken_answer' }] },
    });
    checkResponse(json);
    expect((await read(json.id)).body).toEqual(json);
  });

  test('is replayed to a retry with the same Idempotency-Key', async () => {
    const model = on.chaos.addModel('chat', cutAfter(afterOutput, 'reset'));
    const send = () =>
      on.daemon.fetch('/v1/responses', {
        method: 'POST',
        headers: { 'idempotency-key': `failed-${model}` },
        json: { model, input: 'Hello.' },
      });
    const first = (await (await send()).json()) as Json;
    const again = await send();
    expect(first).toMatchObject({ status: 'failed' });
    expect([again.headers.get('idempotent-replayed'), await again.json()]).toEqual(['true', first]);
  });

  test.each([
    ['responses', 'chat'],
    ['chat', 'responses'],
  ] as const)(
    'in the %s format comes from the next provider if %s breaks off before its first output',
    async (wire, upstream) => {
      const model = on.chaos.addModel(upstream, cutAfter(beforeOutput[upstream], 'close'));
      const fallback = on.chaos.addModel('spare', answers({ text: 'From the spare.' }));
      const { status, text } = await create({ wire, model, more: { service: { fallbacks: [fallback] } } });
      expect(status).toBe(200);
      expect(text).toContain('From the spare.');
    },
  );

  test.each(allFormatPairs)(
    'comes from the next provider wherever it breaks off, and only that one is charged: $name',
    async ({ wire, upstream }) => {
      const body = bodyOf({ wire: upstream, model: 'any', stream: wire !== upstream });
      const { length } = bytesOf({ wire: upstream, body, stream: wire !== upstream } as never);
      const cuts = Array.from({ length: 8 }, (_, at) => Math.round((at * length * 0.9) / 7));
      const usage = { input: 3, output: 4 };
      const one = async (cut: number) => {
        const model = on.chaos.addModel(upstream, cutAt(cut, cut % 2 === 0 ? 'reset' : 'close'));
        const fallback = on.chaos.addModel('spare', answers({ text: 'From the spare.', usage }));
        const more = { service: { fallbacks: [fallback] } };
        const answer = await completeCall(on.daemon, { wire, model, stream: false, more });
        expect([cut, answer.status]).toEqual([cut, 200]);
        expect(answer.text).toContain('From the spare.');
        expect(answer.text).not.toContain(words.slice(0, 9));
        expect(await on.waitForUsage(fallback)).toMatchObject({
          status: 'completed',
          ...usage,
          charged: usage.input * nanoUsdPerToken.input + usage.output * nanoUsdPerToken.output,
          attempts: [
            { provider: upstream, errorCode: expect.stringMatching(/^(network|broken_answer)$/) },
            { provider: 'spare', status: 200, errorCode: null },
          ],
        });
      };
      await Promise.all(cuts.map(one));
    },
  );

  test('that is cut for its length is not read ahead for ever', async () => {
    const model = on.chaos.addModel('chat', neverEnds());
    const fallback = on.chaos.addModel('spare', answers());
    const more = { max_output_tokens: 100, service: { fallbacks: [fallback] } };
    const { json } = await create({ model, more });
    expect(json).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      service: { attempts: [{ provider: 'chat', error_code: null }] },
    });
  });

  test('in the chat format, which has no failed answers, is an error with the attempts', async () => {
    const model = on.chaos.addModel('responses', cutAfter(afterOutput, 'close'));
    const { status, json } = await create({ wire: 'chat', model });
    expect(status).toBe(502);
    expect(json.error).toMatchObject({
      code: 'upstream_failed',
      attempts: [{ provider: 'responses', status: 200, error_code: 'broken_answer' }],
    });
  });
});

describe('a stream', () => {
  const failing = (code: string, message = 'It did not work.') =>
    insertsAfter(afterOutput, `event: error\ndata: ${JSON.stringify({ error: { code, message } })}\n\n`);

  test.each([
    ['responses', 'chat'],
    ['responses', 'responses'],
    ['chat', 'chat'],
    ['chat', 'responses'],
  ] as const)(
    'in the %s format from %s passes on the provider’s error code and sentence',
    async (wire, upstream) => {
      const model = on.chaos.addModel(upstream, failing('rate_limit_exceeded'));
      const { text } = await create({ wire, model, stream: true });
      expect(text).toContain('"code":"rate_limit_exceeded"');
      expect(text).toContain('"message":"It did not work."');
    },
  );

  test.each([
    ['responses', 'chat', 'messages[2].content[0]', 'input'],
    ['chat', 'responses', 'input[2].content[0]', 'messages'],
    ['responses', 'chat', 'max_completion_tokens', 'max_output_tokens'],
    ['responses', 'responses', 'input[0].content', 'input[0].content'],
  ] as const)(
    'in the %s format from %s names what it calls %s as %s',
    async (wire, upstream, theirs, own) => {
      const model = on.chaos.addModel(upstream, failing('server_error', `Invalid value at ${theirs}.`));
      const { text } = await create({ wire, model, stream: true });
      expect(text).toContain(`"message":"Invalid value at ${own}."`);
    },
  );

  test('that goes on without output is cut off, and says so', async () => {
    const comments = Buffer.alloc(65 * 1024 * 1024, ': ping\n\n');
    const model = on.chaos.addModel('chat', insertsAfter(afterOutput, comments));
    const { text } = await create({ wire: 'chat', model, stream: true });
    expect(text).toContain(
      '"message":"The provider chat sent too much without output, so its answer was cut off."',
    );
  });

  test('that fails before any output is a 502 with the provider’s sentence', async () => {
    const model = on.chaos.addModel('responses', (call) => {
      const error = { code: 'server_error', message: 'The model crashed.' };
      const document = responsesDocument({ text: '' }, call.body);
      const response = { ...document, status: 'failed', output: [], usage: null, error };
      const event = { type: 'response.failed', sequence_number: 0, response };
      const headers = ['content-type: text/event-stream'];
      says(200, { headers, body: `event: response.failed\ndata: ${JSON.stringify(event)}\n\n` })(call);
    });
    const { status, text } = await create({ model, stream: true });
    expect(status).toBe(502);
    expect(JSON.parse(text).error).toMatchObject({
      code: 'upstream_failed',
      message: 'Every provider tried failed: responses failed: The model crashed.',
    });
  });

  test('does not show a code that is about the host’s account', async () => {
    // Such a provider is skipped from then on, so no other test uses it.
    const model = on.chaos.addModel('unpriced', failing('insufficient_quota'));
    const { text } = await create({ model, stream: true });
    expect(text).toContain('"code":"upstream_failed"');
    expect(text).not.toContain('quota');
  });

  test('that failed is stored as it ended', async () => {
    const model = on.chaos.addModel('chat', failing('server_error'));
    const { text } = await create({ model, stream: true, more: { store: true } });
    const last = text.split('event: response.failed\ndata: ')[1]?.split('\n')[0] ?? '';
    const { response } = JSON.parse(last) as { response: Json };
    expect(response).toMatchObject({ status: 'failed', store: true, error: { code: 'server_error' } });
    const stored = await read(response.id);
    expect(stored).toEqual({ status: 200, body: response });
    const next = await create({
      model: on.chaos.addModel('chat', answers()),
      more: { store: true, previous_response_id: response.id },
    });
    expect(next.status).toBe(200);
  });

  test('whose client left is stored as cancelled, with what was generated', async () => {
    const model = on.chaos.addModel('chat', (call) => {
      insertsAfter(afterOutput, '')(call);
    });
    const leaving = callModel(on.daemon, { wire: 'responses', model, stream: true, more: { store: true } });
    await leaving.receives('response.output_text.delta');
    const id = /"id":"(resp_\w+)"/.exec(leaving.text)?.[1];
    leaving.disconnect();
    const stored = await eventually('a stored response', async () => {
      const found = await read(id);
      return found.status === 200 && found.body;
    });
    expect(stored).toMatchObject({
      id,
      status: 'cancelled',
      store: true,
      output: [{ type: 'message', status: 'incomplete', content: [{ text: expect.stringMatching(/^The/) }] }],
    });
  });
});

test('the events before output are what the tests above take them for', () => {
  const events = (wire: OpenAiWire) => eventsOf({ wire, body: { model: 'm', stream: true } });
  expect(events('chat').slice(0, beforeOutput.chat).join('')).not.toContain(words.slice(0, 3));
  expect(events('responses').slice(0, beforeOutput.responses).join('')).not.toContain('delta');
});
