import { describe, expect, test } from 'vitest';
import { anthropicFailure } from '../../src/daemon/upstream/providers/anthropic/failure.ts';
import { googleFailure } from '../../src/daemon/upstream/providers/google/failure.ts';
import { openAiFailure } from '../../src/daemon/upstream/providers/openai-chat/failure.ts';

const failures = { openai: openAiFailure, anthropic: anthropicFailure, google: googleFailure };

interface Case {
  cite: string;
  api: keyof typeof failures;
  status: number;
  error: unknown;
  kind: string;
}

const granted = (reason: string) => ({
  code: 403,
  message: 'Permission denied.',
  status: 'PERMISSION_DENIED',
  details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason }],
});

/** What providers say of a key or an account that they refuse, and of a model that it may not use; texts are shortened. */
const cases: Case[] = [
  // The account may not use this model: others go on.
  {
    cite: 'continuedev/continue#10120',
    api: 'openai',
    status: 403,
    error: { message: 'Project `proj_1` does not have access to model `gpt-4.1`' },
    kind: 'forbidden',
  },
  {
    cite: 'Aider-AI/aider#1903',
    api: 'openai',
    status: 403,
    error: {
      message: 'Project `proj_1` does not have access to model `gpt-4o-mini`',
      code: 'model_not_found',
    },
    kind: 'unknown-model',
  },
  {
    cite: 'diegosouzapw/OmniRoute#3027',
    api: 'openai',
    status: 403,
    error: 'this model requires a subscription, upgrade for access',
    kind: 'forbidden',
  },
  {
    cite: 'QuantumNous/new-api#4100',
    api: 'openai',
    status: 403,
    error: { message: 'You are not allowed to sample from this model' },
    kind: 'forbidden',
  },
  {
    cite: 'truefoundry/models#949',
    api: 'openai',
    status: 403,
    error: {
      message: 'User tester is not authorized to access model grok or model does not exist',
      type: 'AuthorizationError',
    },
    kind: 'forbidden',
  },
  {
    cite: 'winfunc/opcode#358',
    api: 'openai',
    status: 401,
    error: {
      message: 'key not allowed to access model. This key can only access models=[]',
      type: 'key_model_access_denied',
      code: '401',
    },
    kind: 'forbidden',
  },
  {
    cite: 'diegosouzapw/OmniRoute#3027',
    api: 'openai',
    status: 403,
    error: {
      message: 'The model `llama` is blocked at the organization level.',
      type: 'permissions_error',
      code: 'model_permission_blocked_org',
    },
    kind: 'forbidden',
  },
  {
    cite: 'diegosouzapw/OmniRoute#3027',
    api: 'anthropic',
    status: 403,
    error: {
      type: 'permission_error',
      message: 'Your API key does not have permission to use the specified resource.',
    },
    kind: 'forbidden',
  },
  {
    cite: 'diegosouzapw/OmniRoute#3027',
    api: 'google',
    status: 403,
    error: { code: 403, message: 'The caller does not have permission', status: 'PERMISSION_DENIED' },
    kind: 'forbidden',
  },
  // The key or the account is closed.
  {
    cite: 'google/generative-ai-docs#356',
    api: 'google',
    status: 403,
    error: granted('CONSUMER_SUSPENDED'),
    kind: 'authentication',
  },
  {
    cite: 'continuedev/continue#12781',
    api: 'google',
    status: 403,
    error: granted('API_KEY_SERVICE_BLOCKED'),
    kind: 'authentication',
  },
  {
    cite: 'songquanpeng/one-api#271',
    api: 'openai',
    status: 403,
    error: {
      message: 'Your OpenAI account has been deactivated, please check your email.',
      code: 'account_deactivated',
    },
    kind: 'authentication',
  },
  {
    cite: 'songquanpeng/one-api#271',
    api: 'openai',
    status: 400,
    error: { message: 'Organization has been restricted. Please reach out to support.' },
    kind: 'authentication',
  },
  {
    cite: 'anthropics/claude-code#8327',
    api: 'anthropic',
    status: 400,
    error: { type: 'invalid_request_error', message: 'This organization has been disabled.' },
    kind: 'authentication',
  },
  // It is out of money, whatever the status.
  {
    cite: 'continuedev/continue#10373',
    api: 'openai',
    status: 429,
    error: 'Your team 16f2 has either used all available credits or reached its monthly spending limit.',
    kind: 'billing',
  },
  {
    cite: 'Anantys-oss/koan#2412',
    api: 'openai',
    status: 403,
    error: 'Your team dead has either used all available credits or reached its monthly spending limit.',
    kind: 'billing',
  },
  {
    cite: 'Wei-Shaw/sub2api#4069',
    api: 'openai',
    status: 403,
    error: 'You have run out of credits or need a Grok subscription.',
    kind: 'billing',
  },
  // What the request says changes nothing.
  {
    cite: 'the caller’s own words',
    api: 'openai',
    status: 400,
    error: { message: 'Invalid value: "my account has been suspended". Supported values are: "a".' },
    kind: 'caller',
  },
  {
    cite: 'the caller’s own words',
    api: 'anthropic',
    status: 400,
    error: { type: 'invalid_request_error', message: 'messages: "the organization was closed" is not valid' },
    kind: 'caller',
  },
];

describe('a refusal', () => {
  test.each(cases)('$cite, $api $status: $kind', ({ api, status, error, kind }) => {
    const body = JSON.stringify(api === 'anthropic' ? { type: 'error', error } : { error });
    expect(failures[api]('p', status, {}, body).kind).toBe(kind);
  });
});

/** How long providers ask to wait, where no header says it. */
test.each([
  [
    'BerriAI/litellm#3274',
    'openai',
    'Rate limit reached for model `m`: Please try again in 46.72s. Visit …',
    47,
  ],
  ['diegosouzapw/OmniRoute#858', 'openai', 'Your quota will reset after 27h41m36s.', 60],
  ['glidea/one-balance#12', 'openai', 'You exceeded your current quota.\nPlease retry in 34.07s.', 35],
  ['glidea/one-balance#12', 'google', 'You exceeded your current quota.\nPlease retry in 34.07s.', 35],
  ['a wait of milliseconds', 'openai', 'Please try again in 6ms.', 1],
  ['Azure', 'openai', 'Please retry after 26 seconds.', 26],
  ['GitHub Models', 'openai', 'Please wait 41 seconds before retrying.', 41],
  ['a gateway in front of it', 'anthropic', 'Too many requests. Try again in 2 minutes.', 60],
  ['no time', 'openai', 'Please retry your request later.', undefined],
] as const)('%s, %s: %s', (_cite, api, message, seconds) => {
  const body = JSON.stringify({ type: 'error', error: { message } });
  const waitOf = (headers: Record<string, string>) =>
    failures[api]('p', 429, headers, body).details.retryAfterSeconds;
  expect(waitOf({})).toBe(seconds);
  expect(waitOf({ 'retry-after': '3' })).toBe(3);
});
