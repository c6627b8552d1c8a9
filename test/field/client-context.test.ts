import { describe, expect, test } from 'vitest';
import { anthropicFailure } from '../../src/daemon/upstream/providers/anthropic/failure.ts';
import { googleFailure } from '../../src/daemon/upstream/providers/google/failure.ts';
import {
  openAiFailure,
  openAiStreamFailure,
} from '../../src/daemon/upstream/providers/openai-chat/failure.ts';
import { failures } from '../../src/shared/errors.ts';

/** What providers say when the input does not fit, shortened, with who reported it. */
const sentences = [
  ['Anthropic, stackblitz/bolt.new#2449', 'prompt is too long: 202095 tokens > 200000 maximum'],
  [
    'Anthropic, stackblitz/bolt.new#7414',
    'input length and max_tokens exceed context limit: 90402 + 116650 > 204648',
  ],
  ['Bedrock, earendil-works/pi#2626', 'Input is too long for requested model.'],
  [
    'OpenAI, webtimemachine/wtm2#579',
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 204308 tokens.",
  ],
  [
    'OpenAI, openclaw/openclaw#7279',
    'Your input exceeds the context window of this model. Please adjust your input and try again.',
  ],
  ['Google', 'The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).'],
  [
    'xAI, musistudio/claude-code-router#1799',
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
  ],
  [
    'Moonshot, kortix-ai/suna#6368',
    'Invalid request: Your request exceeded model token limit: 262144 (requested: 310000)',
  ],
  ['Z.AI, kortix-ai/suna#6368', 'Prompt exceeds max length'],
  ['Z.AI', 'Prompt 超长'],
  ['Alibaba', 'Range of input length should be [1, 30720]'],
  ['Alibaba', '输入长度超过模型上限'],
  ['Copilot', 'prompt token count of 150000 exceeds the limit of 128000'],
  [
    'TGI',
    'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens and 512 `max_new_tokens`',
  ],
  ['Groq', 'Please reduce the length of the messages or completion.'],
  [
    'OpenRouter, openclaw/openclaw#85921',
    "This endpoint's maximum context length is 262144 tokens. However, you requested about 284283 tokens.",
  ],
  ['Together', "The input (300 tokens) is longer than the model's context length (200 tokens)."],
  [
    'Poolside, earendil-works/pi#4943',
    'Input length 131393 exceeds the maximum allowed input length of 131040 tokens.',
  ],
  ['Mistral', 'Prompt contains 140000 tokens, too large for model with 131072 maximum context length'],
  ['MiniMax', 'invalid params, context window exceeds limit (2013)'],
  ['llama.cpp', 'the request exceeds the available context size, try increasing it'],
  ['llama.cpp', 'Context size has been exceeded.'],
  ['LM Studio', 'The number of tokens to keep from the initial prompt is greater than the context length.'],
  ['Ollama', 'prompt too long; exceeded max context length by 4 tokens'],
  [
    'vLLM, earendil-works/pi#5930',
    "This model's maximum context length is 262144 tokens. However, your prompt contains at least 262145 input tokens.",
  ],
  [
    'ds4-server, earendil-works/pi#6262',
    'Prompt has 256468 tokens, but the configured context size is 256000 tokens',
  ],
  ['anomalyco/opencode#27519', 'tokens in request more than max tokens allowed'],
  [
    'GitHub Models, evalstate/fast-agent#346',
    'Request body too large for gpt-4o model. Max size: 8000 tokens.',
  ],
  [
    'LiteLLM, earendil-works/pi#4563',
    'Requested token count exceeds the model’s maximum context length of 131072 tokens',
  ],
] as const;

const apis = {
  openai: (status: number, message: string) =>
    openAiFailure('p', status, {}, JSON.stringify({ error: { message, type: 'invalid_request_error' } })),
  anthropic: (status: number, message: string) =>
    anthropicFailure('p', status, {}, JSON.stringify({ error: { message, type: 'invalid_request_error' } })),
  google: (status: number, message: string) =>
    googleFailure('p', status, {}, JSON.stringify({ error: { message, status: 'INVALID_ARGUMENT' } })),
};

describe.each(sentences)('%s: %s', (_, sentence) => {
  test.each(Object.keys(apis) as (keyof typeof apis)[])('is a full context, in the format %s', (api) => {
    const { kind, details } = apis[api](400, sentence);
    expect({ kind, code: details.code }).toEqual({ kind: 'caller', code: 'context_length_exceeded' });
    // Clients know the sentence of the provider, too.
    expect(details.publicMessage?.slice(0, 20)).toBe(sentence.slice(0, 20));
  });

  test('is a full context as an error of the server, and in a stream', () => {
    for (const failure of [apis.openai(500, sentence), openAiStreamFailure('p', { message: sentence })])
      expect(failure).toMatchObject({ kind: 'caller', details: { code: 'context_length_exceeded' } });
  });
});

test.each(['context_length_exceeded', 'model_max_prompt_tokens_exceeded', 'exceed_context_size_error'])(
  'the code %s alone is a full context',
  (code) => {
    const { details } = openAiFailure('p', 400, {}, JSON.stringify({ error: { code, message: '' } }));
    expect(details).toMatchObject({
      code: 'context_length_exceeded',
      publicMessage: failures.context_length_exceeded.message,
    });
  },
);

/** Claude Code and opencode look for the one or the other. */
test('our own sentence has the words that clients look for', () => {
  expect(failures.context_length_exceeded.message).toMatch(/prompt is too long.*exceeds the context window/i);
});

/** Sentences about other limits: a shorter conversation would not help. */
test.each([
  'max_tokens exceeds the limit of 8192',
  '`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than the `context_window` for this model',
  'max_tokens is too large: 100000. This model supports at most 16384 completion tokens.',
  'Invalid value for max_output_tokens: must be at most 128000.',
  'messages.0.content.1.image.source: image exceeds 5 MB maximum',
  'tools.0.name: String should have at most 64 characters',
  'Invalid input[0].call_id: string too long. Expected a string with maximum length 64, but got 70 instead.',
  'stop: too many stop sequences, the limit is 4',
  'The prompt violates the usage policy.',
  'Request exceeds the maximum size of 32 MB',
])('%s is none', (sentence) => {
  for (const api of Object.values(apis))
    expect(api(400, sentence).details.code).not.toBe('context_length_exceeded');
});
