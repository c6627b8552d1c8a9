import { mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { configTools } from '../../src/daemon/wiring/config-tools.ts';
import { eventually } from '../support/eventually.ts';
import { runCli, temporaryHome } from '../support/run-cli.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

let daemon: RunningDaemon;
const first = 'local_servers: false\nmargin_percent: 0\n';

const cli = (...args: string[]) =>
  runCli(args, { env: { GATEWAY_HOME: daemon.home }, loadConfigTools: async () => configTools });
const write = (text: string) => writeFile(join(daemon.home, 'config.yaml'), text);
const margin = async () =>
  ((await (await daemon.fetch('/v1/rates')).json()) as { margin_percent: number }).margin_percent;
const ask = (model: string) => daemon.fetch('/v1/responses', { json: { model, input: 'Hi.' } });

beforeAll(async () => {
  daemon = await startDaemon({ config: first });
});

afterAll(() => daemon.stop());

beforeEach(async () => {
  await write(first);
  await cli('reload');
});

test('a changed file is applied automatically', async () => {
  await write(`${first}aliases: { quick: sim/echo }\n`);
  await eventually('the alias', async () => (await ask('quick')).status === 200);
  expect(daemon.printed().stderr).toContain('Configuration changed: aliases.');
});

test('so is a file replaced by a rename, as editors do', async () => {
  const next = join(daemon.home, 'next.yaml');
  await writeFile(next, 'local_servers: false\nmargin_percent: 7\n');
  await rename(next, join(daemon.home, 'config.yaml'));
  await eventually('the margin', async () => (await margin()) === 7);
});

test('a file that is gone changes nothing until it is back', async () => {
  const file = join(daemon.home, 'config.yaml');
  await write(`${first}billing: { mode: prepaid }\nmargin_percent: 5\n`.replace('margin_percent: 0\n', ''));
  await eventually('the margin', async () => (await margin()) === 5);
  await rm(file);
  const { code, stderr } = await cli('reload');
  expect({ code, stderr }).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('There is no such file'),
  });
  await eventually('the word', () => daemon.printed().stderr.includes('There is no such file'));
  expect(await margin()).toBe(5);
  expect((await cli('credit', 'show', '--json')).stdout).toContain('"billing":"prepaid"');
  await write(first);
  await eventually('the margin', async () => (await margin()) === 0);
});

test('so is a file behind a link that is exchanged, as for a mounted configuration', async () => {
  const at = (name: string) => join(daemon.home, name);
  for (const percent of [2, 3]) {
    await mkdir(at(`v${percent}`));
    await writeFile(at(`v${percent}/config.yaml`), `local_servers: false\nmargin_percent: ${percent}\n`);
  }
  const pointTo = async (folder: string) => {
    await symlink(folder, at('next'));
    await rename(at('next'), at('data'));
  };
  await pointTo('v2');
  await symlink('data/config.yaml', at('link'));
  await rename(at('link'), at('config.yaml'));
  await eventually('the margin', async () => (await margin()) === 2);
  await pointTo('v3');
  await eventually('the margin', async () => (await margin()) === 3);
  await rm(at('config.yaml'));
});

test('gateway reload reports what changed and what needs a restart', async () => {
  await write(`${first}cors: { origins: ['https://app.example'] }\ncache: { default: read-write }\n`);
  const { stdout, code } = await cli('reload', '--json');
  expect(code).toBe(0);
  const report = JSON.parse(stdout);
  expect(report.waiting).toContain('cors.origins');
  const { stdout: settings } = await cli('config', 'get', '--json');
  const all = JSON.parse(settings) as { name: string; value: unknown; waits_for_restart: boolean }[];
  expect(all.find(({ name }) => name === 'cors.origins')).toMatchObject({ waits_for_restart: true });
  expect(all.find(({ name }) => name === 'cache.default')).toMatchObject({ value: 'read-write' });
});

