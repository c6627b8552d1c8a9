import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { javaScriptLiteral, pythonLiteral, shellQuoted } from '../../../src/shared/samples/literals.ts';

/** JSON as it arrives: no negative zero, no text that is not Unicode. */
const json = fc
  .jsonValue({ maxDepth: 3 })
  .map((value) => JSON.parse(JSON.stringify(value)) as unknown)
  .filter((value) => JSON.stringify(value).isWellFormed());
const hostile = fc.constantFrom(
  '\u001b[2J',
  '\u202e',
  "'",
  '"',
  '`$',
  '\\',
  '\u2028',
  '__proto__',
  '😀',
  '\u0000',
);
const texts = fc.array(fc.oneof(hostile, fc.string({ unit: 'grapheme' }))).map((parts) => parts.join(''));
const values = fc.oneof(json, fc.dictionary(texts, fc.oneof(json, texts)));

const controls = /[^\P{Cc}\n]|\p{Bidi_Control}/u;

test('a value is the same in JavaScript', () => {
  fc.assert(
    fc.property(values, (value) => {
      const written = javaScriptLiteral(value);
      const read: unknown = new Function(`return (${written})`)();
      expect(JSON.stringify(read)).toBe(JSON.stringify(value));
      expect(written).not.toMatch(controls);
    }),
  );
  const proto = JSON.parse('{"__proto__": {"polluted": true}}');
  const read = new Function(`return (${javaScriptLiteral(proto)})`)();
  expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
});

function hasPython(): boolean {
  try {
    execFileSync('python3', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

test.skipIf(!hasPython())('a value is the same in Python (skipped without python3)', () => {
  const samples = fc.sample(values, 200).filter((value) => JSON.stringify(value).isWellFormed());
  const list = samples.map((value) => pythonLiteral(value));
  const program = `import json, sys\nsys.stdout.write(json.dumps([\n${list.join(',\n')}\n]))`;
  const read = JSON.parse(execFileSync('python3', ['-'], { input: program, encoding: 'utf8' }));
  expect(read).toEqual(samples);
  for (const written of list) expect(written).not.toMatch(controls);
});

test('a text is the same for a shell', () => {
  for (const text of ["it's", '$(touch x) `y` "z" \\', 'two\nlines', '']) {
    expect(execFileSync('/bin/sh', ['-c', `printf %s ${shellQuoted(text)}`], { encoding: 'utf8' })).toBe(
      text,
    );
  }
});

test('short values are on one line, longer ones are not', () => {
  expect(javaScriptLiteral({ model: 'a', list: [1, 2], 'a-b': null })).toBe(
    "{ model: 'a', list: [1, 2], 'a-b': null }",
  );
  expect(pythonLiteral({ a: true, b: [] })).toBe('{"a": True, "b": []}');
  expect(javaScriptLiteral({ text: 'x'.repeat(80) }).split('\n')).toHaveLength(3);
});
