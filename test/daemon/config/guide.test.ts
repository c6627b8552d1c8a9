import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { checkConfigText } from '../../../src/daemon/config/check-config-text.ts';
import { loadConfig } from '../../../src/daemon/config/config.ts';
import { ConfigFile } from '../../../src/daemon/config/schema.ts';

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
  for (const name of namesOf(ConfigFile as Shape)) expect(guide, name).toMatch(new RegExp(`\\b${name}\\b`));
});

test('the guide tells the defaults', async () => {
  const { file } = checkConfigText(yamlOf(guide)[0] ?? '', 'config.yaml');
  const usual = await loadConfig({
    flags: {},
    env: { GATEWAY_HOME: '/nonexistent' },
    platform: 'linux',
    home: '/',
  });
  expect(usual).toMatchObject({
    host: file.listen?.host,
    port: file.listen?.port,
    marginPpm: (file.margin_percent ?? Number.NaN) * 10_000,
    findsLocalServers: file.local_servers,
    storesResponses: file.storage?.store_responses,
    responsesKeptMs: (file.storage?.responses_days ?? Number.NaN) * 24 * 3_600_000,
    backgroundRunsMax: file.background?.max_running,
    logLevel: file.log?.level,
    timeouts: {
      connectMs: file.timeouts?.connect_ms,
      headersMs: file.timeouts?.headers_ms,
      firstEventMs: file.timeouts?.first_event_ms,
      idleMs: file.timeouts?.idle_ms,
    },
  });
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
