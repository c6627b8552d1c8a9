import { chmod, lstat, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type FakeChatServer, startFakeChatServer } from '../support/fake-chat-server.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';
import { addPerson } from '../support/users.ts';

/** Changes of config.yaml by the API, as the dashboard makes them. */

let daemon: RunningDaemon;
let [acme, other]: FakeChatServer[] = [];
const file = () => join(daemon.home, 'config.yaml');
const text = () => readFile(file(), 'utf8');
const environmentKey = 'sk-of-the-environment-0123456789';
const typedKey = 'typed-secret-4711';
let first = '';

beforeAll(async () => {
  [acme, other] = await Promise.all([startFakeChatServer(), startFakeChatServer()]);
  daemon = await startDaemon({
    env: {
      OPENAI_API_KEY: environmentKey,
      ACME_KEY: environmentKey,
      FURTHER_KEY: `${environmentKey}-further`,
    },
    config: `vault: {keychain: false, insecure_plain_file: true}
# mine
upstreams:
  - name: old               # as ever
    base_url: ${acme.url}
    key_env: ACME_KEY
    models: [m]
  - name: work
    base_url: ${acme.url}
    headers: { x-secret: hidden-header-value }
    models: [m]
`,
  });
  first = await text();
});

afterAll(async () => {
  await daemon.stop();
  for (const one of [acme, other]) one?.close();
});

beforeEach(async () => {
  await writeFile(file(), first);
  await api('/v1/admin/reload', {});
});

interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: of any endpoint.
  body: any;
}

async function api(path: string, json: unknown, init: RequestInit = {}): Promise<Answer> {
  const answer = await daemon.fetch(path, {
    ...init,
    json,
    headers: { authorization: `Bearer ${daemon.login}`, ...init.headers },
  });
  return { status: answer.status, body: await answer.json() };
}

type Change = { setting: string; value: unknown };
type Keys = Record<string, string | null>;

const preview = (changes: Change[], keys: Keys = {}) =>
  api('/v1/admin/configuration/preview', { changes, keys });
const apply = (changes: Change[], version: string, keys: Keys = {}) =>
  api('/v1/admin/configuration', { changes, keys, version }, { method: 'PATCH' });

async function make(changes: Change[], keys: Keys = {}): Promise<Answer> {
  const { status, body } = await preview(changes, keys);
  return status === 200 ? await apply(changes, body.version, keys) : { status, body };
}

const added = (diff: { lines: { change: string; text: string }[] }[]) =>
  diff.flatMap(({ lines }) => lines.filter(({ change }) => change !== 'same').map((line) => line.text));
const ask = async (model: string) =>
  (
    await daemon.fetch('/v1/chat/completions', {
      json: { model, messages: [{ role: 'user', content: 'Hi.' }] },
    })
  ).status;
const upstream = (url = acme?.url) => ({ base_url: url, models: ['*'] });

test('a preview warns of models that the catalog does not know, and does not refuse them', async () => {
  const changes = [
    { setting: 'aliases.fast', value: 'openai/gpt-5-mimi' },
    { setting: 'aliases.known', value: 'openai/gpt-5-mini' },
    { setting: 'aliases.odd', value: 'opnai/gpt-5' },
    { setting: 'aliases.mine', value: 'old/m' },
  ];
  const { status, body } = await preview(changes);
  expect(status).toBe(200);
  expect(body.warnings).toEqual([
    {
      setting: 'aliases.fast',
      model: 'openai/gpt-5-mimi',
      message: expect.stringMatching(/Did you mean .*gpt-5-mini/),
    },
    { setting: 'aliases.odd', model: 'opnai/gpt-5', message: expect.stringContaining('opnai') },
  ]);
  expect((await apply(changes, body.version)).status).toBe(200);
  // What the file said before is no news.
  const more = [{ setting: 'aliases.other', value: 'openai/gpt-5' }];
  expect((await preview(more)).body.warnings).toEqual([]);
});

