import { describe, expect, test } from 'vitest';
import { TooLarge } from '../../../../../src/daemon/upstream/simulator/instance/generator-state.ts';
import { textForPattern } from '../../../../../src/daemon/upstream/simulator/instance/pattern-text.ts';
import { make } from './make.ts';

describe('schemas that are meant to harm', () => {
  test('a property that every object inherits is a property like others', () => {
    const schema = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"const":1}},"required":["__proto__"]}',
    );
    expect(JSON.stringify(make(schema))).toBe('{"__proto__":1}');
  });

  test('references that double at each step end soon', () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 40 }, (_, at) => [
        `d${at}`,
        {
          type: 'object',
          required: ['a', 'b'],
          properties: { a: { $ref: `#/$defs/d${at + 1}` }, b: { $ref: `#/$defs/d${at + 1}` } },
        },
      ]),
    );
    expect(() => make({ $ref: '#/$defs/d0', $defs: { ...$defs, d40: { type: 'string' } } })).toThrow(
      TooLarge,
    );
  });

  test.each<[string, unknown]>([
    ['a long list', { type: 'array', minItems: 1e9 }],
    ['many properties', { type: 'object', minProperties: 1e9 }],
    ['a long text', { type: 'string', minLength: 1e9 }],
    ['deep nesting', Array.from({ length: 50_000 }).reduce((inner) => ({ allOf: [inner] }), {})],
  ])('%s is refused', (_what, schema) => {
    expect(() => make(schema)).toThrow();
  });

  test('patterns that would backtrack for ever are stopped, all together in a moment', () => {
    const evil = { type: 'string', pattern: '^(a+)+$' };
    const properties = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`p${at}`, evil]));
    const startedAt = performance.now();
    expect(make({ type: 'object', properties }, `"${'a'.repeat(100)}!"`)).toMatchObject({
      p0: 'a',
      p199: 'a',
    });
    expect(performance.now() - startedAt).toBeLessThan(1000);
  });

  test.each(['(((a{9}){9}){9}){9}', '((){2000}){2000}', '('.repeat(5000), 'a{999999999}'])(
    '%.20s is given up',
    (pattern) => {
      expect(textForPattern(pattern, { lengthMin: 0, lengthMax: 1e9, ordinal: 0 })).toBeUndefined();
    },
  );
});
