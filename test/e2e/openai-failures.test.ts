import OpenAI from 'openai';
import { describe, expect, test, vi } from 'vitest';
import type { UsageView } from '../../src/shared/contract/usage.ts';
import {
  backendNames,
  backend as backendOf,
  backendsForThisFile,
  keys,
  openAiAs,
  providerNames,
} from '../support/model-backends.ts';

const backends = await backendsForThisFile();
const client = openAiAs(backends.daemon);

const long = 'It all began when the moon was new and nobody had thought of money yet. '.repeat(20);

/** The two ways to make a call; both throw what the SDK makes of a failure. */
const formats = {
  responses: (model: string, more: object = {}) =>
    client.responses.create({ model, input: 'Go on.', ...more }) as Promise<unknown>,
  chat: (model: string, more: object = {}) =>
    client.chat.completions.create({
      model,
      messages: [{ role: 'user', content: 'Go on.' }],
      ...more,
    }) as Promise<unknown>,
};
const formatNames = ['responses', 'chat'] as const;

const { refuse } = backends;

async function failureOf(call: Promise<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> {
  const failure = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(failure instanceof OpenAI.APIError)) throw new Error(`no APIError: ${String(failure)}`);
  return failure;
}

describe.each(formatNames)('%s: mistakes of the caller', (format) => {
  test('an unknown model', async () => {
    const failure = await failureOf(formats[format]('sim/asistant'));
    expect(failure).toBeInstanceOf(OpenAI.NotFoundError);
    expect(failure).toMatchObject({ code: 'model_not_found', param: 'model', type: 'not_found' });
    expect(failure.message).toContain('sim/assistant');
    expect(failure.requestID).toMatch(/^req_/);
  });

  test('a wrong key', async () => {
    const stranger = client.withOptions({ apiKey: 'gwk_nobody' });
    const failure = await failureOf(stranger.responses.create({ model: 'sim/echo', input: 'a' }));
    expect(failure).toBeInstanceOf(OpenAI.AuthenticationError);
    expect(failure).toMatchObject({ code: 'unauthenticated' });
    expect(failure.requestID).toMatch(/^req_/);
  });

  test.each([
    ['temperature', { temperature: 'hot' }],
    ['tool_choice', { tool_choice: 'sometimes' }],
    [format === 'chat' ? 'tools[0].function' : 'tools[0].name', { tools: [{ type: 'function' }] }],
  ])('an invalid %s', async (param, more) => {
    const failure = await failureOf(formats[format]('sim/echo', more));
    expect(failure).toBeInstanceOf(OpenAI.BadRequestError);
    expect(failure).toMatchObject({ code: 'invalid_request', type: 'invalid_request', param });
  });

  test('no model', async () => {
    const failure = await failureOf(formats[format](undefined as unknown as string));
    expect(failure).toMatchObject({ status: 400, param: 'model' });
  });
});

describe.each(providerNames)('a failure of %s', (backend) => {
  test.each(formatNames)(
    'a rejected request is the caller’s fault, and no other provider is tried (%s)',
    async (format) => {
      const message = 'prompt is too long: 250000 tokens > 200000 maximum context';
      const model = refuse(backend, { status: 400, message, code: 'context_length_exceeded' });
      const failure = await failureOf(formats[format](model));
      expect(failure).toBeInstanceOf(OpenAI.BadRequestError);
      const param = format.startsWith('chat') ? 'messages' : 'input';
      expect(failure).toMatchObject({ code: 'context_length_exceeded', param });
    },
  );

  test.each(formatNames)('a rate limit is passed on with its wait (%s)', async (format) => {
    const model = refuse(backend, { status: 429, headers: { 'retry-after': '7' } });
    const failure = await failureOf(formats[format](model, { stream: true }));
    expect(failure).toBeInstanceOf(OpenAI.RateLimitError);
    expect(failure.headers?.get('retry-after')).toBe('7');
    expect(failure.code).toBe('rate_limited');
  });

  test.each(formatNames)('a broken provider is reported with the attempts (%s)', async (format) => {
    const model = refuse(backend, { status: 500 });
    const failure = await failureOf(formats[format](model, { stream: true }));
    expect(failure).toBeInstanceOf(OpenAI.InternalServerError);
    expect(failure).toMatchObject({ status: 502, code: 'upstream_failed', type: 'upstream_failed' });
    expect(failure.error).toMatchObject({ attempts: [{ status: 500, error_code: 'server_error' }] });
  });
});

test.each(providerNames.filter((name) => backendOf(name).namesParameters))(
  'a request that %s rejects names the parameter',
  async (backend) => {
    const model = refuse(backend, { status: 400, param: 'temperature', code: 'unsupported_value' });
    const failure = await failureOf(formats.responses(model));
    expect(failure).toMatchObject({ status: 400, param: 'temperature', code: 'unsupported_value' });
  },
);

