import { describe, expect, test } from 'vitest';
import type { Inference } from '../../../../../src/daemon/features/inference/neutral.ts';
import type { UpstreamCall } from '../../../../../src/daemon/features/inference/upstream.ts';
import { anthropicAdapter } from '../../../../../src/daemon/upstream/providers/anthropic/index.ts';
import { user } from '../../../../support/inference.ts';
import {
  answered,
  assistant,
  called,
  functionTool,
  upstreamCall,
} from '../../../../support/upstream-call.ts';

const adapter = anthropicAdapter({ name: 'anthropic', baseUrl: 'https://api.anthropic.com' });
type Content = Record<string, unknown>[];

function thinkingFor(model: string, inference: Partial<Inference>, call: Partial<UpstreamCall> = {}) {
  const body = JSON.parse(adapter.request(upstreamCall(model, inference, call)).body) as Record<
    string,
    unknown
  >;
  return { thinking: body.thinking, effort: (body.output_config as { effort?: string } | undefined)?.effort };
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
  const contents = (items: Inference['items'], name = model): Content[] => {
    const { body } = adapter.request(upstreamCall(name, { items }));
    return (JSON.parse(body) as { messages: { content: Content }[] }).messages.map(({ content }) => content);
  };
  const types = (content: Content | undefined) => content?.map(({ type }) => type);

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
