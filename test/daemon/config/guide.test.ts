import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { checkConfigText } from '../../../src/daemon/config/check-config-text.ts';
import { ConfigFile, settings } from '../../../src/daemon/config/settings/table.ts';
import { isKnownProvider } from '../../../src/shared/known-providers.ts';

const guide = await readFile('docs/configuration.md', 'utf8');
const readme = await readFile('README.md', 'utf8');
const yamlOf = (text: string) => [...text.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, yaml]) => yaml ?? '');

interface Shape {
  properties?: Record<string, Shape>;
  items?: Shape;
}

/** The names of all settings, including nested ones. */
function namesOf({ properties = {}, items = {} }: Shape): string[] {
  const own = { ...properties, ...items.properties };
  return Object.entries(own).flatMap(([name, shape]) => [name, ...namesOf(shape)]);
}

test.each([...yamlOf(guide), ...yamlOf(readme)])("the guide's example is valid: %s", (yaml) => {
  expect(checkConfigText(yaml, 'config.yaml').faults).toEqual([]);
});

test('the guide lists every setting', () => {
  const missing = namesOf(ConfigFile as Shape).filter((name) => !new RegExp(`\\b${name}\\b`).test(guide));
  // Known providers are listed in docs/providers.md.
  expect(missing.filter((name) => !isKnownProvider(name))).toEqual([]);
});

/** Scalar settings; for lists, maps and settings without a default, the guide has an example. */
const usual = settings.flatMap(({ name, default: value }): [string, unknown][] => {
  const isScalar = value !== undefined && typeof value !== 'object';
  return isScalar && !name.startsWith('providers.') ? [[name, value]] : [];
});

test.each(usual)('the guide says that %s defaults to %s', (name, value) => {
  const { file } = checkConfigText(yamlOf(guide)[0] ?? '', 'config.yaml');
  const reported = name.split('.').reduce<unknown>((at, key) => (at as Record<string, unknown>)?.[key], file);
  expect(reported).toBe(value);
});

test('the guide quotes actual faults', () => {
  const text = [
    'a: &a 1',
    'listen:',
    '  prot: 1',
    '',
    '',
    'upstreams:',
    '  - name: x',
    '    base_url: http://x',
    '    prices: { input: 0.59, output: "1" }',
  ].join('\n');
  const reported = checkConfigText(text, 'config.yaml').faults.map(
    ({ place, message }) => `${place}: ${message}`,
  );
  const shown = [...guide.matchAll(/^config\.yaml:.*$/gm)].map(([line]) => line);
  expect(shown.length).toBe(2);
  for (const line of shown) expect(reported).toContain(line);
});
