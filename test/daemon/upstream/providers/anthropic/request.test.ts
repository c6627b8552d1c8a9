import { describe, expect, test } from 'vitest';
import type { Inference } from '../../../../../src/daemon/features/inference/neutral.ts';
import type { UpstreamCall } from '../../../../../src/daemon/features/inference/upstream.ts';
import { anthropicAdapter } from '../../../../../src/daemon/upstream/providers/anthropic/index.ts';
import { user } from '../../../../support/inference.ts';
import { answered, called, upstreamCall } from '../../../../support/upstream-call.ts';

type Body = Record<string, unknown> & {
  messages: { role: string; content: Record<string, unknown>[] }[];
  tools?: Record<string, unknown>[];
};

const adapter = anthropicAdapter({ name: 'anthropic', baseUrl: 'https://api.anthropic.com' });
const bodyOf = (call: UpstreamCall): Body => JSON.parse(adapter.request(call).body) as Body;
const bodyFor = (model: string, inference: Partial<Inference> = {}, call: Partial<UpstreamCall> = {}): Body =>
  bodyOf(upstreamCall(model, inference, call));

describe('a request', () => {
  test('goes to the Messages API with the key in its header', () => {
    const { url, headers } = adapter.request(upstreamCall('claude-sonnet-5'));
    expect(url).toBe('https://api.anthropic.com/v1/messages');
    expect(headers).toMatchObject({ 'x-api-key': 'key-for-tests', 'anthropic-version': '2023-06-01' });
    expect(headers['content-type']).toBe('application/json');
  });

  test('can go to a server whose URL ends in the version, without a key', () => {
    const local = anthropicAdapter({ name: 'local', baseUrl: 'http://127.0.0.1:8080/v1' });
    const { url, headers } = local.request(upstreamCall('kimi-k3', {}, { key: undefined }));
    expect(url).toBe('http://127.0.0.1:8080/v1/messages');
    expect(headers).not.toHaveProperty('x-api-key');
  });

  test('is the same each time, so that the prompt can be cached', () => {
    const items = [user('Hi'), called('call:1', 'look'), answered('call:1', 'x'), user('Go on')];
    expect(bodyFor('claude-sonnet-5', { items })).toEqual(bodyFor('claude-sonnet-5', { items }));
  });

  test('always asks for a stream', () => {
    expect(bodyFor('claude-sonnet-5', { stream: false }).stream).toBe(true);
  });
});

describe('max_tokens', () => {
  test.each([
    ['what the budget allows', 100, 4000, 100],
    ['what the caller asked for', undefined, 4000, 4000],
    ['what the model can write', undefined, undefined, 128_000],
    ['no more than the model can write', undefined, 1_000_000, 128_000],
  ])('is %s', (_what, allowed, asked, sent) => {
    const body = bodyFor('claude-opus-5', { outputTokensMax: asked }, { outputTokensMax: allowed });
    expect(body.max_tokens).toBe(sent);
  });

  test.each([
    ['claude-3-haiku-20240307', 4096],
    ['claude-3-5-sonnet-20241022', 8192],
    ['claude-opus-4-1-20250805', 32_000],
    ['claude-sonnet-4-20250514', 64_000],
    ['claude-haiku-4-5-20251001', 64_000],
    ['claude-opus-4-6', 128_000],
    ['some-other-model', 8192],
  ])('of %s is %d by default', (model, tokens) => {
    expect(bodyFor(model).max_tokens).toBe(tokens);
  });
});

describe('prompt caching', () => {
  const named = { body: { model: 'm', prompt_cache_key: 'agent-7' } };

  test('is requested only for callers that name their prompt', () => {
    expect(bodyFor('claude-sonnet-4-5', named).cache_control).toEqual({ type: 'ephemeral' });
    expect(bodyFor('claude-sonnet-4-5')).not.toHaveProperty('cache_control');
  });

  test('is not requested for models without it', () => {
    expect(bodyFor('some-other-model', named)).not.toHaveProperty('cache_control');
  });
});

describe('sampling', () => {
  const sampling = { temperature: 1.6, topP: 0.9, topK: 5, presencePenalty: 1, seed: 3, stop: ['END', '\n'] };

  test.each<[string, Record<string, unknown>]>([
    ['claude-3-haiku-20240307', { temperature: 1, top_p: 0.9, top_k: 5 }],
    ['claude-sonnet-4-6', { temperature: 1, top_p: undefined, top_k: 5 }],
    ['claude-opus-4-7', { temperature: undefined, top_p: undefined, top_k: undefined }],
    ['claude-haiku-5-5', { temperature: undefined, top_p: undefined, top_k: undefined }],
  ])('is sent to %s as far as supported', (model, sent) => {
    const { temperature, top_p, top_k, stop_sequences: stop } = bodyFor(model, { sampling });
    expect({ temperature, top_p, top_k }).toEqual(sent);
    expect(stop).toEqual(['END']);
  });

  test('is left out for a thinking model', () => {
    const body = bodyFor('claude-sonnet-4-6', { sampling, reasoning: { effort: 'low', summary: undefined } });
    expect(body).not.toHaveProperty('temperature');
  });

  test('of several answers is refused', () => {
    expect(() => bodyFor('claude-sonnet-5', { body: { n: 2 } })).toThrow(
      expect.objectContaining({ kind: 'caller', details: expect.objectContaining({ param: 'n' }) }),
    );
  });
});