test.each([
  ['chat', 'responses-only', 'max_output_tokens', 'max_completion_tokens'],
  ['chat', 'responses-only', 'input[0].content', 'messages[0].content'],
  ['chat', 'chat-only', 'messages[0].content', 'messages[0].content'],
  ['responses', 'chat-only', 'messages[0].content', 'input'],
  ['responses', 'chat-only', 'response_format', 'text.format'],
  ['responses', 'chat-only', 'tools[0].function.name', 'tools[0].name'],
  ['responses', 'openai', 'input[0].content', 'input'],
  ['responses', 'openai', 'text.verbosity', 'text.verbosity'],
] as const)(
  '%s: the fault that %s finds in %s is reported as %s',
  async (format, backend, param, reported) => {
    const failure = await failureOf(formats[format](refuse(backend, { status: 400, param })));
    expect(failure).toMatchObject({ status: 400, param: reported });
  },
);

test.each([
  ['responses', 'chat-only', 'invalid_json_schema', "Invalid schema for response_format 'x': no type."],
  ['chat', 'openai', 'invalid_json_schema', "Invalid schema for response_format 'x': no type."],
  ['chat', 'responses-only', 'invalid_prompt', 'The prompt was flagged.'],
] as const)('%s: %s’s explanation and code %s are passed on', async (format, backend, code, message) => {
  const failure = await failureOf(formats[format](refuse(backend, { status: 400, code, message })));
  expect(failure).toMatchObject({ status: 400, code, type: 'invalid_request' });
  const inTerms = format === 'responses' ? message.replace('response_format', 'text.format') : message;
  expect(failure.message).toContain(inTerms);
});

test('a position among earlier items is not told to a caller who did not send them', async () => {
  const first = await client.responses.create({ model: backends.script('openai'), input: 'Go on.' });
  const continued = (param: string) =>
    failureOf(
      client.responses.create({
        model: refuse('openai', { status: 400, param, message: `${param} is wrong.` }),
        previous_response_id: first.id,
        input: [{ role: 'user', content: 'Again.' }],
      }),
    );
  expect(await continued('input[2].content')).toMatchObject({
    param: 'input[0].content',
    message: expect.stringContaining('input[0].content is wrong.'),
  });
  expect(await continued('input[0].content')).toMatchObject({ param: 'input' });
});

test.each([
  ['responses', 'anthropic', 'messages.0.content.0.text: must not be empty', 'input'],
  ['chat', 'anthropic', 'messages.0.content.0.text: must not be empty', 'messages[0].content'],
  ['chat', 'anthropic', 'messages.7: must not be empty', 'messages'],
  ['responses', 'anthropic', 'max_tokens: 99999 > 64000, which is the maximum', 'max_output_tokens'],
  ['chat', 'anthropic', '`temperature` and `top_p` cannot both be specified', 'temperature'],
  ['responses', 'anthropic', 'thinking.budget_tokens: too small', 'reasoning.effort'],
  [
    'chat',
    'google',
    "Invalid value at 'generation_config.max_output_tokens' (TYPE_INT32)",
    'max_completion_tokens',
  ],
  ['responses', 'google', '* GenerateContentRequest.contents[0].parts: is empty', 'input'],
  ['chat', 'google', "Unknown name at 'generationConfig.responseSchema': no such field", 'response_format'],
  ['responses', 'google', 'Something is wrong.', null],
] as const)('%s: the field in %s’s “%s” is %s', async (format, backend, message, param) => {
  const failure = await failureOf(formats[format](refuse(backend, { status: 400, message })));
  expect(failure).toMatchObject({ status: 400, param });
});

test('a chat caller who limits the output with `max_tokens` is told of `max_tokens`', async () => {
  const model = refuse('anthropic', { status: 400, message: 'max_tokens: 99 > 64, which is the maximum' });
  const failure = await failureOf(formats.chat(model, { max_tokens: 60 }));
  expect(failure).toMatchObject({ param: 'max_tokens', message: expect.stringContaining('max_tokens: 99') });
});

test('a tool result without its call is rejected as by OpenAI, and is a message of chat clients', async () => {
  const orphan = { type: 'function_call_output', call_id: 'call_none', output: 'x' } as const;
  const responses = await failureOf(client.responses.create({ model: 'sim/echo', input: [orphan] }));
  expect(responses).toMatchObject({ status: 400, code: 'unknown_call_id', param: 'input[0].call_id' });
  const { choices } = await client.chat.completions.create({
    model: backends.script('anthropic'),
    messages: [{ role: 'tool', tool_call_id: 'call_none', content: 'x' }],
  });
  expect(choices).toHaveLength(1);
});

test.each([
  ['background', { background: true, store: false }],
  ['input', { input: undefined }],
])('unsupported features are rejected, not ignored: %s', async (param, more) => {
  const failure = await failureOf(formats.responses('sim/echo', more));
  expect(failure).toMatchObject({ status: 400, code: 'invalid_request', param });
});

test('a provider that rejects the host’s key is reported as such, without the key', async () => {
  const model = refuse('responses-only', { status: 401, message: `Incorrect key ${keys.OPENAI_API_KEY}` });
  const failure = await failureOf(formats.responses(model));
  expect(failure).toMatchObject({ status: 502, code: 'upstream_failed' });
  expect(failure.message).toContain('rejected the API key');
  expect(JSON.stringify(failure)).not.toContain(keys.OPENAI_API_KEY);
  // The account is left alone for a while; no other test here may need it.
});

