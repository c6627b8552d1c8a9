import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadConfig } from '../../../src/daemon/config/config.ts';
import { explainSettings } from '../../../src/daemon/config/explain.ts';
import type { ConfigFlags } from '../../../src/daemon/config/settings/setting.ts';
import { foldersOf } from '../../../src/shared/folders.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gateway-config-'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

const load = (env: Record<string, string> = {}, flags: ConfigFlags = {}) =>
  loadConfig({ flags, env: { GATEWAY_HOME: folder, ...env }, platform: 'linux', home: '/home/ada' });

/** Loads a file; resolves to the reported sentences, without the folder. */
async function faultsOf(text: string, env: Record<string, string> = {}): Promise<string[]> {
  await writeFile(join(folder, 'config.yaml'), text);
  const failure: unknown = await load(env).then(
    () => new Error('it was taken'),
    (error: unknown) => error,
  );
  return (failure as Error).message.replaceAll(`${folder}/`, '').split('\n');
}

test('paths that begin with ~/ are in the home folder, as a shell would have read them', async () => {
  const text = `storage: {url_file: ~/storage-url}
vault: {master_key_file: ~/key, passphrase_file: ~/passphrase}
wallet: {certificate_file: ~/.lnd/tls.cert, secret_file: ~/.lnd/admin.macaroon}
listen: {socket: ~/gateway.sock}
paywalls: {nginx: {file: ~/paywalls.conf}}
simulate: ~/script.yaml
`;
  await writeFile(join(folder, 'config.yaml'), text);
  const config = await load();
  expect(config).toMatchObject({
    database: { urlFile: '/home/ada/storage-url' },
    vault: { masterKeyFile: '/home/ada/key', passphraseFile: '/home/ada/passphrase' },
    live: {
      lightning: {
        certificateFile: '/home/ada/.lnd/tls.cert',
        secretFile: '/home/ada/.lnd/admin.macaroon',
      },
    },
    socketFile: { path: '/home/ada/gateway.sock' },
    simulatorScript: '/home/ada/script.yaml',
  });
  expect(JSON.stringify(config)).toContain('"/home/ada/paywalls.conf"');
});

test.each([
  ['/var/data', '/var/data/gateway'],
  ['', '/home/ada/.local/share/gateway'],
  // Relative ones are to be ignored, by the specification.
  ['data', '/home/ada/.local/share/gateway'],
  ['./data', '/home/ada/.local/share/gateway'],
])('the data folder with XDG_DATA_HOME %j is %s', (path, data) => {
  const env = { XDG_DATA_HOME: path };
  expect(foldersOf({ env, platform: 'linux', home: '/home/ada' }).data).toBe(data);
});