test('the limit of background responses applies from the next one on', async () => {
  const json = { model: 'sim/slow', input: 'Write 2000 words.', background: true };
  const begin = () => daemon.fetch('/v1/responses', { json });
  await write(`${first}background: { max_running: 1 }\n`);
  await cli('reload');
  const begun = await begin();
  const refused = await begin();
  expect([begun.status, refused.status]).toEqual([200, 429]);
  expect(await refused.json()).toMatchObject({
    error: { message: expect.stringContaining('maximum number of background responses (1) is running') },
  });
  await write(`${first}background: { max_running: 2 }\n`);
  await cli('reload');
  const next = await begin();
  expect(next.status).toBe(200);
  for (const each of [begun, next]) {
    const { id } = (await each.json()) as { id: string };
    await daemon.fetch(`/v1/responses/${id}/cancel`, { method: 'POST' });
  }
});

test('SIGHUP reloads', async () => {
  await write('local_servers: false\nmargin_percent: 4\n');
  process.kill(process.pid, 'SIGHUP');
  await eventually('the margin', async () => (await margin()) === 4);
});

test('a provider is added, changed and removed', async () => {
  const upstream = (url: string) =>
    `${first}upstreams: [{ name: near, base_url: "${url}", models: [one] }]\n`;
  await write(upstream('http://127.0.0.1:9/v1'));
  await cli('reload');
  const models = async () => JSON.stringify(await (await daemon.fetch('/v1/models')).json());
  expect(await models()).toContain('near/one');
  await write(first);
  await cli('reload');
  expect(await models()).not.toContain('near/one');
});

test('the status reports an upstream that accepts any model name', async () => {
  await write(`${first}upstreams: [{ name: mine, base_url: "http://127.0.0.1:9/v1", models: ["*"] }]\n`);
  await cli('reload');
  const { stdout } = await cli('status', '--json');
  expect(JSON.parse(stdout).providers).toContainEqual({
    name: 'mine',
    state: 'available',
    models: 0,
    reason: 'takes any name: mine/MODEL',
  });
});

test('all workspaces become prepaid once that is set', async () => {
  await write(`${first}billing: { mode: prepaid }\n`);
  await cli('reload');
  const { stdout } = await cli('credit', 'show', '--json');
  expect(JSON.stringify(JSON.parse(stdout))).toContain('"billing":"prepaid"');
});

test('an invalid file is reported with line and column, and nothing changes', async () => {
  await write('local_servers: false\nmargin_percent: 9\nlisten:\n  prot: 1\n');
  const { code, stderr } = await cli('reload');
  expect(code).toBe(1);
  expect(stderr).toContain('config.yaml:4:3');
  expect(stderr).toContain('Nothing was changed');
  expect(await margin()).toBe(0);
  await eventually('the word', () => daemon.printed().stderr.includes('the previous one stays'));
});

test('`config set` applies the value', async () => {
  const { code, stderr } = await cli('config', 'set', 'margin_percent', '3');
  expect({ code, stderr }).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('The daemon has reloaded it.'),
  });
  expect(await margin()).toBe(3);
  expect((await cli('config', 'get', 'margin_percent')).stdout).toBe('3\n');
  expect(await readFile(join(daemon.home, 'config.yaml'), 'utf8')).toBe(
    'local_servers: false\nmargin_percent: 3\n',
  );
});

