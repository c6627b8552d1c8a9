import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hostUrl } from '../../src/cli/hosts/host-address.ts';
import { homeFolder, tidyEnvironment } from '../../src/cli/tidy-environment.ts';
import { loadConfig } from '../../src/daemon/config/config.ts';
import type { ConfigFlags } from '../../src/daemon/config/settings/setting.ts';
import { fakeDaemon } from '../cli/fake-daemon.ts';
import { runCli } from '../support/run-cli.ts';

/** What env files, containers and unit files were reported to make of variables. */

let home: string;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'gateway-environment-'));
  await writeFile(join(home, 'key'), 'sk-of-a-file\r\n');
});

afterAll(() => rm(home, { recursive: true, force: true }));

async function load(env: Record<string, string>, flags: ConfigFlags = {}) {
  tidyEnvironment(env);
  return await loadConfig({ flags, env, platform: 'linux', home });
}

async function openAiWith(env: Record<string, string>) {
  const { providers } = await load(env);
  return providers.find(({ name }) => name === 'openai');
}

test.each([
  ['stripe/stripe-python#334', 'the line end of Windows', 'sk-1\r\n'],
  ['BerriAI/litellm#27596', 'quotation marks, which `docker run --env-file` keeps', '"sk-1"'],
  ['martabal/qbittorrent-exporter#259', 'others in a list of a compose file', "'sk-1'"],
  ['Code-Amadeus/Amadeus#20', 'both', ' "sk-1 " \r'],
  ['withceleste/celeste-python#116', 'what was copied with its scheme', 'Bearer sk-1'],
])('%s: a key without %s', async (_cite, _what, written) => {
  expect(await openAiWith({ OPENAI_API_KEY: written })).toMatchObject({ key: 'sk-1', keys: undefined });
});

test.each([
  ['sendgrid/sendgrid-nodejs#732', 'a second line', 'sk-1\nsk-2'],
  ['1Password/connect-sdk-go#73', 'what a page made of its end', 'sk-1…'],
])('%s: what is no key because of %s is not sent, and named', async (_cite, _what, written) => {
  const account = await openAiWith({ OPENAI_API_KEY: written });
  expect(account).toMatchObject({
    key: undefined,
    keySource: { problem: 'OPENAI_API_KEY has a line end or characters that no key has' },
  });
});

test('jdx/mise#483: ~ in a variable is the home folder, as a shell would have read it', async () => {
  const config = await load({
    GATEWAY_HOME: '"~/data"\r',
    GATEWAY_MASTER_KEY_FILE: '~/master',
    OPENAI_API_KEY_FILE: '~/key',
  });
  expect(config).toMatchObject({
    dataFolder: join(home, 'data'),
    configFile: join(home, 'data/config.yaml'),
    vault: { masterKeyFile: join(home, 'master') },
  });
  expect(config.providers.find(({ name }) => name === 'openai')?.key).toBe('sk-of-a-file');
});

// fosrl/cli#44, chenhg5/cc-connect#1634: services and containers set no home folder, or none that is one.
test.each(['', '.', 'app', '~'])(
  'HOME=%s is none, as it is another folder wherever a command runs',
  (HOME) => {
    const env: Record<string, string | undefined> = { HOME };
    tidyEnvironment(env);
    expect(env).toEqual({});
    expect(homeFolder(env, () => '/home/ada')).toBe('/home/ada');
  },
);

test('linagora/openrag#489: a user whom the system does not know has the home folder of containers', () => {
  const env: Record<string, string | undefined> = {};
  const home = homeFolder(env, () => {
    throw new Error('uv_os_homedir returned ENOENT');
  });
  expect([home, env.HOME]).toEqual(['/', '/']);
});

test('openshift/installer#1821: so it is after --data=, where no shell reads it', async () => {
  const { dataFolder, recordings } = await load({}, { dataFolder: '~/data', record: '~/calls' });
  expect([dataFolder, recordings.record]).toEqual([join(home, 'data'), join(home, 'calls')]);
});

test('achtungsoftware/alarik#8: settings and proxies are tidied likewise', async () => {
  const config = await load({
    GATEWAY_LOG_LEVEL: '"info"\r',
    GATEWAY_PORT: ' 4200\r',
    HTTPS_PROXY: '"http://proxy.example:3128"',
    OTEL_EXPORTER_OTLP_ENDPOINT: "'http://127.0.0.1:4318'",
  });
  expect(config).toMatchObject({
    logLevel: 'info',
    port: 4200,
    proxies: { https: 'http://proxy.example:3128' },
    otlp: { url: 'http://127.0.0.1:4318/v1/traces' },
  });
});

test('logicalclocks/hopsworks-api#184: a key that no header can have is named, and not printed', async () => {
  const { env } = await fakeDaemon({});
  const { code, stderr } = await runCli(['openapi'], { env: { ...env, GATEWAY_KEY: 'gwk_one\ngwk_two' } });
  expect(code).toBe(4);
  expect(stderr).toContain('GATEWAY_KEY has a line end');
  expect(stderr).not.toContain('gwk_');
});

test('rohitg00/agentmemory#628: the address that SDKs get is one of a host, too', () => {
  expect(hostUrl('http://127.0.0.1:4100/v1/')).toBe('http://127.0.0.1:4100');
  expect(hostUrl('https://gateway.example/team/v1')).toBe('https://gateway.example/team');
});

// google-gemini/gemini-cli#17870, ben-challis/greenlight#726: a file of variables says that this is no CI.
test.each([
  [undefined, true],
  ['', true],
  ['false', true],
  ['0', true],
  ['true', false],
  ['woodpecker', false],
])('with CI=%s a terminal has colours: %s', async (CI, hasColours) => {
  const { env } = await fakeDaemon({});
  const { stdout } = await runCli(['host', 'list'], {
    env: { ...env, ...(CI !== undefined && { CI }) },
    tty: true,
  });
  expect(stdout.includes('\u001b[1m')).toBe(hasColours);
});