describe('the faults of a file', () => {
  test('are reported together, each with its line and column, from top to bottom', async () => {
    const text = [
      '# mine',
      'listen:',
      '  prot: 4200',
      'margin_percent: lots',
      'upstreams:',
      '  - name: acme',
      '    base_url: llm.acme.example/openai/v1',
      '    models: "*"',
      '    prices: { input: 0.59, outputs: "0.79" }',
      '  - name: other',
      '    base_url: https://x.example/v1',
      '    concurrency: none',
      '    queue: 30',
      '    queue_max: 0',
      'concurrency: { ollama: 0, ollama/llama3: { call: 2 }, vllm: { calls: 2, queue: soon } }',
      'aliases:',
      '  fast: 5',
      'nonsense: sim/echo',
    ].join('\n');
    expect(await faultsOf(text)).toEqual([
      'config.yaml:3:3: unknown key `prot`: did you mean `port`?',
      'config.yaml:4:17: `margin_percent` must be a number from 0 to 1000 with at most 4 decimals',
      'config.yaml:7:15: `upstreams[0].base_url` must be an address that starts with http:// or https://',
      'config.yaml:8:13: `upstreams[0].models` must be a list of names, or ["*"]',
      'config.yaml:9:13: `upstreams[0].prices` needs `output`',
      'config.yaml:9:22: `upstreams[0].prices.input` must be text: dollars like "0.59", below 4000; put quotes around 0.59',
      'config.yaml:9:28: unknown key `outputs`: did you mean `output`?',
      'config.yaml:10:5: `upstreams[1]` needs `models`',
      'config.yaml:12:18: `upstreams[1].concurrency` must be a number of calls from 1 to 10000',
      'config.yaml:13:12: `upstreams[1].queue` must be a time of at most 999 minutes, like 500ms, 30s or 2m',
      'config.yaml:14:16: `upstreams[1].queue_max` must be a number of calls from 1 to 10000',
      'config.yaml:15:24: `concurrency.ollama` must be a number of calls from 1 to 10000',
      'config.yaml:15:42: `concurrency.ollama/llama3` needs `calls`',
      'config.yaml:15:44: unknown key `call`: did you mean `calls`?',
      'config.yaml:15:80: `concurrency.vllm.queue` must be a time of at most 999 minutes, like 500ms, 30s or 2m',
      'config.yaml:17:9: `aliases.fast` must be text, a list of models or a map of models to weights; put quotes around 5',
      expect.stringMatching(/^config\.yaml:18:1: unknown key `nonsense`: valid keys are listen, /),
    ]);
  });

  test.each([
    ['a: [1,', /^config\.yaml:1:7: this is not YAML: /],
    ['upstreams:\n\t- name: x', /^config\.yaml:2:1: this is not YAML: /],
    ['- a', /^config\.yaml:1:1: the configuration must be a map of settings$/],
    ['margin_percent: 1\nmargin_percent: 2', /^config\.yaml:2:1: `margin_percent` is already set above$/],
    ['upstreams: [{ name: sim, base_url: "http://x", models: [m] }]', /:1:21: the name sim is taken/],
    [
      'concurrency: { olama: 2, ollama: 1 }',
      /^config\.yaml:1:16: no provider is named olama; the id of a model /,
    ],
    [
      'providers: { openai: {} }\nupstreams: [{ name: openai, base_url: "http://x", models: [m] }]',
      /:2:21: the name openai is taken/,
    ],
    ...['model', 'messages', 'input', 'stream'].flatMap((name): [string, RegExp][] => [
      [
        `upstreams:\n- { name: x, base_url: "http://x", models: [m], drop: [seed, ${name}] }`,
        new RegExp(`^config\\.yaml:2:\\d+: ${name} may not be dropped: every call needs it as it is$`),
      ],
      [
        `upstreams: [{ name: x, base_url: "http://x", models: [m], rename: { ${name}: other } }]`,
        new RegExp(`: ${name} may not be renamed: `),
      ],
      [
        `upstreams: [{ name: x, base_url: "http://x", models: [m], rename: { other: ${name} } }]`,
        new RegExp(`: ${name} may not be replaced: `),
      ],
    ]),
    ['upstreams: [{ name: x, base_url: "http://x", models: [m], drop: [a..b] }]', /names with dots/],
    [
      'upstreams: [{ name: x, base_url: "http://x", models: [m], rename: { "a b": c } }]',
      /a b is not the name of a member/,
    ],
    [
      'upstreams: [{ name: x, base_url: "http://x", models: [m], drop: [a], rename: { a: b } }]',
      /a is dropped, too: choose one/,
    ],
    [
      'upstreams: [{ name: x, base_url: "http://x", models: [m], prices: { m: { input: "1" } } }]',
      /`upstreams\[0\]\.prices\.m` needs `output`/,
    ],
    [
      'providers: { openai: { headers: { Host: x } } }',
      /:1:35: the header host is set by the gateway itself/,
    ],
    ['providers: { openai: { headers: { "a b": x } } }', /:1:35: this is not a valid header name/],
    [
      'providers: { openai: { headers: { x: "a\\nb" } } }',
      /:1:35: the value of the header x has invalid characters/,
    ],
    ['providers: { openai: { headers: { x: 5 } } }', /`providers\.openai\.headers\.x` must be text/],
    ['cors: { origins: [https://app.example/page] }', /`cors\.origins\[0\]` must be an origin like /],
    ['cors: { origins: [https://*] }', /`cors\.origins\[0\]` must be an origin like /],
    ['cors: { origins: [app.example] }', /`cors\.origins\[0\]` must be an origin like /],
    ['cors: { origins: [null] }', /must be an origin like .* or "null"$/],
    ['log: { level: loud }', /:1:15: `log\.level` must be one of trace, debug, info/],
  ])('%j: %s', async (text, expected) => {
    const [first, ...more] = await faultsOf(text);
    expect(first).toMatch(expected);
    expect(more).toEqual([]);
  });

  test('are reported together with those of the environment', async () => {
    const faults = await faultsOf('simulat: x', { GATEWAY_PORT: '70000', GATEWAY_LOG_LEVEL: 'loud' });
    expect(faults).toEqual([
      'config.yaml:1:1: unknown key `simulat`: did you mean `simulate`?',
      'GATEWAY_PORT: This must be a port from 0 to 65535.',
      'GATEWAY_LOG_LEVEL: This must be one of trace, debug, info, warn, error, silent.',
    ]);
  });
});

