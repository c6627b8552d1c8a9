import { describe, expect, test } from 'vitest';
import { anthropic } from '../../src/daemon/upstream/providers/anthropic/index.ts';
import { googleAdapter } from '../../src/daemon/upstream/providers/google/index.ts';
import { chatAdapter } from '../../src/daemon/upstream/providers/openai-chat/adapter.ts';
import { errorStatusIn } from '../../src/daemon/upstream/response-body.ts';

/** What refusals say, wherever their servers write it. The texts are ours. */

const settings = { name: 'p', baseUrl: 'https://p.example/v1' };
const adapters = {
  chat: chatAdapter(settings),
  messages: anthropic.adapter(settings, 'messages'),
  google: googleAdapter(settings),
};

function refusal(format: keyof typeof adapters, status: number, body: unknown) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return adapters[format].failure(status, {}, text);
}

const said = 'At most one picture is allowed';
const inside = { error: { message: said, type: 'invalid_request_error' } };
const routed = (raw: unknown) => ({
  error: { message: 'Provider returned error', code: 400, metadata: { raw } },
});

describe.each([
  ['in a message that is JSON', 'cline/cline#5202', { error: { message: JSON.stringify(inside) } }],
  [
    'of a server behind, without an error around',
    'NousResearch/hermes-agent#94199',
    { message: 'Provider returned error', code: 400, metadata: { raw: said } },
  ],
  ['in a detail', 'openclaw/openclaw#45216', { detail: said }],
  ['in a detail that is an object', 'openclaw/openclaw#45216', { detail: inside }],
  [
    'after the names of its classes',
    'BerriAI/litellm#17131',
    {
      error: {
        message: `litellm.BadRequestError: VertexAIException - b'{\\n  "error": {\\n    "code": 400,\\n    "message": "${said}",\\n    "status": "INVALID_ARGUMENT"}}'`,
        code: '400',
      },
    },
  ],
  [
    'in Python’s quotation marks',
    'OpenHands/OpenHands#3408',
    {
      error: {
        message: `OpenAIException - Error code: 400 - {'error': {'message': '${said}', 'code': 400}}`,
      },
    },
  ],
  [
    'in a fault that Python prints',
    'vllm-project/vllm#6631',
    {
      object: 'error',
      message: `[{'type': 'value_error', 'loc': ('body',), 'msg': '${said}', 'input': {'messages': []}}]`,
    },
  ],
  ['as a text', 'Usagi-org/ai-goofish-monitor#57', said],
  ['as a text of JSON', 'lessweb/deepcode-cli#352', JSON.stringify(said)],
  ['as an event', 'BerriAI/litellm#17131', `data: ${JSON.stringify(inside)}\n\n`],
  ['in a list', 'n4ze3m/page-assist#406', [inside]],
])('a refusal %s (%s)', (_where, _cite, body) => {
  test.each(['chat', 'messages', 'google'] as const)('is read as %s', (format) => {
    expect(refusal(format, 400, body)).toMatchObject({ kind: 'caller', details: { publicMessage: said } });
  });
});

describe('of the server behind a router', () => {
  test.each([
    ['a text', 'open-webui/computer#293', said],
    ['JSON', 'diegosouzapw/OmniRoute#3044', JSON.stringify(inside)],
    ['an object', 'smixs/iva-agent#18', inside],
    ['an event', 'decocms/studio#6827', `data: ${JSON.stringify(inside)}\n\n`],
  ])('%s is what callers read (%s)', (_form, _cite, raw) => {
    expect(refusal('chat', 400, routed(raw)).details.publicMessage).toBe(said);
  });

  test('a prompt that is too long is told as such', () => {
    const { code } = refusal('chat', 400, routed('{"message":"prompt is too long: 9 > 8"}')).details;
    expect(code).toBe('context_length_exceeded');
  });

  test('an empty account there says nothing of ours', () => {
    expect(refusal('chat', 400, routed('Your credit balance is too low')).kind).toBe('caller');
    expect(refusal('chat', 400, { error: { message: 'Your credit balance is too low' } }).kind).toBe(
      'billing',
    );
  });
});

