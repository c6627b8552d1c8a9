import { chmod, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { exitCodes } from '../../../src/shared/errors.ts';
import { version } from '../../../src/shared/version.ts';
import { runCli, temporaryHome } from '../../support/run-cli.ts';
import { noSecretService, startSecretService } from '../../support/secret-service.ts';
import { fakeDaemon } from '../fake-daemon.ts';

const status = {
  url: 'http://127.0.0.1:4100',
  socket: null,
  pid: 7,
  version,
  started_at: '2026-11-21T08:00:00.000Z',
  uptime_ms: 7_500_000,
  data_dir: '/data',
  workers: 1,
  default_model: 'sim/assistant',
  storage: { writable: true, reason: null, engine: 'sqlite', server: null },
  vault: { state: 'no_vault', store: null, reason: null },
  providers: [{ name: 'simulator', state: 'available', models: 5, reason: null }],
};

const healthy = {
  'GET /v1/admin/status': () => status,
  'POST /v1/admin/providers/check': () => ({ object: 'list', data: [] }),
};

describe('doctor', () => {
  const examine = async (
    env: Record<string, string>,
    { args = [], now = Date.now }: { args?: string[]; now?: () => number } = {},
  ) => {
    const { code, stdout } = await runCli(['doctor', '--json', ...args], { env, now });
    const found = JSON.parse(stdout) as {
      check: string;
      state: string;
      message: string;
      remedy: string | null;
    }[];
    return { code, of: (check: string) => found.filter((finding) => finding.check === check) };
  };

  test('warns about configured models that the catalog does not have', async () => {
    const home = await temporaryHome();
    await writeFile(join(home, 'config.yaml'), 'default_model: nosuch/model\naliases: { quick: sim/echo }\n');
    const { of } = await examine({ GATEWAY_HOME: home });
    expect(of('config').filter(({ state }) => state === 'warning')).toMatchObject([
      { message: expect.stringContaining('default_model'), remedy: 'gateway config set default_model MODEL' },
    ]);
  });

  test('reports each configuration error with its location', async () => {
    const { env, home } = await fakeDaemon(healthy);
    await writeFile(join(home, 'config.yaml'), 'listen:\n  prot: 1\nmargin_percent: much\n');
    const { code, of } = await examine(env);
    expect(code).toBe(exitCodes.failed);
    expect(of('config').map(({ message }) => message)).toEqual([
      expect.stringContaining('config.yaml:2:3'),
      expect.stringContaining('config.yaml:3:17'),
    ]);
  });

  test.skipIf(process.platform === 'win32')(
    'reports a configuration file that other users can write',
    async () => {
      const { env, home } = await fakeDaemon(healthy);
      const path = join(home, 'config.yaml');
      await writeFile(path, 'margin_percent: 1\n');
      await chmod(path, 0o664);
      const { code, of } = await examine(env);
      expect(code).toBe(exitCodes.failed);
      expect(of('config')).toMatchObject([
        { state: 'ok' },
        { state: 'broken', remedy: `chmod go-w ${path}` },
      ]);
      await chmod(path, 0o644);
      expect((await examine(env)).of('config')).toMatchObject([{ state: 'ok' }]);
    },
  );

  test.skipIf(process.platform === 'win32')('reports secrets that other users can read', async () => {
    const { env, home } = await fakeDaemon(healthy);
    const path = join(home, 'login-key');
    for (const mode of [0o640, 0o604]) {
      await chmod(path, mode);
      const { code, of } = await examine(env);
      expect(code).toBe(exitCodes.failed);
      expect(of('secrets')).toMatchObject([{ state: 'broken', remedy: `chmod 600 ${path}` }]);
      expect(of('daemon')).toMatchObject([{ state: 'broken', remedy: `Run: chmod 600 ${path}` }]);
    }
    await chmod(path, 0o600);
    expect((await examine(env)).of('secrets')).toEqual([]);
  });

  test('reports why the keychain cannot be used', async () => {
    const { env, home } = await fakeDaemon(healthy);
    const nowhere = { ...env, DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nonexistent', DISPLAY: '' };
    const [keychain] = (await examine(nowhere)).of('keychain');
    expect(keychain).toMatchObject({
      state: 'warning',
      remedy: 'To work without a keychain: gateway vault unlock --passphrase',
    });
    for (const elsewhere of ['store: passphrase', 'passphrase_file: passphrase', 'keychain: false']) {
      await writeFile(join(home, 'config.yaml'), `vault: { ${elsewhere} }\n`);
      const [followed] = (await examine(nowhere)).of('keychain');
      expect(followed).toMatchObject({ state: 'ok', remedy: null });
    }
  });

  test.skipIf(noSecretService)('suggests unlocking a locked keychain, not another store', async () => {
    const { env } = await fakeDaemon(healthy);
    const service = await startSecretService();
    try {
      await service.start('unlocked');
      await service.start('locked');
      const [keychain] = (await examine({ ...service.env, ...env })).of('keychain');
      expect(keychain).toMatchObject({
        state: 'warning',
        message: expect.stringContaining('locked'),
        remedy: 'Unlock it, then run: gateway vault unlock',
      });
    } finally {
      await service.close();
    }
  });

  test('reports a clock that is earlier than the data', async () => {
    const { env, home } = await fakeDaemon(healthy);
    await writeFile(join(home, 'gateway.db'), '');
    const { of } = await examine(env, { now: () => Date.now() - 3_600_000 });
    expect(of('clock')).toMatchObject([{ state: 'warning', remedy: expect.stringContaining('NTP') }]);
  });

  test('asks the providers, unless --offline, and reports what is wrong and how to fix it', async () => {
    let asked = 0;
    const fine = { problem: null, message: 'it answers and accepts the key', remedy: null, ms: 3, ended: [] };
    const ended = [{ workspace: null, key: null, model: null, reason: 'billing' }];
    const { env } = await fakeDaemon({
      'GET /v1/admin/status': () => status,
      'POST /v1/admin/providers/check': () => {
        asked += 1;
        return {
          object: 'list',
          data: [
            { ...fine, provider: 'openai' },
            { ...fine, provider: 'openrouter', ended },
            {
              ...fine,
              provider: 'google',
              problem: 'key',
              message: 'it refuses the key (401)',
              remedy: 'Change it.',
            },
            { ...fine, provider: 'acme', problem: 'failing', message: 'it fails (500)', remedy: 'Wait.' },
          ],
        };
      },
    });
    expect((await examine(env, { args: ['--offline'] })).of('online')).toEqual([]);
    expect(asked).toBe(0);
    const { code, of } = await examine(env);
    expect(code).toBe(exitCodes.failed);
    expect(of('online').map(({ state, message, remedy }) => `${state} ${message} ${remedy}`)).toEqual([
      'ok openai: it answers and accepts the key null',
      'ok openrouter: it answers and accepts the key, and is not benched any more null',
      'broken google: it refuses the key (401) Change it.',
      'warning acme: it fails (500) Wait.',
    ]);
  });

  test('gets along with a daemon that cannot ask providers', async () => {
    const { env } = await fakeDaemon({
      'GET /v1/admin/status': () => status,
      'POST /v1/admin/providers/check': (_call, response) => {
        response.statusCode = 404;
        return {
          error: {
            type: 'not_found',
            code: 'not_found',
            message: 'No such path.',
            param: null,
            request_id: 'req_1',
          },
        };
      },
    });
    expect((await examine(env)).of('online')).toEqual([]);
  });

  test('recognises another Gateway daemon on the port', async () => {
    const other = createHttpServer((_request, response) => {
      response.setHeader('x-service-version', '0').end('{}');
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as AddressInfo;
    const { of } = await examine({ GATEWAY_HOME: await temporaryHome(), GATEWAY_PORT: String(port) });
    expect(of('port')).toMatchObject([{ message: expect.stringContaining('another Gateway daemon') }]);
    other.close();
  });

  test('checks the configured address and port', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as AddressInfo;
    const home = await temporaryHome();
    const found = async (listen: string) => {
      await writeFile(join(home, 'config.yaml'), `listen: ${listen}\n`);
      return (await examine({ GATEWAY_HOME: home })).of('port');
    };
    expect(await found(`{ port: ${port} }`)).toMatchObject([
      { state: 'broken', message: `${port} is in use (EADDRINUSE)` },
    ]);
    other.close();
    expect(await found('{ port: 0 }')).toMatchObject([{ state: 'ok', message: 'any free port' }]);
    // Of a block that is reserved for documentation: RFC 5737.
    expect(await found('{ host: 192.0.2.1, port: 0 }')).toMatchObject([
      { state: 'broken', message: expect.stringContaining('EADDRNOTAVAIL') },
    ]);
  });

  test.skipIf(process.platform !== 'linux')('reports the limit of open files', async () => {
    const { of } = await examine({ GATEWAY_HOME: await temporaryHome(), GATEWAY_PORT: '1' });
    expect(of('open files')).toMatchObject([{ message: expect.stringMatching(/^limit (\d+|unlimited)$/) }]);
  });
});
