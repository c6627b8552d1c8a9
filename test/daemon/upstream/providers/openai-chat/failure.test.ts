import { describe, expect, test } from 'vitest';
import { chatAdapter } from '../../../../../src/daemon/upstream/providers/openai-chat/adapter.ts';
import { responsesAdapter } from '../../../../../src/daemon/upstream/providers/openai-responses/adapter.ts';
import { retryAfterSeconds } from '../../../../../src/daemon/upstream/providers/retry-after.ts';
import { ends } from '../../../../support/ends.ts';

const settings = { name: 'p', baseUrl: 'https://p.example/v1' };

function failure(status: number, body: unknown, headers: Record<string, string> = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const failed = chatAdapter(settings).failure(status, headers, text);
  expect(responsesAdapter(settings).failure(status, headers, text)).toMatchObject({ kind: failed.kind });
  return failed;
}

const openai = (code: string | null, message = 'x', param: string | null = null) => ({
  error: { message, type: 'invalid_request_error', param, code },
});

describe('the kind of a refusal', () => {
  test.each([
    ['OpenAI, unknown model', 404, openai('model_not_found'), 'unknown-model'],
    ['OpenAI, bad key', 401, openai('invalid_api_key'), 'authentication'],
    ['OpenAI, out of money', 429, openai('insufficient_quota'), 'billing'],
    ['OpenAI, too fast', 429, openai('rate_limit_exceeded'), 'rate-limited'],
    ['OpenAI, bad value', 400, openai('invalid_value'), 'caller'],
    ['OpenAI, region', 403, openai('unsupported_country_region_territory'), 'forbidden'],
    ['OpenRouter, no credits', 402, { error: { code: 402, message: 'Insufficient credits' } }, 'billing'],
    [
      'OpenRouter, unknown model',
      400,
      { error: { code: 400, message: 'a/b is not a valid model ID' } },
      'unknown-model',
    ],
    [
      'OpenRouter, an input that its moderation flagged',
      403,
      { error: { code: 403, message: 'flagged', metadata: { reasons: ['violence'], flagged_input: 'x' } } },
      'caller',
    ],
    [
      'OpenRouter, a model that cannot do it',
      404,
      { error: { code: 404, message: 'No endpoints found that support tool use.' } },
      'caller',
    ],
    ['a firewall before the provider', 403, '<!DOCTYPE html><title>Blocked</title>', 'server'],
    ['a proxy before it', 400, '<html>\r\n<head><title>400 Bad Request</title></head>', 'server'],
    ['one that limits sizes', 413, '<html>\r\n<head><title>413</title></head>', 'caller'],
    ['a key without a right', 403, 'Forbidden', 'forbidden'],
    ['FastAPI, a wrong address', 404, { detail: 'Not Found' }, 'server'],
    ['DeepSeek, unknown model', 400, openai('invalid_request_error', 'Model Not Exist'), 'unknown-model'],
    ['DeepSeek, no balance', 402, openai('invalid_request_error', 'Insufficient Balance'), 'billing'],
    [
      'Mistral, unknown model',
      400,
      { object: 'error', message: 'Invalid model: x', type: 'invalid_model', code: '1500' },
      'unknown-model',
    ],
    [
      'Mistral, unknown field',
      422,
      { detail: [{ type: 'extra_forbidden', loc: ['body', 'top_k'], msg: 'no' }] },
      'caller',
    ],
    ['Groq, one request too large for the minute', 413, openai('rate_limit_exceeded'), 'rate-limited'],
    ['Groq, no capacity', 498, openai('capacity_exceeded'), 'rate-limited'],
    [
      'xAI, bad key',
      400,
      { code: 'Client error', error: 'Incorrect API key provided: xa***' },
      'authentication',
    ],
    [
      'vLLM, unknown model',
      404,
      { object: 'error', message: 'The model `x` does not exist.', type: 'NotFoundError', code: 404 },
      'unknown-model',
    ],
    ['Ollama, unknown model', 404, { error: 'model "x" not found, try pulling it first' }, 'unknown-model'],
    [
      'llama.cpp, loading',
      503,
      { error: { code: 503, message: 'Loading model', type: 'unavailable_error' } },
      'server',
    ],
    [
      'a list around the error',
      400,
      [{ error: { code: 400, message: 'bad', status: 'INVALID_ARGUMENT' } }],
      'caller',
    ],
    ['a wrong address', 404, '<html>not found</html>', 'server'],
    ['a request that took too long', 408, '', 'server'],
    ['overload', 529, '', 'server'],
    ['no body', 500, '', 'server'],
    ['a body that is nothing', 400, 'null', 'caller'],
  ])('%s', (_case, status, body, kind) => {
    const failed = failure(status, body);
    expect(failed).toMatchObject({ name: 'UpstreamFailure', kind, details: { status } });
  });

  test.each([
    ['OpenAI', openai('context_length_exceeded', 'x', 'messages'), 'context_length_exceeded', 'messages'],
    [
      'vLLM',
      { object: 'error', message: "This model's maximum context length is 10 tokens." },
      'context_length_exceeded',
      null,
    ],
    [
      'llama.cpp',
      {
        error: {
          type: 'exceed_context_size_error',
          message: 'the request exceeds the available context size',
        },
      },
      'context_length_exceeded',
      null,
    ],
    [
      'OpenAI',
      openai('unsupported_value', "'temperature' does not support 0.5 with this model.", 'temperature'),
      'unsupported_value',
      'temperature',
    ],
    [
      'OpenAI',
      openai('unsupported_parameter', "Use 'max_completion_tokens' instead.", 'max_tokens'),
      'unsupported_value',
      'max_tokens',
    ],
    [
      'xAI',
      { error: 'Argument not supported on this model: presence_penalty' },
      'unsupported_value',
      'presence_penalty',
    ],
    [
      'OpenAI',
      openai('invalid_image_format', 'x', 'messages[1].content'),
      'invalid_request',
      'messages[1].content',
    ],
    ['Azure', openai('content_filter', 'x', 'prompt'), 'invalid_request', 'prompt'],
  ])('the caller gets code and field of %s: %j', (_case, body, code, param) => {
    expect(failure(400, body)).toMatchObject({ kind: 'caller', details: { code, param } });
  });

  test.each([
    [
      openai('invalid_json_schema', "Invalid schema for response_format 'answer': 'type' is missing."),
      "Invalid schema for response_format 'answer': 'type' is missing.",
      { code: 'invalid_request', exactCode: 'invalid_json_schema', param: 'response_format' },
    ],
    [
      openai('invalid_prompt', 'Your prompt was flagged as potentially violating our usage policy.'),
      'Your prompt was flagged as potentially violating our usage policy.',
      { exactCode: 'invalid_prompt' },
    ],
    [
      { detail: [{ loc: ['body', 'messages', 0, 'content'], msg: 'Field required', input: 'my secret' }] },
      'messages[0].content: Field required',
      { param: 'messages[0].content' },
    ],
    [{ object: 'error', message: 'seed must be positive.', code: 400 }, 'seed must be positive.', {}],
    [{ error: {} }, 'The provider refused the request.', {}],
  ])('keeps its explanation: %j', (body, publicMessage, details) => {
    expect(failure(400, body)).toMatchObject({ kind: 'caller', details: { publicMessage, ...details } });
  });

  test('no keys, accounts and quotations are passed on', () => {
    const canary = 'sk-canary1 org-canary12 "my secret prompt" \'my secret prompt\' `my secret prompt`';
    for (const status of [400, 401, 404, 413, 422, 429, 500]) {
      const failed = failure(status, openai(canary, canary, canary));
      expect(`${failed.stack}${JSON.stringify(failed)}`).not.toContain('canary');
      expect(`${failed.stack}${JSON.stringify(failed)}`).not.toContain('secret');
    }
  });

  test.each(['model ', 'invalid ', 'api key ', '-', 'context '])('a message full of %j ends', (word) => {
    const message = word.repeat(500_000 / word.length);
    expect(ends(() => failure(400, openai(null, message)))).toMatchObject({ kind: 'caller' });
  });
});