test('an upstream is added, listed and removed by name, and the rest of the file stays', async () => {
  const before = `# mine\n${first}cache:   { default: off }   # not yet\n`;
  await write(before);
  const add = ['upstreams', 'add', 'acme', 'https://llm.acme.example/v1', '--models', 'one, two'];
  const { code, stderr } = await cli(...add, '--format', 'responses', '--key-env', 'ACME_KEY');
  expect({ code, stderr }).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('The daemon has reloaded it.'),
  });
  expect(stderr).toContain('The daemon reads the key from ACME_KEY when it starts.');
  const text = await readFile(join(daemon.home, 'config.yaml'), 'utf8');
  expect(text.startsWith(before)).toBe(true);
  const listed = JSON.parse((await cli('upstreams', '--json')).stdout);
  expect(listed).toEqual([
    {
      name: 'acme',
      base_url: 'https://llm.acme.example/v1',
      format: 'responses',
      models: ['one', 'two'],
      key_env: 'ACME_KEY',
    },
  ]);
  expect(await cli(...add)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('already an upstream acme'),
  });
  expect(await cli('upstreams', 'remove', 'none', '--yes')).toMatchObject({ code: 1 });
  expect(await cli('upstreams', 'remove', 'acme', '--yes')).toMatchObject({ code: 0 });
  expect(await readFile(join(daemon.home, 'config.yaml'), 'utf8')).toBe(before);
});

test('`config set` says when a value needs a restart', async () => {
  const { stderr } = await cli('config', 'set', 'vault.store', 'passphrase');
  expect(stderr).toContain('Restart the daemon to apply it');
  await cli('config', 'unset', 'vault.store');
});

test('`config set` rejects an invalid value with the reason', async () => {
  expect(await cli('config', 'set', 'margin_percent', 'much')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('margin_percent'),
  });
  expect(await cli('config', 'get', 'nothing')).toMatchObject({ code: 2 });
});

describe('the default model', () => {
  const status = async () => JSON.parse((await cli('status', '--json')).stdout);
  const priced = `${first}upstreams:
  - { name: dear, base_url: "http://127.0.0.1:9/v1", models: [large], prices: { input: "1", output: "2" } }
`;

  test('does not become one that costs money by itself', async () => {
    await write(priced);
    await cli('reload');
    expect(await status()).toMatchObject({
      default_model: 'sim/assistant',
      default_model_source: 'simulator',
      suggested_model: 'dear/large',
    });
    const { stderr } = await cli('respond', 'Hi.', '--no-stdin');
    expect(stderr).toContain('gateway config set default_model dear/large ($1 in and $2 out');
    expect(stderr).toContain('sim/assistant via simulator');
  });

  test('is what the configuration says, for commands and for responses without a model', async () => {
    const json = { input: 'Hi.', model: null };
    const refused = await daemon.fetch('/v1/responses', { json });
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({ error: { param: 'model' } });
    await cli('config', 'set', 'default_model', 'sim/echo');
    expect(await status()).toMatchObject({
      default_model: 'sim/echo',
      default_model_source: 'configuration',
    });
    const { stderr } = await cli('respond', 'Hi.', '--no-stdin');
    expect(stderr).toContain('sim/echo via simulator');
    expect(stderr).not.toContain('default_model');
    expect(await (await daemon.fetch('/v1/responses', { json })).json()).toMatchObject({ model: 'sim/echo' });
    expect(await (await daemon.fetch('/v1/responses', { json: { input: 'Hi.' } })).json()).toMatchObject({
      model: 'sim/echo',
    });
  });

  test('and aliases must name a model that can be called', async () => {
    const { code, stderr } = await cli('config', 'set', 'default_model', 'openai/gpt-5-minni');
    expect(code).toBe(2);
    expect(stderr).toContain('default_model: There is no model "openai/gpt-5-minni". Did you mean');
    expect(stderr).toContain('Nothing was written.');
    expect(await readFile(join(daemon.home, 'config.yaml'), 'utf8')).toBe(first);
    // The running daemon knows the models of its local servers, so this is not one of them.
    expect((await cli('config', 'set', 'default_model', 'gpt-nosuch')).code).toBe(2);
    // The daemon resolves names, so those that only it knows pass.
    expect((await cli('config', 'set', 'aliases.quick', 'echo')).code).toBe(0);
  });

  test('can be forced to a name that nothing has yet, which warns once', async () => {
    const alias = await cli('config', 'set', 'aliases.bad', 'nosuch/model', '--force', '--json');
    expect(alias.code).toBe(0);
    expect(JSON.parse(alias.stdout).warnings).toMatchObject([
      { setting: 'aliases.bad', model: 'nosuch/model' },
    ]);
    expect((await cli('config', 'set', 'margin_percent', '1')).stderr).not.toContain('Warning');
    expect((await cli('reload')).stderr).toContain('Warning: aliases.bad:');
  });

  test('is checked without a daemon, too', async () => {
    const home = await temporaryHome();
    const offline = (...args: string[]) =>
      runCli(args, { env: { GATEWAY_HOME: home }, loadConfigTools: async () => configTools });
    const { code, stderr } = await offline('config', 'set', 'default_model', 'nosuch/model');
    expect(code).toBe(2);
    expect(stderr).toContain('default_model: There is no model "nosuch/model".');
    // These may be models of a local server, which only a daemon finds.
    for (const model of ['ollama/qwen3', 'qwen3']) {
      const local = await offline('config', 'set', 'default_model', model);
      expect([local.code, local.stderr.includes('Warning')]).toEqual([0, false]);
    }
    // Only the daemon may have the key of this upstream.
    const upstream = '[{ name: far, base_url: "https://far.example/v1", key_env: FAR_KEY, models: ["*"] }]';
    await offline('config', 'set', 'upstreams', upstream);
    expect((await offline('config', 'set', 'default_model', 'far/large')).stderr).not.toContain('Warning');
    expect((await offline('config', 'unset', 'upstreams')).stderr).toContain('Warning: default_model');
  });
});

