import { glob, readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

/** Numbers, amounts and durations have one form each, in `src/view`: nothing else makes texts of them by its own means. */

/** What makes a text of a number, or of an amount, a share or a duration. */
const means: readonly [name: string, form: RegExp][] = [
  ['rounds', /\.(?:toFixed|toPrecision|toLocaleString|toExponential)\(|Intl\.NumberFormat/],
  ['an amount', /`[^`]*\$\$\{|'\$' \+/],
  ['a share', /\} %|' %'/],
  ['a duration', /\} ?ms`|\} s`|\/ 1_?000\)\.|\} min\b/],
  ['thousands', /\}[kKM]`/],
];

/** Lines that may, and what they are for; each has to be there. */
const allowed: Readonly<Record<string, string>> = {
  'src/web/parts/sparkline.tsx': 'coordinates of an SVG',
  'src/cli/commands/decide/eval.ts': 'coordinates of an SVG',
  'src/cli/commands/decide/fit.ts': 'a number that is stored',
  'src/shared/money/money.ts': 'the form of exact amounts, also for the daemon',
};

/** The daemon's texts name amounts, which `dollarText` of shared writes. */
const rooms: readonly [pattern: string, names: readonly string[]][] = [
  ['src/{web,cli}/**/*.{ts,tsx}', means.map(([name]) => name)],
  ['src/{daemon,shared}/**/*.ts', ['an amount']],
];

/** Not an amount: parameters of PostgreSQL, and the language of queries. */
const others = ['src/daemon/storage/postgres/engine/placeholders.ts', 'src/shared/calls/query.ts'];

async function found(): Promise<Map<string, string[]>> {
  const lines = new Map<string, string[]>();
  for (const [pattern, names] of rooms)
    for await (const path of glob(pattern)) {
      if (others.includes(path)) continue;
      for (const line of (await readFile(path, 'utf8')).split('\n'))
        for (const [name, form] of means)
          if (names.includes(name) && form.test(line) && !/^\s*(?:\/\/|\*|\/\*)/.test(line))
            lines.set(path, [...(lines.get(path) ?? []), `${name}: ${line.trim()}`]);
    }
  return lines;
}

test('texts of numbers are made in src/view', async () => {
  const lines = await found();
  const unexpected = [...lines].filter(([path]) => !(path in allowed));
  expect(Object.fromEntries(unexpected)).toEqual({});
  expect(Object.keys(allowed).filter((path) => !lines.has(path))).toEqual([]);
});

test.each([
  ['rounds', 'return usd.toFixed(2);'],
  ['an amount', '`input ≤ $\x24{price}`'],
  ['a share', '`\x24{share} %`'],
  ['a duration', '`\x24{seconds} s`'],
  ['thousands', '`\x24{tokens}K`'],
])('%s is found in %j', (name, line) => {
  expect(means.find(([each]) => each === name)?.[1].test(line)).toBe(true);
});
