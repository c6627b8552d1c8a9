import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { checkConfigText } from '../../src/daemon/config/check-config-text.ts';
import { scopeNames } from '../../src/shared/contract/endpoint.ts';
import { failures } from '../../src/shared/errors.ts';
import { providerFacts } from '../../src/shared/known-providers.ts';

const names = [
  'README.md',
  ...(await readdir('docs', { recursive: true }))
    .filter((it) => it.endsWith('.md'))
    .map((it) => `docs/${it.replaceAll('\\', '/')}`),
];
const guides = new Map(
  await Promise.all(names.map(async (name) => [name, await readFile(name, 'utf8')] as const)),
);
const guide = (name: string) => guides.get(name) ?? '';

/** The anchors that GitHub generates for headings. */
const anchorsOf = (text: string) =>
  [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

const decisions = names.filter((name) => /^docs\/decisions\/\d/.test(name));

test('every decision is listed with its title', () => {
  const list = guide('docs/decisions/README.md');
  for (const name of decisions) {
    const [, title] = /^# (.*)/.exec(guide(name)) ?? [];
    expect(list).toContain(`- [${title}](${name.replace('docs/decisions/', '')})\n`);
  }
  expect(list.match(/^- /gm)).toHaveLength(decisions.length);
});

test('every link of a guide has a target', async () => {
  const anchors = new Map([...guides].map(([name, text]) => [name, anchorsOf(text)]));
  const broken: string[] = [];
  for (const [name, text] of guides) {
    for (const [, target = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target)) continue;
      const [file = '', anchor] = target.split('#');
      const path = file === '' ? name : new URL(file, `file:///${name}`).pathname.slice(1);
      const hasAnchor = anchor === undefined || anchors.get(path)?.includes(anchor);
      if (!existsSync(path) || !hasAnchor) broken.push(`${name}: ${target}`);
    }
  }
  expect(broken).toEqual([]);
});

test('the README links to every guide', () => {
  const others = names.slice(1).filter((name) => !decisions.includes(name));
  for (const name of others) expect(guide('README.md')).toContain(`(${name}`);
});

test.each(['docs/providers.md'])('the settings in %s are valid', (name) => {
  const files = [...guide(name).matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, yaml = '']) => yaml);
  expect(files.length).toBeGreaterThan(0);
  for (const yaml of files) expect(checkConfigText(yaml, 'config.yaml').faults).toEqual([]);
});

test('the table of errors matches the program', () => {
  const retries = { no: 'no', 'after-paying': 'after paying', 'after-waiting': 'after waiting' };
  const rows = Object.entries(failures).map(
    ([code, { status, type, message, retry, exit }]) =>
      `| \`${code}\` | ${status} | \`${type}\` | ${message} | ${retries[retry]} | ${exit} |`,
  );
  expect(guide('docs/errors.md').match(/^\| `.*$/gm)).toEqual(rows);
});

describe('the guide to keys', () => {
  test.each(scopeNames)('describes the scope %s', (scope) => {
    expect(guide('docs/keys.md')).toMatch(new RegExp(`^\\|.*\`${scope}\`.*\\|.*\\|$`, 'm'));
  });
});

test('the guide to providers has every known provider', () => {
  const variables = Object.values(providerFacts).map(({ keyVariables }) => keyVariables[0]);
  const page = guide('docs/providers.md');
  expect(variables.filter((variable) => !page.includes(`\`${variable}\``))).toEqual([]);
});

test.each(names)('%s has no leftovers', (name) => {
  expect(guide(name)).not.toMatch(/\/work\/|\/tmp\/|\bTODO\b|\bFIXME\b/);
});
