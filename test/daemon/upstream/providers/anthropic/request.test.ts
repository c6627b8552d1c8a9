import { describe, expect, test } from 'vitest';
import type { Inference } from '../../../../../src/daemon/features/upstreams/neutral.ts';
import type { UpstreamCall } from '../../../../../src/daemon/features/upstreams/upstream.ts';
import { anthropicAdapter } from '../../../../../src/daemon/upstream/providers/anthropic/index.ts';
import { user } from '../../../../support/inference.ts';
import {
  answered,
  assistant,
  called,
  functionTool,
  upstreamCall,
} from '../../../../support/upstream-call.ts';

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

function thinkingFor(model: string, inference: Partial<Inference>, call: Partial<UpstreamCall> = {}) {
  const { thinking, output_config: config } = bodyFor(model, inference, call);
  return { thinking, effort: (config as { effort?: string } | undefined)?.effort };
}

const effort = (level: string, summary?: string) => ({ reasoning: { effort: level, summary } });

describe('reasoning', () => {
  test.each<[string, string, unknown, string | undefined]>([
    ['claude-3-5-haiku-20241022', 'high', undefined, undefined],
    ['claude-sonnet-4-5', 'minimal', { type: 'enabled', budget_tokens: 2048 }, undefined],
    ['claude-sonnet-4-5', 'high', { type: 'enabled', budget_tokens: 16_384 }, undefined],
    ['claude-opus-4-6', 'medium', { type: 'adaptive' }, 'medium'],
    ['claude-opus-4-6', 'xhigh', { type: 'adaptive' }, 'high'],
    ['claude-opus-4-8', 'xhigh', { type: 'adaptive' }, 'xhigh'],
    ['claude-sonnet-5', 'max', { type: 'adaptive' }, 'max'],
    ['claude-fable-5', 'minimal', { type: 'adaptive' }, 'low'],
    ['kimi-k3', 'high', undefined, undefined],
    ['claude-sonnet-4-5', 'constructor', undefined, undefined],
    ['claude-opus-4-8', 'odd', undefined, undefined],
  ])('of %s at effort %s', (model, level, thinking, sent) => {
    expect(thinkingFor(model, effort(level))).toEqual({ thinking, effort: sent });
  });

  test.each<[string, unknown, string | undefined]>([
    ['claude-sonnet-4-5', undefined, undefined],
    ['claude-opus-4-8', undefined, undefined],
    ['claude-opus-5', { type: 'disabled' }, undefined],
    ['claude-haiku-5-5', { type: 'disabled' }, undefined],
    ['claude-sonnet-5', { type: 'disabled' }, undefined],
    ['claude-sonnet-5-5', { type: 'between_tools' }, undefined],
    ['claude-opus-5-5', undefined, 'low'],
    ['claude-fable-5', undefined, 'low'],
  ])('of %s is turned off as far as possible', (model, thinking, sent) => {
    expect(thinkingFor(model, effort('none'))).toEqual({ thinking, effort: sent });
  });

  test('without settings is left to the model', () => {
    expect(thinkingFor('claude-opus-5', {})).toEqual({ thinking: undefined, effort: undefined });
  });

  test('is shown if a summary is requested', () => {
    const shown = { type: 'adaptive', display: 'summarized' };
    expect(thinkingFor('claude-opus-4-8', effort('low', 'auto')).thinking).toEqual(shown);
    const unsaid = { reasoning: { effort: undefined, summary: 'auto' } };
    expect(thinkingFor('claude-opus-4-8', unsaid).thinking).toEqual(shown);
    expect(thinkingFor('claude-opus-4-6', unsaid).thinking).toEqual({ type: 'adaptive' });
  });

  test('leaves room for the answer, and is dropped if there is none', () => {
    const budget = (tokens: number) =>
      thinkingFor('claude-sonnet-4-5', effort('high'), { outputTokensMax: tokens }).thinking;
    expect(budget(4000)).toEqual({ type: 'enabled', budget_tokens: 3200 });
    expect(budget(1200)).toBeUndefined();
  });

  test('is not requested with a forced tool', () => {
    const forced = {
      ...effort('high'),
      tools: [functionTool('look')],
      toolChoice: { mode: 'required' },
    } satisfies Partial<Inference>;
    expect(thinkingFor('claude-sonnet-4-5', forced)).toEqual({ thinking: undefined, effort: undefined });
    expect(thinkingFor('claude-opus-4-6', forced)).toEqual({ thinking: undefined, effort: 'high' });
  });
});

