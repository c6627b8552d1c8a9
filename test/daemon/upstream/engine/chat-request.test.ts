import { describe, expect, test } from 'vitest';
import {
  argumentsText,
  conversationOf,
  forcedCallOf,
} from '../../../../src/daemon/upstream/engine/chat-request.ts';

describe('the arguments of a call', () => {
  test('of a required tool keep every digit', () => {
    const text =
      '{"name": "pay", "arguments": {"id": 9007199254740993, "of": {"share": 0.12345678901234567890}}}';
    expect(forcedCallOf(text)).toEqual({
      name: 'pay',
      arguments: '{"id": 9007199254740993, "of": {"share": 0.12345678901234567890}}',
    });
    expect(forcedCallOf('{"name":"note","arguments":{"arguments":"}"}}\n').arguments).toBe(
      '{"arguments":"}"}',
    );
  });

  test('of an earlier call keep every digit when they are written again', () => {
    const text = '{"id":9007199254740993,"of":[0.1234567890123456789,1.50],"n":5,"name":"9"}';
    const calls = [{ id: 'call_1', type: 'function', function: { name: 'pay', arguments: text } }];
    const [item] = conversationOf({ messages: [{ role: 'assistant', tool_calls: calls }] });
    const [call] = item?.type === 'model' ? item.response : [];
    expect(JSON.stringify((call as { params: unknown }).params)).toBe(text);
  });

  test('that are cut fail', () => {
    expect(() => forcedCallOf('{"name":"pay","arguments":{"id":90')).toThrow(SyntaxError);
  });

  test('of an offered tool keep every digit, unless the text is not what was parsed', () => {
    expect(argumentsText('{"id":9007199254740993}', { id: 2 ** 53 })).toBe('{"id":9007199254740993}');
    expect(argumentsText('{"word":"na\ufffdve"}', { word: 'na\u00efve' })).toBe('{"word":"na\u00efve"}');
    expect(argumentsText('', undefined)).toBe('{}');
  });
});
