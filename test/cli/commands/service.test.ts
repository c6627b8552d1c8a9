import { execFileSync, spawnSync } from 'node:child_process';
import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  environmentText,
  plistText,
  programsIn,
  unitText,
} from '../../../src/cli/commands/service/service-files.ts';
import { settings } from '../../../src/daemon/config/settings/table.ts';
import { providerFacts } from '../../../src/shared/known-providers.ts';
import { runCli, temporaryHome } from '../../support/run-cli.ts';

const facts = {
  node: '/opt/node/bin/node',
  program: '/srv/with space/100%/gateway.js',
  environmentFile: '/home/me/.config/gateway/service.env',
  home: '/data/my gateway',
  configFile: undefined,
};

describe('the unit', () => {
  test('has absolute paths, and restarts after a crash but not when the user must act', () => {
    const unit = unitText(facts);
    expect(unit).toContain('ExecStart=/opt/node/bin/node "/srv/with space/100%%/gateway.js" serve\n');
    expect(unit).toContain('Environment="GATEWAY_HOME=/data/my gateway"\n');
    expect(unit).toContain('Environment=MALLOC_ARENA_MAX=2\n');
    expect(unit).toContain('EnvironmentFile=-/home/me/.config/gateway/service.env\n');
    // automagik-dev/omni#62: `$` begins a variable in a command only, `%` a specifier in both.
    const odd = unitText({ ...facts, home: '/data/$x 5%', program: '/srv/$x/gateway.js' });
    expect(odd).toContain('Environment="GATEWAY_HOME=/data/$x 5%%"\n');
    expect(odd).toContain('"/srv/$$x/gateway.js" serve\n');
    expect(unit).toContain('Restart=on-failure\nRestartPreventExitStatus=2 78\n');
  });

  const hasChecker = spawnSync('systemd-analyze', ['--version']).status === 0;
  test.skipIf(!hasChecker)('is one that systemd takes (skipped without systemd-analyze)', async () => {
    const folder = await temporaryHome();
    const file = join(folder, 'gateway.service');
    const there = { node: process.execPath, program: join(folder, 'a gateway.js') };
    await writeFile(file, unitText({ ...facts, ...there, configFile: '/etc/my config.yaml' }));
    const { stdout, stderr } = spawnSync('systemd-analyze', ['--user', 'verify', file], {
      env: { ...process.env, XDG_RUNTIME_DIR: folder },
      encoding: 'utf8',
    });
    const about = `${stdout}${stderr}`.split('\n').filter((line) => line.includes('gateway.service'));
    expect(about).toEqual([]);
  });
});

test.each([
  ['/opt/node/bin/node', '/srv/gateway.js'],
  ['/opt/a "node"\\/bin/node', '/srv/with space/100%/$x/gateway.js'],
  ["/Users/o'neil/node", '/srv/<a>&b/gateway.js'],
])('what is started is read from either: %s %s', (node, program) => {
  const odd = { ...facts, node, program, configFile: "/etc/it's & so.yaml" };
  expect(programsIn(unitText(odd))).toEqual([node, program]);
  expect(programsIn(plistText(odd, { logFile: '/tmp/log' }))).toEqual([node, program]);
  expect(programsIn('')).toEqual([]);
});

describe('variables', () => {
  const env = {
    OPENAI_API_KEY: 'sk-with "quotes" $and `more` \\ here',
    ACME_LLM_KEY: 'gsk_1',
    HOME: '/home/me',
    GOOGLE_API_KEY: 'two\nlines',
  };

  test('are the provider keys and the named ones, quoted for a shell', async () => {
    const text = environmentText(env, ['ACME_LLM_KEY']);
    expect(text).toContain('ACME_LLM_KEY="gsk_1"');
    expect(text).not.toMatch(/HOME|GOOGLE/);
    const file = join(await temporaryHome(), 'service.env');
    await writeFile(file, text);
    const read = execFileSync('/bin/sh', ['-c', `. ${file}; printf %s "$OPENAI_API_KEY"`], {
      encoding: 'utf8',
    });
    expect(read).toBe(env.OPENAI_API_KEY);
  });
});

test.each([
  ...settings.flatMap(({ env = [] }) => env),
  ...Object.values(providerFacts).flatMap(({ keyVariables }) => keyVariables),
  ...['HTTPS_PROXY', 'no_proxy', 'NODE_EXTRA_CA_CERTS', 'NODE_USE_SYSTEM_CA'],
  // The programs of hooks are found by it: Signet-AI/signetai#1452, lezli01/vincent#56, drn/argus#613, pingdotgg/t3code#8173
  ...['PATH', 'XDG_CONFIG_HOME', 'XDG_DATA_HOME'],
])('the service gets %s', (name) => {
  expect(environmentText({ [name]: 'value' }, [])).toBe(`${name}="value"\n`);
});

