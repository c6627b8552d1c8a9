import { Script } from 'node:vm';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { TooLarge } from '../../../../../src/daemon/upstream/simulator/instance/generator-state.ts';
import { textForPattern } from '../../../../../src/daemon/upstream/simulator/instance/pattern-text.ts';
import { fakeCpuTime } from '../../../../support/fake-cpu-time.ts';
import { make } from './make.ts';

describe('hostile schemas', () => {
  test('an inherited property name is an ordinary property', () => {
    const schema = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"const":1}},"required":["__proto__"]}',
    );
    expect(JSON.stringify(make(schema))).toBe('{"__proto__":1}');
  });

  test('references that double at each level are bounded', () => {
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

  test('a pattern with exponential backtracking is stopped, and no more are tried', () => {
    const runs = vi.spyOn(Script.prototype, 'runInContext');
    // Each search takes as long as it may.
    let ms = 0;
    fakeCpuTime(() => {
      ms += 20;
      return ms;
    });
    onTestFinished(() => runs.mockRestore());
    const evil = { type: 'string', pattern: '^(a+)+$' };
    const properties = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`p${at}`, evil]));
    const made = make({ type: 'object', properties }, `"${'a'.repeat(100)}!"`);
    expect(made).toMatchObject({ p0: 'a', p199: 'a' });
    expect(runs).toHaveBeenCalledTimes(1);
  });

  test.each(['(((a{9}){9}){9}){9}', '((){2000}){2000}', '('.repeat(5000), 'a{999999999}'])(
    '%.20s is rejected',
    (pattern) => {
      expect(textForPattern(pattern, { lengthMin: 0, lengthMax: 1e9, ordinal: 0 })).toBeUndefined();
    },
  );
});
