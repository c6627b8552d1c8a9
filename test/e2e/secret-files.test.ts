import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type KeyServer, startKeyServer } from '../support/key-server.ts';
import { temporaryHome } from '../support/run-cli.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

let server: KeyServer;
beforeAll(async () => {
  server = await startKeyServer();
});
afterAll(() => server.close());

const config = () =>
  [
    'upstreams:',
    `  - { name: filed, base_url: "${server.baseUrl}", key_env: FILED_KEY, models: [m] }`,
    `  - { name: named, base_url: "${server.baseUrl}", key_env: LATER_KEY, models: [m] }`,
    `providers: { openai: { base_url: "${server.baseUrl}" } }`,
  ].join('\n');

/** The key that the provider gets now. */
async function keyOf(daemon: RunningDaemon, model: string): Promise<string | number> {
  const count = server.keys.length;
  const answer = await daemon.fetch('/v1/chat/completions', {
    json: { model, messages: [{ role: 'user', content: 'Hi.' }] },
  });
  await answer.text();
  return server.keys.length > count ? (server.keys.at(-1) ?? '') : answer.status;
}

test('a key in a file is used, and read again when the file or a link to it is replaced', async () => {
  const folder = await temporaryHome();
  const at = (name: string) => join(folder, name);
  // As Kubernetes mounts secrets: a link through a link to a folder, of which the second one is exchanged.
  const mount = async (version: string, key: string) => {
    await mkdir(at(version));
    await writeFile(at(`${version}/openai`), `${key}\n`);
    await symlink(version, at('..data_tmp'));
    await rename(at('..data_tmp'), at('..data'));
  };
  await mount('..v1', 'sk-first-0123456789abcdef');
  await symlink('..data/openai', at('openai'));
  await writeFile(at('plain'), 'plain-first');
  const daemon = await startDaemon({
    config: config(),
    env: { OPENAI_API_KEY_FILE: at('openai'), FILED_KEY_FILE: at('plain'), LATER_KEY_FILE: at('later') },
  });
  const reasonOf = async (provider: string) => {
    const headers = { authorization: `Bearer ${daemon.login}` };
    const answer = await daemon.fetch(`/v1/admin/providers/${provider}`, { headers });
    return (await answer.json()) as { key: unknown; reason: string | null };
  };
  expect(await keyOf(daemon, 'openai/gpt-5-mini')).toBe('sk-first-0123456789abcdef');
  expect(await keyOf(daemon, 'filed/m')).toBe('plain-first');
  expect((await reasonOf('openai')).key).toMatchObject({ variable: 'OPENAI_API_KEY_FILE', set: true });
  expect(await reasonOf('named')).toMatchObject({
    key: { variable: 'LATER_KEY_FILE', set: false },
    reason: `no key: ${at('later')} cannot be read (ENOENT)`,
  });

  await mount('..v2', 'sk-second-0123456789abcdef');
  await writeFile(at('next'), 'plain-second');
  await rename(at('next'), at('plain'));
  await writeFile(at('later'), 'later-first');
  await eventually('the exchanged link is noticed', async () => {
    return (await keyOf(daemon, 'openai/gpt-5-mini')) === 'sk-second-0123456789abcdef';
  });
  await eventually('so is the renamed file', async () => (await keyOf(daemon, 'filed/m')) === 'plain-second');
  await eventually('so is the new file', async () => (await keyOf(daemon, 'named/m')) === 'later-first');
  const { stderr } = daemon.printed();
  expect(stderr).toContain('OPENAI_API_KEY_FILE');
  expect(stderr).not.toMatch(/sk-first|sk-second|plain-|later-first/);

  // What is gone or empty stays as it was.
  await rm(at('plain'));
  await writeFile(at('later'), '');
  await daemon.fetch('/v1/admin/reload', {
    method: 'POST',
    headers: { authorization: `Bearer ${daemon.login}` },
  });
  expect(await keyOf(daemon, 'filed/m')).toBe('plain-second');
  expect(await keyOf(daemon, 'named/m')).toBe('later-first');
  await daemon.stop();
});

test('a variable with the key itself comes before its file', async () => {
  const file = join(await temporaryHome(), 'key');
  await writeFile(file, 'from-the-file');
  const daemon = await startDaemon({
    config: config(),
    env: { FILED_KEY: 'from-the-variable', FILED_KEY_FILE: file },
  });
  expect(await keyOf(daemon, 'filed/m')).toBe('from-the-variable');
  await daemon.stop();
});
