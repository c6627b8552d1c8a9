import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { checkConfigText } from '../../../src/daemon/config/check-config-text.ts';
import { defaults } from '../../../src/daemon/config/defaults.ts';
import { ConfigFile } from '../../../src/daemon/config/schema.ts';
import { isKnownProvider } from '../../../src/shared/known-providers.ts';

const guide = await readFile('docs/configuration.md', 'utf8');
const readme = await readFile('README.md', 'utf8');
const yamlOf = (text: string) => [...text.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, yaml]) => yaml ?? '');

interface Shape {
  properties?: Record<string, Shape>;
  items?: Shape;
}

/** The names of all settings, down to the last. */
function namesOf({ properties = {}, items = {} }: Shape): string[] {
  const own = { ...properties, ...items.properties };
  return Object.entries(own).flatMap(([name, shape]) => [name, ...namesOf(shape)]);
}

test.each([...yamlOf(guide), ...yamlOf(readme)])('the file of a guide has no fault: %s', (yaml) => {
  expect(checkConfigText(yaml, 'config.yaml').faults).toEqual([]);
});

test('the guide names every setting', () => {
  const missing = namesOf(ConfigFile as Shape).filter((name) => !new RegExp(`\\b${name}\\b`).test(guide));
  // Known providers are listed in docs/providers.md.
  expect(missing.filter((name) => !isKnownProvider(name))).toEqual([]);
});

/** Those that are one word or number; where nothing holds, or a list or map does, the guide has an example. */
const usual = Object.entries(defaults).filter(([, value]) => typeof value !== 'object');

test.each(usual)('the guide tells that %s is %s unless set', (name, value) => {
  const { file } = checkConfigText(yamlOf(guide)[0] ?? '', 'config.yaml');
  const told = name.split('.').reduce<unknown>((at, key) => (at as Record<string, unknown>)?.[key], file);
  expect(told).toBe(value);
});

test('the faults that the guide shows are told so', () => {
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
  const told = checkConfigText(text, 'config.yaml').faults.map(
    ({ place, message }) => `${place}: ${message}`,
  );
  const shown = [...guide.matchAll(/^config\.yaml:.*$/gm)].map(([line]) => line);
  expect(shown.length).toBe(2);
  for (const line of shown) expect(told).toContain(line);
});