describe('the property list', () => {
  test('is XML with a valid shell script', () => {
    const plist = plistText({ ...facts, program: "/it's/<here>.js" }, { logFile: '/data/service.log' });
    const [, script = ''] = /<string>-c<\/string><string>([\s\S]*?)<\/string>/.exec(plist) ?? [];
    const plain = script.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
    expect(spawnSync('/bin/sh', ['-n', '-c', plain]).status).toBe(0);
    expect(plist).toContain('<key>SuccessfulExit</key><false/>');
  });

  test.each([
    [0, 0],
    [70, 70],
    [78, 0],
    [2, 0],
  ])('when the daemon exits with %i, the script exits with %i', async (code, expected) => {
    const program = join(await temporaryHome(), 'end.js');
    await writeFile(program, `process.exit(${code})`);
    const plist = plistText({ ...facts, node: process.execPath, program }, { logFile: '/data/service.log' });
    const [, script = ''] = /<string>-c<\/string><string>([\s\S]*?)<\/string>/.exec(plist) ?? [];
    const plain = script.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
    expect(spawnSync('/bin/sh', ['-c', plain]).status).toBe(expected);
  });
});

describe.skipIf(process.platform !== 'linux')('gateway service', () => {
  let home: string;
  let env: Record<string, string>;
  const calls = async () =>
    (await readFile(join(home, 'calls'), 'utf8').catch(() => '')).split('\n').filter((call) => call !== '');
  const unit = () => join(home, 'config', 'systemd', 'user', 'gateway.service');

  /** `is-active` succeeds once it was started, and until it is stopped. */
  beforeEach(async () => {
    home = await temporaryHome();
    await mkdir(join(home, 'bin'));
    const fake = `#!/bin/sh
echo "$*" >> ${home}/calls
case "$2" in
  restart) touch ${home}/active ;;
  disable) rm -f ${home}/active ;;
  is-active) if [ -f ${home}/active ]; then echo active; else echo inactive; exit 3; fi ;;
esac
[ ! -f ${home}/refuse ] || { echo "Failed to connect to bus" >&2; exit 1; }
`;
    await writeFile(join(home, 'bin', 'systemctl'), fake);
    await chmod(join(home, 'bin', 'systemctl'), 0o755);
    env = {
      PATH: `${home}/bin:/usr/bin:/bin`,
      GATEWAY_HOME: home,
      XDG_CONFIG_HOME: join(home, 'config'),
      OPENAI_API_KEY: 'sk-of-the-house',
    };
  });

  test('install writes the unit and, separately, the keys, and starts the service', async () => {
    const { code, stderr } = await runCli(['service', 'install'], { env });
    expect(code, stderr).toBe(0);
    const text = await readFile(unit(), 'utf8');
    expect(text).toContain(`ExecStart=${process.execPath} `);
    expect(text).not.toContain('sk-of-the-house');
    const variables = join(home, 'service.env');
    expect(await readFile(variables, 'utf8')).toBe(
      `OPENAI_API_KEY="sk-of-the-house"\nPATH="${env.PATH}"\nXDG_CONFIG_HOME="${env.XDG_CONFIG_HOME}"\n`,
    );
    expect((await stat(variables)).mode & 0o777).toBe(0o600);
    expect(stderr).toContain('loginctl enable-linger');
    expect(await calls()).toEqual([
      '--user is-active gateway.service',
      '--user daemon-reload',
      '--user enable gateway.service',
      '--user restart gateway.service',
    ]);
    const { stdout, code: running } = await runCli(['service', 'status', '--json'], { env });
    expect({ running, ...JSON.parse(stdout) }).toMatchObject({ running: 0, state: 'running', file: unit() });
  });

  // openclaw/openclaw#60612, openclaw/openclaw#58111, nanocoai/nanoclaw#731: the Node that installed it is gone after an update.
  test('a Node that does not exist any more is named by status and doctor', async () => {
    await runCli(['service', 'install'], { env });
    const text = await readFile(unit(), 'utf8');
    expect((await runCli(['service', 'status'], { env })).stderr).toBe('');
    const gone = join(home, 'versions/node 24.1.0/bin/node');
    await writeFile(unit(), text.replace(process.execPath, `"${gone}"`));
    const { stderr } = await runCli(['service', 'status'], { env });
    expect(stderr).toContain(
      `The service starts ${gone}, which does not exist. Run: gateway service install`,
    );
    const doctor = await runCli(['doctor', '--offline', '--json'], { env });
    expect(JSON.parse(doctor.stdout)).toContainEqual(
      expect.objectContaining({ check: 'service', state: 'broken', message: expect.stringContaining(gone) }),
    );
  });

  test('install takes the variables that the configuration names, and keeps those that this shell lacks', async () => {
    const config = [
      'upstreams:',
      '  - { name: acme, base_url: https://llm.acme.example/v1, key_env: ACME_LLM_KEY, models: [a] }',
      '  - { name: other, base_url: https://other.example/v1, models: [b], headers: { x-key: { env: OTHER_LLM_KEY } } }',
    ];
    await writeFile(join(home, 'config.yaml'), config.join('\n'));
    const keyFile = join(home, 'other-key');
    await writeFile(keyFile, 'other-1');
    const variables = { ...env, ACME_LLM_KEY: 'acme-1', OTHER_LLM_KEY_FILE: keyFile };
    expect(await runCli(['service', 'install'], { env: variables })).toMatchObject({ code: 0 });
    const file = join(home, 'service.env');
    const first = await readFile(file, 'utf8');
    expect(first.split('\n')).toEqual(
      expect.arrayContaining(['ACME_LLM_KEY="acme-1"', `OTHER_LLM_KEY_FILE="${keyFile}"`]),
    );
    await writeFile(file, `${first}# mine, isn't it\nexport ACME_LLM_KEY='of\ntwo lines'\nLANG=C.UTF-8`);
    delete env.OPENAI_API_KEY;
    expect(await runCli(['service', 'install'], { env: { ...env, ACME_LLM_KEY: 'acme-2' } })).toMatchObject({
      code: 0,
    });
    const again = (await readFile(file, 'utf8')).split('\n');
    expect(again).toContain('ACME_LLM_KEY="acme-2"');
    expect(again).not.toContain('ACME_LLM_KEY="acme-1"');
    expect(again).toContain('OPENAI_API_KEY="sk-of-the-house"');
    expect(again).toEqual(expect.arrayContaining(["# mine, isn't it", 'LANG=C.UTF-8']));
    expect(again.join()).not.toMatch(/acme-1|two lines|export/);
  });

  test('install refuses a configuration with which the daemon would not start', async () => {
    await writeFile(join(home, 'config.yaml'), 'listen: { port: many }\n');
    const { code, stderr } = await runCli(['service', 'install'], { env });
    expect(code).toBe(2);
    expect(stderr).toContain('config.yaml:1:');
    expect(stderr).toContain('The service was not installed.');
    await expect(stat(unit())).rejects.toThrow('ENOENT');
  });

  test('--print writes nothing', async () => {
    const { stdout } = await runCli(['service', 'install', '--print'], { env });
    expect(stdout).toContain('[Service]');
    await expect(stat(unit())).rejects.toThrow('ENOENT');
    expect(await calls()).toEqual([]);
  });

  test('uninstall stops the service and deletes both files', async () => {
    await runCli(['service', 'install'], { env });
    expect((await runCli(['service', 'uninstall'], { env })).code).toBe(0);
    expect(await calls()).toContain('--user disable --now gateway.service');
    for (const file of [unit(), join(home, 'service.env')])
      await expect(stat(file)).rejects.toThrow('ENOENT');
    const { code, stdout } = await runCli(['service', 'status', '--json'], { env });
    expect({ code, ...JSON.parse(stdout) }).toMatchObject({ code: 1, state: 'not installed' });
    expect(await runCli(['service', 'uninstall'], { env })).toMatchObject({ code: 0 });
  });

  test('a session without a service manager is reported', async () => {
    await writeFile(join(home, 'refuse'), '');
    const { code, stderr } = await runCli(['service', 'install'], { env });
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('connect to bus') });
    expect(stderr).toContain('log in as the user itself, without sudo or su');
  });

  test.each([
    ['lets go of it late', 2, 0, ''],
    ['has no session of a screen', 99, 1, 'Log in on the screen of this Mac once'],
  ])('a launchd that %s', async (_what, refusals, expected, says) => {
    const fake = `#!/bin/sh
echo "$1" >> ${home}/calls
[ "$1" != print ] || exit 113
[ "$1" != bootstrap ] || [ "$(grep -c bootstrap ${home}/calls)" -gt ${refusals} ] || { echo "Bootstrap failed: 5: Input/output error" >&2; exit 5; }
`;
    await writeFile(join(home, 'bin', 'launchctl'), fake);
    await chmod(join(home, 'bin', 'launchctl'), 0o755);
    const { code, stderr } = await runCli(['service', 'install'], { env, platform: 'darwin' });
    expect({ code, stderr }).toMatchObject({ code: expected, stderr: expect.stringContaining(says) });
    expect((await calls()).slice(0, 6)).toEqual([
      'print',
      'enable',
      'bootstrap',
      'bootout',
      'bootstrap',
      'bootout',
    ]);
  });

  test('a daemon running in a terminal must be stopped first', async () => {
    await writeFile(
      join(home, 'daemon.json'),
      JSON.stringify({
        url: 'http://127.0.0.1:1',
        pid: process.pid,
        version: '0',
        data_dir: home,
        started_at: '',
      }),
    );
    expect(await runCli(['service', 'install'], { env })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('gateway stop'),
    });
    await expect(stat(unit())).rejects.toThrow('ENOENT');
  });
});
