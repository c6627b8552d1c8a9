import { describe, expect, test } from 'vitest';
import { behindRouter, endedWith } from '../../../../src/daemon/upstream/providers/finish-reasons.ts';

const having = (isUsable: boolean) => ({ provider: 'p', isUsable });
const failure = expect.objectContaining({ kind: 'server' });

describe('after a text', () => {
  test.each([
    ...[
      'stop',
      'STOP',
      'end_turn',
      'tool_calls',
      'tool_use',
      'function_call',
      'eos',
      'eos_token',
      'COMPLETE',
    ],
    ...['stop_sequence', 'pause_turn', 'compaction', 'OTHER', 'unheard_of', '', 'constructor'],
  ])('%j is stop', (word) => {
    expect(endedWith(word, having(true)).reason).toBe('stop');
  });

  test.each([
    ...['length', 'max_tokens', 'MAX_TOKENS', 'max_output_tokens', 'model_length', 'Max Tokens', 'maxTokens'],
    ...['model_context_window_exceeded', 'context_length_exceeded', 'token_limit', 'repetition', 'truncated'],
    'max_prompt_tokens_reached',
  ])('%j is a limit', (word) => {
    expect(endedWith(word, having(true)).reason).toBe('max_output_tokens');
  });

  test.each([
    ...[
      'content_filter',
      'content_filter: RECITATION',
      'content_filter:PROHIBITED_CONTENT',
      'SAFETY',
      'sensitive',
    ],
    ...[
      'refusal',
      'RECITATION',
      'BLOCKLIST',
      'SPII',
      'IMAGE_SAFETY',
      'guardrail_intervened',
      'content-filtered',
    ],
    ...['content_filter: A_NEW_ONE', 'harmful_output'],
  ])('%j is a filter', (word) => {
    expect(endedWith(word, having(true)).reason).toBe('content_filter');
  });

  test.each([
    ...['error', 'ERROR', 'abort', 'aborted', 'network_error', 'insufficient_system_resource', 'cancelled'],
    ...['MALFORMED_FUNCTION_CALL', 'function_call_filter: MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL'],
    ...[
      'function_call_filter: A_NEW_ONE',
      'MALFORMED_RESPONSE',
      'upstream_error',
      'timeout',
      'engine_failure',
    ],
  ])('%j is a failure that is named', (word) => {
    const thrown = expect.objectContaining({
      kind: 'server',
      details: expect.objectContaining({ publicMessage: `The answer ended with ${word}.` }),
    });
    expect(() => endedWith(word, having(true))).toThrow(thrown);
  });
});

describe('without anything that a caller could use', () => {
  test.each([undefined, '', 'stop', 'end_turn', 'eos'])('%j is stop', (word) => {
    expect(endedWith(word, having(false))).toMatchObject({ reason: 'stop' });
  });

  test.each(['OTHER', 'unheard_of', 'tool_calls', 'tool_use', 'function_call'])('%j is a failure', (word) => {
    expect(() => endedWith(word, having(false))).toThrow(failure);
  });
});

test('the provider’s word is kept where it says more', () => {
  expect(endedWith('stop', having(true))).toEqual({ reason: 'stop' });
  expect(endedWith('MAX_TOKENS', having(true))).toEqual({ reason: 'max_output_tokens' });
  expect(endedWith('SAFETY', having(true))).toEqual({ reason: 'content_filter', providerReason: 'SAFETY' });
  expect(endedWith('unheard_of', having(true))).toEqual({ reason: 'stop', providerReason: 'unheard_of' });
});

test('a word that could be a text is not repeated', () => {
  const text = `The prompt was ${'x'.repeat(200)}`;
  expect(endedWith(text, having(true)).providerReason).toBe('an unknown reason');
});

test.each([
  ['stop', 'MALFORMED_FUNCTION_CALL', 'MALFORMED_FUNCTION_CALL'],
  ['stop', 'SAFETY', 'SAFETY'],
  ['stop', 'STOP', 'stop'],
  ['stop', 'unheard_of', 'stop'],
  ['stop', undefined, 'stop'],
  ['length', 'error', 'length'],
  [undefined, 'error', undefined],
])('a router says %s, its provider %s', (word, native, expected) => {
  expect(behindRouter(word, native)).toBe(expected);
});
