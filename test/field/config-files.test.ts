import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { checkConfigText } from '../../src/daemon/config/check-config-text.ts';
import { loadConfig } from '../../src/daemon/config/config.ts';
import { editText } from '../../src/daemon/config/edit-text.ts';

/** Files as editors, shells and people leave them. */

const commentedOut = `# mine
upstreams:
#  - name: old
telemetry:
  otlp:
aliases:
log:
  level:
`;

test('bytedance/deer-flow#3573: a section in which everything is commented out is none', () => {
  expect(checkConfigText(commentedOut, 'config.yaml')).toMatchObject({
    faults: [],
    file: { telemetry: {}, log: {} },
  });
  // What has a name of its own was meant to have a value.
  expect(checkConfigText('aliases: {fast: }\n', 'config.yaml').faults).toHaveLength(1);
});

test.each([
  ['upstreams.acme', '{base_url: "http://a.example/v1", models: ["*"]}', '  - name: acme'],
  ['telemetry.otlp.endpoint', 'http://127.0.0.1:4318', '    endpoint: http://127.0.0.1:4318'],
  ['aliases.fast', 'openai/gpt-5-mini', '  fast: openai/gpt-5-mini'],
  ['log.level', 'info', '  level: info'],
])('and %s can be set there', (name, value, line) => {
  const edited = editText(commentedOut, 'config.yaml', { name, value, isTyped: true });
  if ('faults' in edited) throw new Error(edited.faults[0]?.message);
  expect(edited.text.split('\n')).toContain(line);
  expect(edited.text).toContain('#  - name: old');
});

test('docker/compose#10394: anchors have a place that is no setting', () => {
  const text = `x-common: &common {models: ["*"], wire: chat}
x-prices: &prices {prices: {input: "1", output: "2"}}
upstreams:
  - {name: a, base_url: "http://a.example/v1", <<: [*common, *prices]}
  - {name: b, base_url: "http://b.example/v1", <<: *common}
`;
  const { file, faults } = checkConfigText(text, 'config.yaml');
  expect(faults).toEqual([]);
  expect(file.upstreams).toMatchObject([{ models: ['*'], prices: { input: '1' } }, { wire: 'chat' }]);
  expect(checkConfigText('y-common: {}\n', 'config.yaml').faults).toHaveLength(1);
});

const file = 'log: {level: info}\r\n';

test.each([
  ['elastic/beats#2354', 'the mark of an editor', Buffer.from(`\ufeff${file}`)],
  ['patchloom/patchloom#2317', '> of PowerShell', Buffer.from(`\ufeff${file}`, 'utf16le')],
])('%s: a file with %s is read', async (_cite, _what, bytes) => {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-files-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'config.yaml'), bytes);
  const env = { GATEWAY_HOME: folder };
  expect(await loadConfig({ flags: {}, env, platform: 'linux', home: folder })).toMatchObject({
    logLevel: 'info',
  });
});