test('an upstream with a key is added as it was previewed, called with the key, and moved with a new one', async () => {
  const changes = [{ setting: 'upstreams.acme', value: upstream() }];
  const shown = await preview(changes, { acme: typedKey });
  expect(shown.body).toMatchObject({ refusal: null, linked_to: null, keys: ['acme'], notes: [] });
  expect(added(shown.body.diff)).toEqual([
    '  - name: acme',
    `    base_url: ${acme?.url}`,
    '    models:',
    '      - "*"',
  ]);
  expect(await text()).toBe(first);
  const made = await apply(changes, shown.body.version, { acme: typedKey });
  expect(made).toMatchObject({ status: 200, body: { changed: ['upstreams'], waiting: [] } });
  const after = await text();
  expect(after.startsWith(first)).toBe(true);
  expect(after).not.toContain(typedKey);
  expect(await ask('acme/m')).toBe(200);
  expect(acme?.sent.at(-1)).toBe(`Bearer ${typedKey}`);
  const configuration = await daemon.fetch('/v1/admin/configuration', {
    headers: { authorization: `Bearer ${daemon.login}` },
  });
  const known = await configuration.text();
  expect(JSON.parse(known).sealed_keys).toEqual(['acme']);
  for (const secret of [typedKey, environmentKey, 'hidden-header-value']) expect(known).not.toContain(secret);
  const move = [{ setting: 'upstreams.acme.base_url', value: other?.url }];
  expect(await make(move)).toMatchObject({
    status: 400,
    body: { error: { param: 'keys.acme', message: expect.stringContaining('type the key') } },
  });
  // Nor does a change of the file itself send it elsewhere.
  await writeFile(file(), after.replace(`${acme?.url}\n    models:`, `${other?.url}\n    models:`));
  await api('/v1/admin/reload', {});
  await ask('acme/m');
  expect(other?.sent).not.toContain(`Bearer ${typedKey}`);
  await writeFile(file(), after);
  expect((await make(move, { acme: 'another-secret' })).status).toBe(200);
  expect(await ask('acme/m')).toBe(200);
  expect(other?.sent.at(-1)).toBe('Bearer another-secret');
  expect((await make([{ setting: 'upstreams.acme', value: null }])).status).toBe(200);
  expect(await text()).toBe(first);
});

test('a key of a known provider is sealed, counts before its variable, and is deleted', async () => {
  expect((await make([], { openai: 'no-key-of-it-0123456789' })).body.error).toMatchObject({
    param: 'keys.openai',
  });
  expect((await make([], { openai: 'sk-typed-0123456789abcdef' })).status).toBe(200);
  const shown = async () =>
    (
      (await (
        await daemon.fetch('/v1/admin/providers/openai', {
          headers: { authorization: `Bearer ${daemon.login}` },
        })
      ).json()) as { key: object }
    ).key;
  expect(await shown()).toMatchObject({ sealed: true, set: true });
  expect((await make([], { openai: null })).status).toBe(200);
  expect(await shown()).toMatchObject({ sealed: false, set: true });
  expect(await text()).toBe(first);
});

describe('no login sends a secret of the machine to another address', () => {
  const evil = 'https://evil.example/v1';
  test.each([
    [
      'a new upstream',
      [{ setting: 'upstreams.evil', value: { ...upstream(evil), key_env: 'OPENAI_API_KEY' } }],
    ],
    ['a moved upstream', [{ setting: 'upstreams.old.base_url', value: evil }]],
    ['a moved provider', [{ setting: 'providers.openai.base_url', value: evil }]],
    ['another variable', [{ setting: 'upstreams.old.key_env', value: 'OPENAI_API_KEY' }], 'same'],
    ['a further key', [{ setting: 'upstreams.old.key_env', value: ['ACME_KEY', 'FURTHER_KEY'] }]],
    ['where logins of clients go', [{ setting: 'providers.openai.login_url', value: evil }]],
    ['headers of an upstream', [{ setting: 'upstreams.work.base_url', value: evil }]],
    [
      'an upstream in place of another',
      [
        { setting: 'upstreams.old', value: null },
        { setting: 'upstreams.old', value: { ...upstream(evil), key_env: 'ACME_KEY' } },
      ],
    ],
    [
      'new headers',
      [{ setting: 'upstreams.evil', value: { ...upstream(evil), headers: { a: { env: 'ACME_KEY' } } } }],
    ],
    ['headers by their member', [{ setting: 'upstreams.old.headers', value: { a: { env: 'ACME_KEY' } } }]],
    [
      'all upstreams',
      [{ setting: 'upstreams', value: [{ name: 'evil', ...upstream(evil), key_env: 'ACME_KEY' }] }],
    ],
    ['the engine of decisions', [{ setting: 'decisions.engine.url', value: evil }]],
    ['the wallet', [{ setting: 'wallet.url', value: evil }]],
    ['a file', [{ setting: 'simulate', value: '/etc/passwd' }]],
    ['what needs a restart', [{ setting: 'listen.host', value: '0.0.0.0' }]],
    ['a whole group', [{ setting: 'wallet', value: { url: evil } }]],
  ])('%s', async (_name, changes, isSame?: string) => {
    for (const keys of [{}, { evil: 'x', old: 'x', work: 'x', openai: 'sk-0123456789abcdef0123' }]) {
      const given = Object.fromEntries(
        Object.entries(keys).filter(
          ([name]) => name !== 'evil' || JSON.stringify(changes).includes('"upstreams.evil"'),
        ),
      );
      const { status, body } = await preview(changes, given);
      // The variables of this test have one value.
      expect(status, JSON.stringify(body)).toBe(isSame ? 200 : 400);
    }
    expect(await text()).toBe(first);
  });

  test('but whoever knows it may', async () => {
    const changes = [{ setting: 'upstreams.old.base_url', value: other?.url }];
    expect((await make(changes, { old: environmentKey })).status).toBe(200);
    expect(await ask('old/m')).toBe(200);
    expect(other?.sent.at(-1)).toBe(`Bearer ${environmentKey}`);
  });
});

