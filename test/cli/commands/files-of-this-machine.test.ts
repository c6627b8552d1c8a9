import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { configTools } from '../../../src/daemon/wiring/config-tools.ts';
import { exitCodes } from '../../../src/shared/errors.ts';
import { runCli, temporaryHome } from '../../support/run-cli.ts';
import { type RunningDaemon, startDaemon } from '../../support/start-daemon.ts';

let daemon: RunningDaemon;
/** A folder that only the daemon knows about. */
let elsewhere: string;
const margin = 'margin_percent: 0\nlocal_servers: false\n';

beforeAll(async () => {
  elsewhere = await mkdtemp(join(tmpdir(), 'gateway-config-'));
  const configFile = join(elsewhere, 'gateway.yaml');
  await writeFile(configFile, margin);
  daemon = await startDaemon({ configFile });
});

afterAll(async () => {
  await daemon.stop();
  await rm(elsewhere, { recursive: true });
});

const run = (line: string, env: Record<string, string> = {}) =>
  runCli(line.split(' '), {
    env: { GATEWAY_HOME: daemon.home, ...env },
    loadConfigTools: async () => configTools,
  });
const add = 'upstreams add acme https://llm.acme.example/v1';

test('with a key in GATEWAY_KEY the file of the running daemon is changed', async () => {
  const env = { GATEWAY_KEY: daemon.key };
  const { stdout: path } = await run('config path', env);
  expect(await run('config set aliases.fast sim/echo', env)).toMatchObject({ code: 0 });
  expect(await run(add, env)).toMatchObject({ code: 0 });
  const text = await readFile(path.trim(), 'utf8');
  expect(text).toContain('fast: sim/echo');
  expect(text).toContain('llm.acme.example');
  expect(await readFile(join(daemon.home, 'config.yaml'), 'utf8')).not.toMatch('fast|acme');
});

test.each([
  ['config set margin_percent 3', 'The configuration'],
  ['config unset margin_percent', 'The configuration'],
  ['config path', 'The configuration'],
  [add, 'The configuration'],
  ['upstreams list', 'The configuration'],
  ['upstreams remove acme --yes', 'The configuration'],
  ['keys default', 'The default key'],
])('%s is refused for a host in use, which has its own', async (line, what) => {
  await run('host add attic https://attic.example.org');
  const before = await readFile((await run('config path')).stdout.trim(), 'utf8');
  await run('host use attic');
  try {
    const { code, stdout, stderr } = await run(line);
    expect([code, stdout]).toEqual([exitCodes.usage, '']);
    expect(stderr).toContain(`${what} of attic is a file of its own machine.`);
    expect((await run(`${line} --host local`)).stderr).not.toContain('attic');
    expect((await run(line, { GATEWAY_HOST: daemon.url })).stderr).not.toContain('of its own machine');
  } finally {
    await run('host use local');
    await writeFile((await run('config path')).stdout.trim(), before);
  }
});

test('an upstream can be the first of a new file, with each of its models once', async () => {
  const file = join(elsewhere, 'new.yaml');
  expect((await run(`${add} --models m1,,m2,m1 --config ${file}`)).code).toBe(0);
  expect((await run(`upstreams list --json=models --config ${file}`)).stdout).toBe(
    '[{"models":["m1","m2"]}]\n',
  );
});

test.each(['http://127.0.0.1:4100', 'localhost:4100', 'http://[::1]:4100'])(
  'without a daemon here, %s may be where it will run',
  async (address) => {
    const home = await temporaryHome();
    const own = (line: string) => run(line, { GATEWAY_HOME: home, GATEWAY_HOST: address });
    expect(await own('config set margin_percent 3')).toMatchObject({ code: 0 });
    expect((await own('config path')).stdout).toBe(`${home}/config.yaml\n`);
  },
);

describe('a daemon of its own', () => {
  let own: RunningDaemon;
  beforeAll(async () => {
    own = await startDaemon();
  });
  afterAll(() => own.stop());

  const of = (line: string) => run(line, { GATEWAY_HOME: own.home });

  test('without a file has no upstreams, and gets the first', async () => {
    await rm(join(own.home, 'config.yaml'));
    expect(await of('upstreams list')).toMatchObject({ code: 0, stdout: '' });
    expect((await of(add)).code).toBe(0);
    expect((await of('upstreams list --json=name')).stdout).toContain('"acme"');
  });

  test('prints no default key that was revoked', async () => {
    expect((await of('keys default')).stdout).toBe(`${own.key}\n`);
    await of('keys revoke default --yes');
    const { code, stdout, stderr } = await of('keys default');
    expect([code, stdout]).toEqual([exitCodes.failed, '']);
    expect(stderr).toContain('The default key has been revoked.');
    expect((await of('keys show default --json')).stdout).toContain('"status":"revoked"');
  });
});

describe('a key in place of the name of its variable', () => {
  const key = 'sk-proj-0123456789abcdefghij';

  test.each([
    `upstreams add pasted https://llm.acme.example/v1 --key-env ${key}`,
    `config set providers.openai.key_env ${key}`,
    `config set providers.groq.key_env gsk_0123456789abcdefghijABCD`,
    `config set providers.openai.key_env [${key}]`,
  ])('%s is refused, and repeated nowhere', async (line) => {
    const { code, stdout, stderr } = await run(line);
    expect(code).toBe(exitCodes.usage);
    expect(stdout + stderr).not.toMatch(/0123456789/);
    expect(await readFile((await run('config path')).stdout.trim(), 'utf8')).not.toContain('0123456789');
  });

  test.each(['OPENAI_API_KEY', 'hf_token_for_embeddings', 'acme.key', 'sk', 'gsk_key'])(
    '%s is a name',
    async (name) => {
      expect((await run(`config set providers.openai.key_env ${name}`)).code).toBe(0);
    },
  );
});

test.each([[['']], [['   ']], [['--user', '']], [['--forget', '--user', '']], [['--key', ' ']]])(
  'capture clear %j is refused, as its condition is empty by mistake',
  async (words) => {
    const { code, stderr } = await runCli(['capture', 'clear', ...words, '--yes'], {
      env: { GATEWAY_HOME: daemon.home },
    });
    expect([code, stderr]).toEqual([exitCodes.usage, expect.stringContaining('A condition is empty')]);
    const query = words.length > 1 ? 'user=' : `q=${words[0]}`;
    const answer = await fetch(
      `${daemon.url}/v1/traces/content?${query}${words.length > 2 ? '&forget=true' : ''}`,
      {
        method: 'DELETE',
        headers: { authorization: `Bearer ${daemon.login}` },
      },
    );
    expect(answer.status).toBe(400);
  },
);

test('capture clear asks, and says what goes', async () => {
  const all = await run('capture clear');
  expect(all.code).toBe(exitCodes.usage);
  expect(all.stderr).toContain('Delete the texts of ALL calls (content of calls, stored responses,');
  const one = await run('capture clear --user anna --only threads --forget');
  expect(one.stderr).toContain(
    'the texts of the calls that match (runs of threads), and the name of the user? They cannot be restored.',
  );
});
