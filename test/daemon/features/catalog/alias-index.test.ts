import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AliasIndex } from '../../../../src/daemon/features/catalog/catalog.ts';

describe('an alias is found', () => {
  const index = new AliasIndex({
    fast: 'sim/echo',
    'claude-*': 'sim/assistant',
    'claude-haiku-*': 'sim/echo',
    'claude-haiku-4-5': ['sim/one', 'sim/two'],
    'gpt-*-mini*': { 'east/gpt-*-mini': 2, 'west/gpt-*-mini': 1 },
    'anthropic/*': 'openrouter/anthropic/*',
    '*/llama*': 'groq/llama*',
  });

  test.each([
    ['fast', 'sim/echo'],
    ['FAST', 'sim/echo'],
    ['claude-opus-4-8', 'sim/assistant'],
    ['claude-haiku-4-5-20251001', 'sim/echo'],
    ['Claude-Haiku-9', 'sim/echo'],
    ['claude-haiku-4-5', ['sim/one', 'sim/two']],
    ['gpt-5-mini', { 'east/gpt-5-mini': 2, 'west/gpt-5-mini': 1 }],
    ['gpt-5.5-mini-2026-08-01', { 'east/gpt-5.5-mini': 2, 'west/gpt-5.5-mini': 1 }],
    ['anthropic/claude-Opus', 'openrouter/anthropic/claude-Opus'],
    ['meta/llama-4', 'groq/llamameta'],
    ['gpt-5', undefined],
    ['claude', undefined],
    ['openai/claude-haiku-1', undefined],
    ['faster', undefined],
    ['claude-*', 'sim/assistant'],
    ['constructor', undefined],
    ['', undefined],
  ])('%j: %j', (name, target) => {
    expect(index.find(name)).toEqual(target);
  });

  test('and only those with one name are listed', () => {
    expect(index.names()).toEqual(['fast', 'claude-haiku-4-5']);
  });
});

test('a wildcard matches what a regular expression does, and of several the longest counts', () => {
  const part = fc.string({ unit: fc.constantFrom('a', 'b', '*', '/', '.'), maxLength: 8 });
  const plain = fc.string({ unit: fc.constantFrom('a', 'b', '/', '.'), maxLength: 12 });
  fc.assert(
    fc.property(fc.uniqueArray(part, { maxLength: 5 }), plain, (patterns, name) => {
      const index = new AliasIndex(
        Object.fromEntries(patterns.map((pattern) => [pattern, `to ${pattern.length}`])),
      );
      const asExpression = (pattern: string) =>
        new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '.*')}$`);
      const matching = patterns
        .filter((pattern) => pattern === name || pattern.includes('*'))
        .filter(
          (pattern) => pattern.includes('/') === name.includes('/') && asExpression(pattern).test(name),
        );
      const exact = matching.includes(name);
      const longest = Math.max(...matching.map(({ length }) => length));
      const wanted = matching.length === 0 ? undefined : `to ${exact ? name.length : longest}`;
      expect(index.find(name)).toBe(wanted);
    }),
    { numRuns: 2_000 },
  );
});
