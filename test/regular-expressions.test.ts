import { describe, expect, test } from 'vitest';
import { ConfigFile } from '../src/daemon/config/schema.ts';
import { Recording } from '../src/daemon/upstream/recordings/recording.ts';
import { ScriptFile } from '../src/daemon/upstream/simulator/script/script-file.ts';
import { endpoints } from './support/endpoints.ts';
import { slowAttackOn } from './support/regex-attacks.ts';
import { type FoundRegex, patternsOf, regularExpressions } from './support/regex-source.ts';

const { found, unknown } = regularExpressions();

describe('regular expressions', () => {
  test('take at most in proportion to the text, whatever it is', () => {
    const schemas = { ConfigFile, Recording, ScriptFile };
    const patterns = [
      ...endpoints.flatMap((endpoint) => patternsOf(endpoint, `${endpoint.method} ${endpoint.path}`)),
      ...Object.entries(schemas).flatMap(([name, schema]) => patternsOf(schema, name)),
    ];
    expect(found.length).toBeGreaterThan(500);
    expect(patterns.length).toBeGreaterThan(100);
    const places = Map.groupBy([...found, ...patterns], ({ source, flags }) => `/${source}/${flags}`);
    const slow = [...places].flatMap(([written, [first]]) => {
      const { at, source, flags } = first as FoundRegex;
      const attack = slowAttackOn(new RegExp(source, flags));
      return attack === undefined ? [] : `${at} ${written} on ${attack}`;
    });
    expect(slow).toEqual([]);
    // It computes for a minute, and longer beside other tests.
  }, 900_000);

  test('that are known only at run time are few, and bounded otherwise', () => {
    const names = unknown.map((place) => place.replace(/^.*\/(.*):.*$/, '$1'));
    expect(names.sort()).toEqual(
      [
        // 64 hexadecimal digits.
        'http-tools.ts',
        // The expressions of the price library.
        'price-library.ts',
        // Those of the host's own script of the simulator.
        'match-rules.ts',
        'parse-script.ts',
        // Of the caller's schemas: stopped after some milliseconds.
        'pattern-search.ts',
        // On the first 4,000 characters of a prompt.
        'prompt-values.ts',
        // A text to search for, each of whose characters stands for itself.
        'search-content.ts',
        // Those of the operator, stopped after some milliseconds; in the configuration, only compiled.
        'redactor.ts',
        'check-config-text.ts',
        // Joined from expressions that are checked each.
        'sanitize-provider-message.ts',
      ].sort(),
    );
  });

  test.each([
    ['twice', /\/+$/],
    ['within a group', /^(\w+\s?)*$/],
    ['at each start', /: call it .*\./],
    ['only for other letters around it', /^-+|-+$/g],
    ['before what must follow', /(\d+)(,?)(\d*)\}/],
    ['for each pair of quotation marks', /"((?:[^"\\]|\\.)*)(?:"|\\?$)/g],
  ])('are found to take longer when they read a text %s', (_, regex) => {
    expect(slowAttackOn(regex)).toBeDefined();
  });
});
