import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ConfigFile } from '../src/daemon/config/settings/table.ts';
import { Recording } from '../src/daemon/upstream/recordings/recording.ts';
import { ScriptFile } from '../src/daemon/upstream/simulator/script/script-file.ts';
import { endpoints } from './support/endpoints.ts';
import { samplesFor, slowAttackOn } from './support/regex-attacks.ts';
import { compileRegex } from './support/regex-program.ts';
import { type FoundRegex, patternsOf, regularExpressions } from './support/regex-source.ts';
import { SteppedRegex, StepsExceeded } from './support/stepped-regex.ts';

const { found, unknown } = regularExpressions();

const schemas = { ConfigFile, Recording, ScriptFile };
const patterns = [
  ...endpoints.flatMap((endpoint) => patternsOf(endpoint, `${endpoint.method} ${endpoint.path}`)),
  ...Object.entries(schemas).flatMap(([name, schema]) => patternsOf(schema, name)),
];
const places = Map.groupBy([...found, ...patterns], ({ source, flags }) => `/${source}/${flags}`);
const distinct = [...places.values()].map(([first]) => first as FoundRegex);

const anyRegex = fc
  .tuple(anySource(), fc.subarray(['g', 'i', 'm', 's', 'u', 'y']))
  .map(([source, flags]) => {
    try {
      return new RegExp(source, flags.join(''));
    } catch {
      return undefined;
    }
  })
  .filter((regex) => regex !== undefined);

function anySource(): fc.Arbitrary<string> {
  const atoms = ['a', 'b', 'k', '1', '-', 'é', '😀', '.', '[^]', '[ab]', '[^a]', '[a-c1]', '[^\\w-]', '(?:)'];
  const escapes = ['\\w', '\\W', '\\d', '\\s', '\\S', '\\b', '\\B', '\\1', '\\2', '^', '$'];
  const atom = fc.constantFrom(...atoms, ...escapes);
  const quantifier = fc.constantFrom(
    ...['*', '+', '?', '*?', '+?', '??', '{2}', '{0}', '{0,2}', '{1,3}', '{2,}', '{0,2}?', '{2,3}?'],
  );
  const opening = fc.constantFrom('(', '(?:', '(?=', '(?!', '(?<=', '(?<!');
  return fc.letrec<{ source: string }>((tie) => ({
    source: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      atom,
      fc.tuple(atom, quantifier).map((parts) => parts.join('')),
      fc.array(tie('source'), { minLength: 1, maxLength: 4 }).map((parts) => parts.join('')),
      fc.tuple(tie('source'), tie('source')).map(([one, other]) => `(?:${one}|${other})`),
      fc.tuple(opening, tie('source')).map(([open, inner]) => `${open}${inner})`),
      fc
        .tuple(fc.constantFrom('(', '(?:'), tie('source'), quantifier)
        .map(([open, inner, times]) => `${open}${inner})${times}`),
    ),
  })).source;
}

describe('regular expressions', () => {
  test('take steps at most in proportion to the text, whatever it is', () => {
    expect(found.length).toBeGreaterThan(500);
    expect(patterns.length).toBeGreaterThan(100);
    const slow = distinct.flatMap(({ at, source, flags }) => {
      const regex = new RegExp(source, flags);
      const attack = slowAttackOn(regex);
      return attack === undefined ? [] : `${at} ${regex} on ${attack}`;
    });
    expect(slow).toEqual([]);
  });

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
        'bounded-patterns.ts',
        'check-config-text.ts',
        // Joined from expressions that are checked each.
        'sanitize-provider-message.ts',
        'too-long.ts',
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
    ['three times', /^\d*\d*\d*x$/],
    ['in as many ways as there are subsets of it', /^(a|a)*$/],
    ['in many ways up to a bound', /^(a?){30}b/],
    ['after each match', /\w(?=\w*)/g],
    ['once more to split it', /,(?=[^"]*)/g],
    ['at each start of an unanchored expression', /<[^>]*>/],
    ['backwards from each position', /(?<=x\w*)y$/],
    ['backwards, and must not find it', /(?<!"[^"]*),/g],
    ['ahead from each position', /(?=.*;)a/],
    ['again that it captured', /(a+)\1b/],
    ['for each length that it may capture', /^(.+)\1$/],
    ['with more steps for a letter than a hundred', /a{0,60}b/],
    ['from each word up to a bound', /model[^.]{0,300}not found/i],
    ['from each part of a word up to a bound', /\beyJ[\w-]{10,256}\.eyJ/g],
  ])('are found to take longer when they read a text %s', (_, regex) => {
    expect(slowAttackOn(regex)).toBeDefined();
  });

  // Reads to the end of the text, but as `test` and `exec` stop at the first match, once.
  test('that are only slow with the flag g are not without it', () => {
    expect(slowAttackOn(/\w(?=\w*)/)).toBeUndefined();
  });

  test.each([
    [/\s+/g],
    [/^\s+/],
    [/^(?:a+b)*$/],
    [/^[^,]*,[^,]*,[^,]*$/],
    [/^(.*?): +(.+)$/s],
    [/"[^"]*"|'[^']*'|[^"']+/g],
    [/model[^.]{0,20}not found/i],
    [/model(?:(?!model)[^.]){0,120}not found/i],
    [/(?<![\w-])eyJ[\w-]{10,256}\.eyJ/g],
    [/(?<![\w.])[\w.]+@\w/g],
    [/(?<=a)b+/g],
    [/^(?!.*--)[a-z-]+$/],
    [/(['"])\w{1,8}\1/],
    [/^(["'])(.*)\1$/s],
  ])('are not found to take longer if they do not: %s', (regex) => {
    expect(slowAttackOn(regex)).toBeUndefined();
  });
});

describe('the matcher that counts steps', () => {
  const stepsMax = 20_000;

  /** Compares the first match in a text with that of the engine. */
  function compare(regex: RegExp, stepped: SteppedRegex, text: string): void {
    const match = stepped.exec(text, stepsMax);
    regex.lastIndex = 0;
    const real = regex.exec(text);
    // Between the halves of a pair of surrogates, V8 finds empty matches that the standard excludes.
    if (real && regex.unicode && /^[\udc00-\udfff]/.test(text.slice(real.index))) return;
    expect({ text, match }).toEqual({
      text,
      match: real ? { index: real.index, end: real.index + real[0].length } : undefined,
    });
  }

  const textsOf = (parts: readonly string[]) =>
    fc.array(
      fc.array(fc.constantFrom(...parts), { maxLength: 8 }).map((chosen) => chosen.join('')),
      { minLength: 6, maxLength: 6 },
    );

  test('matches as the engine does', () => {
    const letters = ['a', 'b', 'A', '1', '_', '-', ' ', '\n', 'é', '😀', 'k', '\u212a', 'ſ', '\u2028'];
    const texts = textsOf(letters);
    fc.assert(
      fc.property(anyRegex, texts, (regex, texts) => {
        const stepped = new SteppedRegex(compileRegex(regex));
        try {
          for (const text of texts) compare(regex, stepped, text);
        } catch (error) {
          // The engine might not end, either.
          fc.pre(!(error instanceof StepsExceeded));
          throw error;
        }
      }),
      { numRuns: 2000 },
    );
  });

  test("matches as the engine does with the program's expressions", () => {
    for (const { source, flags } of distinct) {
      const regex = new RegExp(source, flags);
      const stepped = new SteppedRegex(compileRegex(regex));
      const [texts] = fc.sample(textsOf(samplesFor(regex)), 1) as [string[]];
      for (const text of [...samplesFor(regex), ...texts]) compare(regex, stepped, text);
    }
  });
});