test('`config set` changes the file of the running daemon', async () => {
  const folder = await temporaryHome();
  const file = join(folder, 'other.yaml');
  await writeFile(file, first);
  const other = await startDaemon({ configFile: file });
  const set = (...args: string[]) =>
    runCli(['config', 'set', 'margin_percent', ...args], {
      env: { GATEWAY_HOME: other.home },
      loadConfigTools: async () => configTools,
    });
  const { stderr } = await set('4');
  expect(stderr).toBe(`Written to ${file}. The daemon has reloaded it.\n`);
  expect(await (await other.fetch('/v1/rates')).json()).toMatchObject({ margin_percent: 4 });
  const aside = join(folder, 'aside.yaml');
  expect((await set('5', '--config', aside)).stderr).toBe(
    `Written to ${aside}.\nThe running daemon uses another file: ${file}\n`,
  );
  await other.stop();
});

test('upstreams are listed and added before there is a file and a daemon', async () => {
  const home = await temporaryHome();
  const first = (...args: string[]) =>
    runCli(['upstreams', ...args], { env: { GATEWAY_HOME: home }, loadConfigTools: async () => configTools });
  expect(await first('list', '--json')).toMatchObject({ code: 0, stdout: '[]\n' });
  expect(await first('remove', 'acme', '--yes')).toMatchObject({ code: 1 });
  expect(await first('add', 'acme', 'https://llm.acme.example/v1')).toMatchObject({ code: 0 });
  expect((await first('list', '--json=name')).stdout).toContain('"acme"');
});

test('`config path` and `config schema` need no daemon', async () => {
  const elsewhere = { env: { GATEWAY_HOME: '/nowhere' }, loadConfigTools: async () => configTools };
  expect((await runCli(['config', 'path'], elsewhere)).stdout).toBe('/nowhere/config.yaml\n');
  const { stdout } = await runCli(['config', 'schema'], elsewhere);
  expect(JSON.parse(stdout)).toMatchObject({ type: 'object', properties: { listen: expect.any(Object) } });
  const got = await runCli(['config', 'get', 'listen', '--json'], elsewhere);
  expect(JSON.parse(got.stdout)[1]).toMatchObject({ name: 'listen.port', value: 4100, source: 'default' });
});
