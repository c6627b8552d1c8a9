import { describe, expect, test } from 'vitest';
import { argumentsText, forcedCallOf } from '../../../../src/daemon/upstream/engine/chat-request.ts';

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

  test('that are cut fail', () => {
    expect(() => forcedCallOf('{"name":"pay","arguments":{"id":90')).toThrow(SyntaxError);
  });

  test('of an offered tool keep every digit, unless the text is not what was parsed', () => {
    expect(argumentsText('{"id":9007199254740993}', { id: 2 ** 53 })).toBe('{"id":9007199254740993}');
    expect(argumentsText('{"word":"na\ufffdve"}', { word: 'na\u00efve' })).toBe('{"word":"na\u00efve"}');
    expect(argumentsText('', undefined)).toBe('{}');
  });
});
