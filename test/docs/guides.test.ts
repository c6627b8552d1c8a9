import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { checkConfigText } from '../../src/daemon/config/check-config-text.ts';
import { scopeNames } from '../../src/shared/contract/endpoint.ts';
import { failures } from '../../src/shared/errors.ts';
import { providerFacts } from '../../src/shared/known-providers.ts';

const names = [
  'README.md',
  ...(await readdir('docs')).filter((it) => it.endsWith('.md')).map((it) => `docs/${it}`),
];
const guides = new Map(
  await Promise.all(names.map(async (name) => [name, await readFile(name, 'utf8')] as const)),
);
const guide = (name: string) => guides.get(name) ?? '';

/** As GitHub makes them of headings. */
const anchorsOf = (text: string) =>
  [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

test('every link of a guide leads somewhere', async () => {
  const places = new Map([...guides].map(([name, text]) => [name, anchorsOf(text)]));
  const lost: string[] = [];
  for (const [name, text] of guides) {
    for (const [, target = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target)) continue;
      const [file = '', anchor] = target.split('#');
      const path = file === '' ? name : new URL(file, `file:///${name}`).pathname.slice(1);
      const isFolder = path === 'docs/decisions';
      if (!isFolder && !places.has(path)) lost.push(`${name}: ${target}`);
      else if (anchor !== undefined && !places.get(path)?.includes(anchor)) lost.push(`${name}: ${target}`);
    }
  }
  expect(lost).toEqual([]);
});

test('the README leads to every guide', () => {
  for (const name of names.slice(1)) expect(guide('README.md')).toContain(`(${name}`);
});

test.each(['docs/providers.md'])('settings in %s have no fault', (name) => {
  const files = [...guide(name).matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, yaml = '']) => yaml);
  expect(files.length).toBeGreaterThan(0);
  for (const yaml of files) expect(checkConfigText(yaml, 'config.yaml').faults).toEqual([]);
});

test('the table of errors is that of the program', () => {
  const retries = { no: 'no', 'after-paying': 'after paying', 'after-waiting': 'after waiting' };
  const rows = Object.entries(failures).map(
    ([code, { status, type, message, retry, exit }]) =>
      `| \`${code}\` | ${status} | \`${type}\` | ${message} | ${retries[retry]} | ${exit} |`,
  );
  expect(guide('docs/errors.md').match(/^\| `.*$/gm)).toEqual(rows);
});

describe('the guide of keys', () => {
  test.each(scopeNames)('tells what the scope %s is for', (scope) => {
    expect(guide('docs/keys.md')).toMatch(new RegExp(`^\\|.*\`${scope}\`.*\\|.*\\|$`, 'm'));
  });
});

describe('every provider that is known by name', () => {
  const places = ['README.md', 'docs/providers.md', 'docs/configuration.md'];
  const variables = Object.values(providerFacts).map(({ keyVariables }) => keyVariables[0]);

  test.each(places)('is in the table of %s', (name) => {
    expect(variables.filter((variable) => !guide(name).includes(`\`${variable}\``))).toEqual([]);
  });
});

test.each(names)('%s speaks of the program alone', (name) => {
  expect(guide(name)).not.toMatch(/\/work\/|\/tmp\/|\bTODO\b|\bFIXME\b/);
});
