import { describe, expect, test } from 'vitest';
import { anthropicFailure } from '../../../../src/daemon/upstream/providers/anthropic/failure.ts';
import { googleFailure } from '../../../../src/daemon/upstream/providers/google/failure.ts';
import { openAiFailure } from '../../../../src/daemon/upstream/providers/openai-chat/failure.ts';
import {
  callerErrorCode,
  sanitizeProviderMessage,
} from '../../../../src/daemon/upstream/providers/sanitize-provider-message.ts';
import { ends } from '../../../support/ends.ts';

test('quotations are removed, even unterminated ones', () => {
  expect(sanitizeProviderMessage('messages: "my secret \\" plan" is not "max_tokens"')).toBe(
    'messages: "…" is not "max_tokens"',
  );
  expect(sanitizeProviderMessage('unexpected text "my secret plan')).toBe('unexpected text "…"');
  expect(sanitizeProviderMessage('unexpected text "my secret plan\\')).toBe('unexpected text "…"');
});

test.each([
  ["Invalid value: 'tell me a secret'. Use 'auto' or 'none'.", "Invalid value: '…'. Use 'auto' or 'none'."],
  ["The model's tools don't support 'it's my secret' yet.", "The model's tools don't support '…' yet."],
  ["unexpected 'my secret plan", "unexpected '…'"],
  ['`temperature` and `my secret` conflict', '`temperature` and `…` conflict'],
  ['Found “my secret” in “input”', 'Found “…” in “input”'],
  [
    "Input should be a string [type=string_type, input_value={'a': 'secret'}, input_type=dict]",
    'Input should be a string [type=string_type, …',
  ],
  ['Organization org-Ab12Cd34Ef has no access', 'Organization *** has no access'],
  ['Key sk-proj-abcd1234 and gsk_abcd1234 are wrong', 'Key *** and *** are wrong'],
  ['project proj_Ab12Cd34 of jane@example.com', '*** of ***'],
  ['Consumer projects/123456789012 is disabled', 'Consumer *** is disabled'],
  ['account 0190a4d2-3b7c-7def-8abc-0123456789ab is closed', '*** is closed'],
  ['A user-defined function of 128000 tokens', 'A user-defined function of 128000 tokens'],
])('%s', (message, shown) => {
  expect(sanitizeProviderMessage(message)).toBe(shown);
});

test.each([
  ['escaped quotation marks', '\\"'],
  ['quotation marks', '"'],
  ['the beginning of a known sentence', 'input token count '],
  ['what looks like keys', 'sk-'],
  ['what looks like accounts', 'account-a'],
  ['what looks like addresses', 'a@a.'],
  ['apostrophes', "a' 'b"],
])('messages full of %s end: a provider may quote callers', (_what, piece) => {
  const words = piece.repeat(4_000_000 / piece.length);
  expect(ends(() => callerErrorCode(sanitizeProviderMessage(words) + words))).toBe('invalid_request');
});

describe('a caller’s text, quoted by a provider, does not affect the key', () => {
  const openai = (message: string) =>
    openAiFailure('p', 400, {}, JSON.stringify({ error: { message, type: 'invalid_request_error' } }));
  const google = (message: string) =>
    googleFailure(
      'p',
      400,
      {},
      JSON.stringify({ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }),
    );
  const anthropic = (message: string) =>
    anthropicFailure('p', 400, {}, JSON.stringify({ error: { type: 'invalid_request_error', message } }));

  test.each([
    [
      openai,
      "Invalid schema for response_format 'x': In context=('properties', 'invalid api key'), no type.",
    ],
    [openai, 'Invalid value: "incorrect api key provided". Supported values are: "auto".'],
    [openai, 'tools.0.api key is invalid: unknown field'],
    [google, 'Invalid value at \'contents[0].role\' (TYPE_ENUM), "API key not valid"'],
    [google, '* GenerateContentRequest.tools[0].credits are depleted: should be an object.'],
    [google, 'Unknown name "please enable billing" at \'generation_config\': Cannot find field.'],
    [
      anthropic,
      'tools.0.custom.input_schema.properties.credit balance is too low: Input should be an object',
    ],
    [anthropic, 'messages.0: unexpected role "Your credit balance is too low"'],
  ])('%o %s', (failure, message) => {
    expect(failure(message).kind).toBe('caller');
  });

  test('a Google file that the caller may not read does not affect the key', () => {
    const message = 'You do not have permission to access the File abc123 or it may not exist.';
    const body = JSON.stringify({ error: { code: 403, message, status: 'PERMISSION_DENIED' } });
    expect(googleFailure('p', 403, {}, body).kind).toBe('caller');
  });

  test.each([
    [openai, 'Incorrect API key provided: xa***', 'authentication'],
    [openai, 'API key not valid. Please pass a valid API key.', 'authentication'],
    [google, 'API key not valid. Please pass a valid API key.', 'authentication'],
    [google, 'API Key not found. Please pass a valid API key.', 'authentication'],
    [google, 'API key expired. Please renew the API key.', 'authentication'],
    [google, 'Your prepayment credits are depleted. Please go to AI Studio.', 'billing'],
    [
      google,
      'The free tier is not available in your country. Please enable billing on your project.',
      'billing',
    ],
    [
      anthropic,
      'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing.',
      'billing',
    ],
  ])('%o %s: reported by the provider itself', (failure, message, kind) => {
    expect(failure(message).kind).toBe(kind);
  });
});