describe('what is written is what was shown', () => {
  const changes = [{ setting: 'aliases.fast', value: 'sim/echo' }];

  test('a change of the file since the preview is a conflict', async () => {
    const { body } = await preview(changes);
    await writeFile(file(), `${first}# later\n`);
    expect(await apply(changes, body.version)).toMatchObject({
      status: 409,
      body: { error: { code: 'conflict', message: expect.stringContaining('changed since the preview') } },
    });
    expect(await text()).toBe(`${first}# later\n`);
  });

  test('so is another change than was shown', async () => {
    const { body } = await preview(changes);
    const others = [{ setting: 'aliases.fast', value: 'sim/assistant' }];
    expect((await apply(others, body.version)).status).toBe(409);
    expect(await text()).toBe(first);
  });

  test('names are names, whatever they look like', async () => {
    const name = 'x: 1\nlisten: { host: 0.0.0.0 } # ';
    expect((await make([{ setting: `aliases.${name}`, value: 'sim/echo' }])).status).toBe(200);
    const { aliases, ...rest } = parse(await text());
    expect(aliases).toEqual({ [name]: 'sim/echo' });
    expect(rest).toEqual(parse(first));
    for (const bad of ['__proto__', 'toString\u0000'])
      expect((await make([{ setting: `upstreams.${bad}`, value: upstream() }])).status).toBe(400);
  });

  test('secrets of the file are not in the diff', async () => {
    const { body } = await preview([{ setting: 'upstreams.work.models', value: ['other'] }]);
    expect(JSON.stringify(body)).toContain('x-secret');
    expect(JSON.stringify(body)).not.toContain('hidden-header-value');
  });

  test('a bad value names its setting, and a file with faults is not changed', async () => {
    expect((await preview([{ setting: 'cache.default', value: 'sometimes' }])).body.error).toMatchObject({
      param: 'changes[0].value',
      message: expect.stringContaining('off, read-only or read-write'),
    });
    await writeFile(file(), 'listen: [');
    expect((await preview(changes)).status).toBe(409);
    expect(await text()).toBe('listen: [');
  });
});

describe('where the file is', () => {
  const changes = [{ setting: 'aliases.fast', value: 'sim/echo' }];

  test('its mode is kept', async () => {
    await chmod(file(), 0o640);
    expect((await make(changes)).status).toBe(200);
    expect((await stat(file())).mode & 0o777).toBe(0o640);
    await chmod(file(), 0o600);
  });

  test('a read-only file is named and not written', async () => {
    await chmod(file(), 0o444);
    const { body } = await preview(changes);
    expect(body.refusal).toContain('is read-only');
    expect(await apply(changes, body.version)).toMatchObject({
      status: 409,
      body: { error: { message: body.refusal } },
    });
    expect(await text()).toBe(first);
    await chmod(file(), 0o600);
  });

  test('a link is named, and what it leads to is written', async () => {
    const real = join(daemon.home, 'real.yaml');
    await rename(file(), real);
    await symlink(real, file());
    const { body } = await preview(changes);
    expect(body.linked_to).toBe(real);
    expect((await apply(changes, body.version)).status).toBe(200);
    expect((await lstat(file())).isSymbolicLink()).toBe(true);
    await chmod(real, 0o444);
    expect((await preview(changes)).body.refusal).toContain(`a link to ${real}, is read-only`);
    await rm(file());
    await rm(real);
  });
});

test('only the owner of the host sees and changes it, and no page of another origin', async () => {
  const ann = await addPerson(daemon, 'ann');
  for (const [secret, status] of [
    [ann.login, 403],
    [daemon.key, 401],
  ]) {
    const answer = await daemon.fetch('/v1/admin/configuration/preview', {
      json: { changes: [] },
      headers: { authorization: `Bearer ${secret}` },
    });
    expect(answer.status).toBe(status);
  }
  const { status } = await api(
    '/v1/admin/configuration',
    { changes: [], version: 'x' },
    { method: 'PATCH', headers: { origin: 'https://evil.example' } },
  );
  expect(status).toBe(403);
});