describe('earlier thoughts', () => {
  const model = 'claude-sonnet-4-5';
  const thought = (
    payload: unknown,
    origin = { provider: 'anthropic', model },
  ): Inference['items'][number] => ({
    type: 'reasoning',
    summary: ['What they read.'],
    origin: { ...origin, payload },
  });
  const signed = { thinking: 'Hm.', signature: 'sig' };
  const contents = (items: Inference['items'], name = model) =>
    bodyFor(name, { items }).messages.map(({ content }) => content);
  const types = (content: Record<string, unknown>[] | undefined) => content?.map(({ type }) => type);

  test('are sent back unchanged, before the call of the same turn', () => {
    const items = [
      user('Look.'),
      thought(signed),
      thought({ data: 'sealed' }),
      assistant('I will.'),
      called('a', 'look'),
      answered('a', 'A'),
    ];
    expect(contents(items)[1]?.slice(0, 2)).toEqual([
      { type: 'thinking', ...signed },
      { type: 'redacted_thinking', data: 'sealed' },
    ]);
    expect(types(contents(items)[1])?.slice(2)).toEqual(['text', 'tool_use']);
  });

  test.each<[string, Inference['items'][number]]>([
    ['another provider', thought(signed, { provider: 'other', model })],
    ['another model', thought(signed, { provider: 'anthropic', model: 'claude-opus-4-5' })],
    ['an unknown source', { type: 'reasoning', summary: ['Hm.'], origin: undefined }],
    ['something damaged', thought({ thinking: 'Hm.' })],
  ])('of %s are dropped, and never become text', (_whose, item) => {
    expect(contents([user('Hi'), item, assistant('Hello'), user('So?')])[1]).toEqual([
      { type: 'text', text: 'Hello' },
    ]);
  });

  test('do not end a turn', () => {
    expect(contents([user('Hi'), assistant('Hel'), thought(signed), user('So?')]).map(types)).toEqual([
      ['text'],
      ['text'],
      ['text'],
    ]);
    expect(contents([user('Hi'), thought(signed), user('So?')]).map(types)).toEqual([['text', 'text']]);
  });

  test('that are missing from the turn of a call disable further thinking of a budget model', () => {
    const items = [user('Look.'), called('a', 'look'), answered('a', 'A')];
    expect(thinkingFor(model, { ...effort('high'), items }).thinking).toBeUndefined();
    const whole = [user('Look.'), thought(signed), called('a', 'look'), answered('a', 'A')];
    expect(thinkingFor(model, { ...effort('high'), items: whole }).thinking).toBeDefined();
  });

  test('may be dropped instead of refused by a model that binds them to their prompt', () => {
    const newest = 'claude-opus-5-5';
    const items = [
      user('Hi'),
      thought(signed, { provider: 'anthropic', model: newest }),
      assistant('Yes?'),
      user('So?'),
    ];
    const { headers, body } = adapter.request(upstreamCall(newest, { items }));
    expect((JSON.parse(body) as Record<string, unknown>).thinking).toEqual({
      type: 'adaptive',
      block_binding: { prefix_mismatch_behavior: 'drop_block' },
    });
    expect(headers['anthropic-beta']).toContain('thinking-binding-controls');
    expect(adapter.request(upstreamCall('claude-opus-5', { items })).headers).not.toHaveProperty(
      'anthropic-beta',
    );
  });
});