describe('a setting', () => {
  test('comes from the flag, then the environment, then the file, then the default', async () => {
    await writeFile(join(folder, 'config.yaml'), 'listen: { port: 3 }\nlog: { level: info }');
    const env = { GATEWAY_PORT: '2', GATEWAY_LOG_LEVEL: 'error' };
    expect(await load(env, { port: 1, logLevel: 'debug' })).toMatchObject({ port: 1, logLevel: 'debug' });
    expect(await load(env)).toMatchObject({ port: 2, logLevel: 'error' });
    expect(await load()).toMatchObject({ port: 3, logLevel: 'info', host: '127.0.0.1' });
  });

  test('may be an origin of a site, an extension or an app', async () => {
    const origins = [
      'https://app.example',
      'http://localhost:3000/',
      'app://obsidian.md',
      'chrome-extension://abcdefghijklmnop',
      'vscode-webview://*',
      'tauri://localhost',
      'file://',
      'null',
    ];
    await writeFile(join(folder, 'config.yaml'), `cors: { origins: ${JSON.stringify(origins)} }`);
    expect((await load()).corsOrigins).toEqual(origins);
  });

  test('resolves paths in the file against its folder', async () => {
    await writeFile(join(folder, 'config.yaml'), 'simulate: script.yaml');
    expect((await load()).simulatorScript).toBe(join(folder, 'script.yaml'));
  });

  test('resolves the socket like the port; in the file, relative to it', async () => {
    const text = 'listen: { socket: gateway.sock, socket_access: group }';
    await writeFile(join(folder, 'config.yaml'), text);
    const beside = { path: join(folder, 'gateway.sock'), access: 'group' };
    expect((await load()).socketFile).toEqual(beside);
    expect((await load({ GATEWAY_SOCKET: '' })).socketFile).toEqual(beside);
    const here = { path: resolve('other.sock'), access: 'group' };
    expect((await load({ GATEWAY_SOCKET: 'other.sock' })).socketFile).toEqual(here);
    const flagged = await load({ GATEWAY_SOCKET: '/b' }, { socket: '/a' });
    expect(flagged.socketFile).toEqual({ path: '/a', access: 'group' });
    await writeFile(join(folder, 'config.yaml'), '');
    expect((await load()).socketFile).toBeUndefined();
  });

  test('with an empty or missing key variable leaves the upstream without a key', async () => {
    await writeFile(
      join(folder, 'config.yaml'),
      'upstreams: [{ name: x, base_url: "http://x/", key_env: X_KEY, models: ["*"] }]',
    );
    expect((await load({ X_KEY: ' ' })).upstreams[0]?.key).toBeUndefined();
    expect((await load({ X_KEY: ' secret\n' })).upstreams[0]?.key).toBe('secret');
  });
});