describe.each(backendNames.filter((backend) => backend !== 'responses-only'))(
  'an answer of %s that breaks off',
  (backend) => {
    const broken = () => backends.script(backend, { text: long, breaks: 'error' });
    const code = backendOf(backend).brokenCode;

    test('throws from a Responses stream', async () => {
      const stream = await client.responses.create({ model: broken(), input: 'Go on.', stream: true });
      let text = '';
      const read = async () => {
        for await (const event of stream)
          if (event.type === 'response.output_text.delta') text += event.delta;
      };
      const failure = await failureOf(read());
      expect(failure.code).toBe(code);
      expect(text).not.toBe('');
    });

    test('rejects the stream helper’s promise', async () => {
      const stream = client.responses.stream({ model: broken(), input: 'Go on.' });
      await expect(stream.finalResponse()).rejects.toThrow(
        /The server had an error|Overloaded|experiencing|ended its answer early/,
      );
    });

    test('throws from a chat stream', async () => {
      const stream = client.chat.completions.stream({
        model: broken(),
        messages: [{ role: 'user', content: 'Go on.' }],
      });
      await expect(stream.finalChatCompletion()).rejects.toThrow(
        /The server had an error|Overloaded|experiencing|ended its answer early/,
      );
    });
  },
);

// In OpenAI's own formats, no whole answer breaks off: the document comes or does not.
const breaksOff = (format: 'responses' | 'chat') =>
  backendNames.filter((name) => name !== 'responses-only' && !backendOf(name).relays.includes(format));

test.each(breaksOff('responses'))('a whole response of %s that breaks off has failed', async (name) => {
  const model = backends.script(name, { text: long, breaks: 'error' });
  const response = await client.responses.create({ model, input: 'Go on.' });
  expect(response).toMatchObject({ status: 'failed', error: { code: backendOf(name).brokenCode } });
  expect(response.output_text).not.toBe('');
});

test.each(breaksOff('chat'))('a whole chat completion of %s that breaks off is an error', async (name) => {
  const failure = await failureOf(formats.chat(backends.script(name, { text: long, breaks: 'error' })));
  expect(failure).toMatchObject({ status: 502, code: 'upstream_failed' });
});

describe.each(backendNames.filter((backend) => backend !== 'responses-only'))(
  'a client of %s that disconnects',
  (backend) => {
    async function expectCanceled(requestId: string): Promise<void> {
      const usage = await vi.waitFor(
        async () => {
          const answer = await backends.daemon.fetch(`/v1/usage/${requestId}`);
          expect(answer.status).toBe(200);
          return (await answer.json()) as UsageView;
        },
        { interval: 5, timeout: 120_000 },
      );
      expect(usage).toMatchObject({ status: 'canceled', streamed: true });
      const { tokens, charged_usd: charged } = usage;
      expect(tokens.input).toBeGreaterThan(0);
      expect(tokens.output).toBeGreaterThan(0);
      if (backend !== 'simulator') expect(Number(charged)).toBeGreaterThan(0);
    }

    test.each(formatNames)(
      'ends the provider’s work and pays for the generated text (%s)',
      async (format) => {
        const hasLeft = backends.watchDisconnect(backend);
        const model = backends.script(backend, { text: long, breaks: 'stall' });
        // So that the simulator does not finish before the client has left.
        const content = 'Go on for 2000 words.';
        const call =
          format === 'chat'
            ? client.chat.completions.create({ model, messages: [{ role: 'user', content }], stream: true })
            : client.responses.create({ model, input: content, stream: true });
        const { data: stream, request_id } = await call.withResponse();
        let hasText = false;
        for await (const event of stream as AsyncIterable<object>) {
          const isText = /output_text\.delta|"content":"\w/.test(JSON.stringify(event));
          if (!isText) continue;
          hasText = true;
          break;
        }
        expect(hasText).toBe(true);
        await hasLeft();
        await expectCanceled(String(request_id));
      },
    );

    // The simulator has no work that could be ended.
    test.each(backend === 'simulator' ? [] : [backend])(
      'ends the work of %s without streaming',
      async (name) => {
        const hasLeft = backends.watchDisconnect(backend);
        const replies = backend === 'openai' ? [] : [{ text: long, breaks: 'stall' } as const];
        const model = backends.script(backend, ...replies);
        if (backend === 'openai') backends.openai.script({ silent: true });
        const leaving = new AbortController();
        const call = client.responses.create({ model, input: 'Go on.' }, { signal: leaving.signal });
        const outcome = expect(call).rejects.toBeInstanceOf(OpenAI.APIUserAbortError);
        await vi.waitFor(() => expect(backends.bodiesOf(name)).not.toEqual([]), {
          interval: 2,
          timeout: 120_000,
        });
        leaving.abort();
        await outcome;
        await hasLeft();
      },
    );
  },
);