describe('Retry-After', () => {
  test.each([
    [{ 'retry-after': '7' }, 7],
    [{ 'retry-after': '0.2' }, 1],
    [{ 'retry-after': '1000000000' }, 60],
    [{ 'retry-after': '-5' }, undefined],
    [{ 'retry-after': '30s' }, 30],
    [{ 'retry-after': '350ms' }, 1],
    [{ 'retry-after': '0m12.5s' }, 13],
    [{ 'retry-after': '1h0m0s' }, 60],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'retry-after': '' }, undefined],
    [{}, undefined],
    [{ 'retry-after-ms': '1500', 'retry-after': '9' }, 2],
    [{ 'x-ms-retry-after-ms': '1500', 'retry-after': '9' }, 2],
    [{ 'retry-after': 'Sat, 21 Nov 2026 08:00:30 GMT', date: 'Sat, 21 Nov 2026 08:00:00 GMT' }, 30],
    [{ 'retry-after': 'Sat, 21 Nov 2026 07:00:00 GMT', date: 'Sat, 21 Nov 2026 08:00:00 GMT' }, 0],
    [{ 'retry-after': 'Sat, 21 Nov 2099 08:00:00 GMT' }, 60],
  ])('%j is %s seconds', (headers, seconds) => {
    expect(retryAfterSeconds(headers as Record<string, string>)).toBe(seconds);
    const { details } = failure(429, '', headers as Record<string, string>);
    expect(details.retryAfterSeconds).toBe(seconds);
  });
});