describe('the command to reach the daemon', () => {
  const typed = async (env: Record<string, string>, flags: ConfigFlags = {}) =>
    (await loadConfig({ flags, env, platform: 'linux', home: '/home/ada' })).typed;

  test('is the plain command if its files are in the default folder', async () => {
    expect(await typed({})).toEqual({ name: 'gateway', first: undefined });
    expect(await typed({ npm_command: 'exec' })).toEqual({ name: 'npx gateway', first: undefined });
  });

  test.each([
    [{ GATEWAY_HOME: '/srv/g' }, {}, 'export GATEWAY_HOME=/srv/g'],
    [{}, { dataFolder: "/srv/Ada's data" }, "export GATEWAY_HOME='/srv/Ada'\\''s data'"],
  ])('sets the folder first otherwise: %j %j', async (env, flags, first) => {
    expect((await typed(env as Record<string, string>, flags)).first).toBe(first);
  });
});

describe('the database', () => {
  const secret = 'DATABASECANARY0123';

  test('is the file of the data folder, unless an address is given', async () => {
    await writeFile(join(folder, 'config.yaml'), '');
    expect((await load()).database).toBeUndefined();
    await writeFile(join(folder, 'config.yaml'), 'storage: {url: postgres://gateway@db.lan/gateway}');
    expect((await load()).database).toEqual({
      setting: 'storage.url',
      url: 'postgres://gateway@db.lan/gateway',
    });
    await writeFile(join(folder, 'config.yaml'), 'storage: {url_file: storage-url}');
    expect((await load()).database).toEqual({
      setting: 'storage.url_file',
      urlFile: join(folder, 'storage-url'),
    });
    const env = { GATEWAY_STORAGE_URL: `postgres://gateway:${secret}@db.lan/gateway` };
    expect((await load(env)).database).toMatchObject({ setting: 'GATEWAY_STORAGE_URL' });
  });

  test.each([
    `postgres://gateway:${secret}@db.lan/gateway`,
    `postgres://gateway@db.lan/gateway?password=${secret}`,
  ])('must not have its password in the file: %s', async (url) => {
    const [fault = '', ...others] = await faultsOf(`storage: {url: "${url}"}`);
    expect(others).toEqual([]);
    expect(fault).toMatch(/^config\.yaml:1:\d+: .*must not contain a password: .* GATEWAY_STORAGE_URL/);
    expect(fault).not.toContain(secret);
  });

  test.each([
    `mysql://gateway:${secret}@db.lan/gateway`,
    `gateway:${secret}@db.lan/gateway`,
    `postgres://gateway:${secret}/x@db.lan/gateway`,
    `postgres://gateway:12/${secret}@db.lan/gateway`,
  ])('must have an address of PostgreSQL, which is not repeated if it is none: %s', async (url) => {
    const faults = [
      ...(await faultsOf('', { GATEWAY_STORAGE_URL: url })),
      ...(await faultsOf(`storage: {url: "${url}"}`)),
    ];
    expect(faults).toHaveLength(2);
    expect(faults[0]).toMatch(/^GATEWAY_STORAGE_URL: This must (be an address like|have special characters)/);
    expect(faults[1]).toMatch(/storage\.url` must (be an address like|have special characters)/);
    expect(faults.join()).not.toContain(secret);
  });

  test.each([
    [`postgres://gateway:${secret}@db.lan/gateway`, 'postgres://gateway@db.lan/gateway'],
    [`postgres://gateway@db.lan/gateway?password=${secret}`, 'postgres://gateway@db.lan/gateway'],
    [`postgres://gateway:12/${secret}@db.lan/gateway`, 'postgres://***'],
  ])('is shown without its password: %s', (url, shown) => {
    const sources = { flags: {}, text: '', path: 'config.yaml', env: { GATEWAY_STORAGE_URL: url } };
    const found = explainSettings(sources).find(({ name }) => name === 'storage.url');
    expect(found).toMatchObject({ value: shown, source: 'environment', place: 'GATEWAY_STORAGE_URL' });
  });
});
