import { describe, expect, test } from 'vitest';
import {
  parseSetting,
  prepareReplay,
  replayedHeaders,
  whyNotRepeatable,
} from '../../../src/shared/replay/prepare-replay.ts';

test('a replay leaves the thread, the background, the cache and the store', () => {
  const request = {
    type: 'response.create',
    model: 'acme/large',
    input: 'Hello',
    background: true,
    store: true,
    conversation: 'thread_1',
    service: { thread: 'thread_1', tags: { team: 'a' } },
  };
  const before = structuredClone(request);
  expect(prepareReplay('/v1/responses', request)).toEqual({
    model: 'acme/large',
    input: 'Hello',
    store: false,
    service: { tags: { team: 'a' }, cache: 'off' },
  });
  expect(request).toEqual(before);
});

test('a replay is stored and cached if that is asked for, where its format can be', () => {
  const asked = { store: true, cache: 'read-write' } as const;
  expect(prepareReplay('/v1/responses', { model: 'a', input: 'Hi' }, asked)).toMatchObject({
    store: true,
    service: { cache: 'read-write' },
  });
  expect(prepareReplay('/v1/messages', { model: 'a', messages: [] }, asked)).toEqual({
    model: 'a',
    messages: [],
    service: { cache: 'read-write' },
  });
});

describe('a member', () => {
  const set = (...settings: string[]) => {
    const request = { model: 'a', temperature: 1, messages: [{ role: 'user', content: 'Hi' }] };
    const changes = settings.map((text) => parseSetting(text) ?? { path: '', value: null });
    const { service: _service, ...body } = prepareReplay('/v1/chat/completions', request, { set: changes });
    return body;
  };

  test.each([
    ['temperature=0', { temperature: 0 }],
    ['user=ann', { user: 'ann' }],
    ['stop=["a","b"]', { stop: ['a', 'b'] }],
    ['reasoning.effort=high', { reasoning: { effort: 'high' } }],
    ['messages[0].content=a=b', { messages: [{ role: 'user', content: 'a=b' }] }],
    ['tools[0].type=function', { tools: [{ type: 'function' }] }],
    ['messages[1].role=user', { messages: [{ role: 'user', content: 'Hi' }, { role: 'user' }] }],
  ])('is set by %s', (text, expected) => {
    expect(set(text)).toMatchObject(expected);
  });

  test('is removed by no value', () => {
    expect(set('temperature=')).not.toHaveProperty('temperature');
    expect(set('messages[0]=')).toMatchObject({ messages: [] });
  });

  test.each(['a b=1', '=1', '__proto__.polluted=1', 'a.constructor.prototype.polluted=1', 'model.name=1'])(
    'cannot be set by %s',
    (text) => {
      expect(() => set(text)).toThrow(TypeError);
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    },
  );
});

test('what is missing in a request is named', () => {
  expect(whyNotRepeatable('{"input":"Hi"}', false)).toBeUndefined();
  expect(whyNotRepeatable('{"input":"Hi"}', true)).toContain('deleted');
  expect(whyNotRepeatable('{"input":"key [removed]"}', false)).toContain('[removed]');
  for (const text of ['', '{', '[]', '"a"', 'null'])
    expect(whyNotRepeatable(text, false)).toContain('JSON object');
});

test('headers that change what a provider does are sent again', () => {
  const headers = [
    { name: 'Anthropic-Beta', value: 'tools' },
    { name: 'authorization', value: '[removed]' },
    { name: 'x-service-conversation', value: 'one' },
  ];
  expect(replayedHeaders(headers)).toEqual({ 'anthropic-beta': 'tools' });
});