test('a text says nothing where it may be of a server in between', () => {
  expect(refusal('chat', 404, '404 page not found')).toMatchObject({ kind: 'server' });
  expect(refusal('chat', 502, said).details.publicMessage).toBeUndefined();
  expect(refusal('chat', 400, '<html>Bad Request</html>').details.publicMessage).toBeUndefined();
});

// interviewstreet/hiring-agent#243 and vercel/ai#18627: Gemini names the wait in the body only, also where it speaks OpenAI's format.
test.each(['chat', 'google'] as const)('the wait that Gemini asks for is kept, as %s', (format) => {
  const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.07s' }];
  const body = [{ error: { code: 429, message: 'Slower', status: 'RESOURCE_EXHAUSTED', details } }];
  expect(refusal(format, 429, body)).toMatchObject({
    kind: 'rate-limited',
    details: { retryAfterSeconds: 35 },
  });
});

const limited = (message: string, more = {}) => ({
  error: { message, type: 'tokens', code: 'rate_limit_exceeded', ...more },
});

test.each([
  ['openai/codex#303', limited('Rate limit reached. Please try again in 6.379s.'), 7],
  ['openai/codex#2266', limited('Rate limit reached. Please try again in 350ms.'), 1],
  ['openai/codex#3764', limited('Rate limit is exceeded. Try again in 17 seconds.'), 17],
  [
    'icereed/paperless-gpt#814',
    limited('You exceeded the token rate limit. Please retry after 45 seconds.'),
    45,
  ],
  ['Kilo-Org/kilocode#14269', limited('Quota exceeded. Please retry in 26.660853464s.'), 27],
  ['lidge-jun/opencodex#5041', limited('Your limit will reset in 35 seconds'), 35],
  ['minutes', limited('Please try again in 1m2.5s.'), 60],
  ['milliseconds', limited('Please try again in 20 milliseconds.'), 1],
  ['raine/claude-code-proxy#139', limited('Slower', { resets_in_seconds: 9 }), 9],
  ['of a router', limited('Slower', { metadata: { retry_after_seconds: '12' } }), 12],
  ['no number', limited('Please try again in a few seconds.'), undefined],
  ['no wait', limited('Limit 30 per minute.'), undefined],
])('the wait that a rate limit names is kept without a header (%s)', (_cite, body, seconds) => {
  for (const format of ['chat', 'messages', 'google'] as const) {
    const { kind, details } = refusal(format, 429, body);
    expect({ kind, seconds: details.retryAfterSeconds }).toEqual({ kind: 'rate-limited', seconds });
  }
});

/** What the texts of the other servers say is no refusal of what was asked: the model is there and does not run. */
test.each([
  ['tinyhumansai/openhuman#4181', 400, { message: 'No models loaded. Load one first.', param: 'model' }],
  ['continuedev/continue#10150', 400, { message: 'Failed to load model "m". Error: Error loading model.' }],
  ['continuedev/continue#10150', 404, { message: 'Failed to load model "m".', code: 'model_not_found' }],
  ['lmstudio-ai/lmstudio-bug-tracker#1492', 400, 'Model unloaded.'],
  ['lmstudio-ai/lmstudio-bug-tracker#2255', 500, 'The model has crashed. (Exit code: null)'],
  ['Blaizzy/mlx-vlm#1717', 400, { message: 'Failed to load model: unsupported architecture' }],
])('a model that its server cannot run now (%s, %i)', (_cite, status, error) => {
  const message = typeof error === 'string' ? error : error.message;
  expect(refusal('chat', status, { error })).toMatchObject({
    kind: 'server',
    details: { publicMessage: message, status },
  });
});

test('a caller who quotes such a sentence changes nothing', () => {
  const error = { message: 'Invalid value: "No models loaded" is no role.', param: 'messages[0].role' };
  expect(refusal('chat', 400, { error })).toMatchObject({ kind: 'caller' });
});

/** lmstudio-ai/lmstudio-bug-tracker#618, pssah4/vault-operator#73 */
test('the answer of LM Studio to an address that it does not have', () => {
  const answer = { error: 'Unexpected endpoint or method. (POST /chat/completions)' };
  expect(errorStatusIn(answer)).toBe(404);
  expect(refusal('chat', 404, answer)).toMatchObject({ kind: 'server', details: { status: 404 } });
});
