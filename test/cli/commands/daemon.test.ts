import { spawn } from 'node:child_process';
import { chmod, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { isAlive } from '../../../src/cli/hosts/local-daemon.ts';
import type { DaemonStatus } from '../../../src/shared/contract/daemon.ts';
import { exitCodes } from '../../../src/shared/errors.ts';
import { version } from '../../../src/shared/version.ts';
import { freePort } from '../../support/free-port.ts';
import { runCli, temporaryHome } from '../../support/run-cli.ts';
import { fail, fakeDaemon } from '../fake-daemon.ts';

const status: DaemonStatus = {
  url: 'http://127.0.0.1:4100',
  socket: null,
  pid: 7,
  version,
  started_at: '2026-11-21T08:00:00.000Z',
  uptime_ms: 7_500_000,
  data_dir: '/data',
  workers: 1,
  default_model: 'sim/assistant',
  default_model_source: 'simulator',
  suggested_model: null,
  storage: { writable: true, reason: null, engine: 'sqlite', server: null },
  wallet: { backend: 'embedded', state: 'ready', problems: [] },
  vault: { state: 'no_vault', store: null, reason: null },
  spans: null,
  providers: [
    { name: 'simulator', state: 'available', models: 5, reason: null },
    { name: 'openai', state: 'unavailable', models: 0, reason: 'no key: set OPENAI_API_KEY' },
  ],
};

describe('status', () => {
  const running = () => fakeDaemon({ 'GET /v1/admin/status': () => status });

  test('is a record with the providers on a terminal', async () => {
    const { env } = await running();
    const { stdout } = await runCli(['status', '--no-color'], { env, tty: true });
    expect(stdout).toMatch(/uptime +2 h 5 min\n/);
    expect(stdout).toMatch(/openai +unavailable +0 +no key: set OPENAI_API_KEY\n/);
  });

  test('names the alerts that fire, on a terminal', async () => {
    const queries: string[] = [];
    const firing = { alert: 'slow', fired_at: '2026-11-21T08:00:00.000Z', message: 'Too \u001b[2Jslow.' };
    const { env } = await fakeDaemon({
      'GET /v1/admin/status': () => status,
      'GET /v1/workspaces/me/alerts/fired': ({ path }) => {
        queries.push(path);
        return { object: 'list', data: [firing], has_more: false, next: null };
      },
    });
    const { stdout } = await runCli(['status', '--no-color'], { env, tty: true });
    expect(stdout).toMatch(/ALERT +FIRED +MESSAGE\nslow +\d+ \w+ ago +Too ␛\[2Jslow\.\n/);
    expect(queries).toEqual([expect.stringContaining('open=true')]);
    const { stdout: json } = await runCli(['status', '--json'], { env, tty: true });
    expect(json).not.toContain('slow');
  });

  test('of a host that someone else runs is that of the service', async () => {
    const { env } = await fakeDaemon({
      'GET /v1/admin/status': (_call, reply) => fail(reply, 403, { code: 'permission', message: 'No.' }),
      'GET /v1/status': () => ({
        version,
        writable: true,
        default_model: 'acme/large',
        default_model_source: 'configuration',
        suggested_model: null,
        providers: [{ name: 'acme', state: 'available', models: 5 }],
      }),
    });
    const { stdout, code } = await runCli(['status', '--no-color'], { env, tty: true });
    expect(code).toBe(0);
    expect(stdout).toMatch(/state +serving\n/);
    expect(stdout).toContain('acme/large (set in the configuration)');
    expect(stdout).toMatch(/acme +available +5\n/);
    expect(JSON.parse((await runCli(['status', '--json'], { env })).stdout)).toMatchObject({
      writable: true,
    });
  });

  test('is names and values in a pipe, and JSON on request', async () => {
    const { env } = await running();
    expect((await runCli(['status'], { env })).stdout).toContain('pid\t7\n');
    const { stdout } = await runCli(['status', '--json', 'url,pid,uptime_ms'], { env });
    expect(stdout).toBe('{"url":"http://127.0.0.1:4100","pid":7,"uptime_ms":7500000}\n');
  });
});

describe('stop', () => {
  /** A process in place of the daemon that exits on request. */
  const standIn = () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    onTestFinished(() => void child.kill('SIGKILL'));
    return { pid: child.pid as number, end: () => child.kill('SIGKILL') };
  };

  test('waits for the process to exit', async () => {
    const { pid, end } = standIn();
    const { env } = await fakeDaemon({
      'POST /v1/admin/stop': () => {
        setTimeout(end, 20);
        return { stopping: true, pid };
      },
    });
    const { code, stderr } = await runCli(['stop'], { env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'Stopped.\n' });
    expect(isAlive(pid)).toBe(false);
  });

  test('reports that the daemon is still running when calls take longer than --wait', async () => {
    const { pid } = standIn();
    const { env } = await fakeDaemon({ 'POST /v1/admin/stop': () => ({ stopping: true, pid }) });
    const { code, stderr } = await runCli(['stop', '--wait', '0'], { env });
    expect(code).toBe(exitCodes.tryLater);
    expect(stderr).toContain('still finishing');
  });

  test('waits for a daemon that is already stopping', async () => {
    const { pid, end } = standIn();
    const { env, home, url } = await fakeDaemon({
      'POST /v1/admin/stop': (_call, response) => {
        setTimeout(end, 20);
        return fail(response, 503, { code: 'unavailable', message: 'The daemon is stopping.' });
      },
    });
    await writeFile(join(home, 'daemon.json'), JSON.stringify({ url, pid }));
    const { code, stderr } = await runCli(['stop'], { env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'Stopped.\n' });
  });

  test('waits for one that has closed its port already', async () => {
    const { pid } = standIn();
    const home = await temporaryHome();
    await writeFile(
      join(home, 'daemon.json'),
      JSON.stringify({ url: `http://127.0.0.1:${await freePort()}`, pid }),
    );
    await writeFile(join(home, 'login-key'), 'login', { mode: 0o600 });
    const { code, stderr } = await runCli(['stop', '--wait', '0'], { env: { GATEWAY_HOME: home } });
    expect(code).toBe(exitCodes.tryLater);
    expect(stderr).toContain('still finishing');
  });

  test('succeeds if the daemon is not running', async () => {
    const { code, stderr } = await runCli(['stop'], { env: { GATEWAY_HOME: await temporaryHome() } });
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'The daemon is not running.\n' });
  });
});

describe('doctor', () => {
  const healthy = {
    'GET /v1/admin/status': () => status,
    'POST /v1/admin/providers/check': () => ({ object: 'list', data: [] }),
  };
  interface Found {
    check: string;
    state: string;
    message: string;
    remedy: string | null;
  }
  const examine = async (env: Record<string, string>, now = Date.now) => {
    const { code, stdout } = await runCli(['doctor', '--json'], { env, now });
    const findings = JSON.parse(stdout) as Found[];
    return { code, of: (check: string) => findings.find((finding) => finding.check === check) };
  };

  test('finds nothing broken with a running daemon, and suggests how to add providers', async () => {
    const { env } = await fakeDaemon(healthy);
    const { code, of } = await examine(env);
    expect(code).toBe(0);
    expect(of('daemon')?.state).toBe('ok');
    const provider = { state: 'ok', message: 'simulator: 5 models' };
    expect(of('provider')).toMatchObject(provider);
    const { stdout } = await runCli(['doctor'], { env });
    expect(stdout).toMatch(
      /^warning\tprovider\tonly the simulator is available\tStart the daemon with a provider key/m,
    );
  });

  test('never truncates a remedy on a narrow terminal', async () => {
    const { env } = await fakeDaemon(healthy);
    const { stdout } = await runCli(['doctor', '--no-color'], { env, tty: true, columns: 30 });
    expect(stdout).toMatch(
      /^warning +provider +only the simulator is available\n +→ Start the daemon with a provider key. Providers: gateway status\n/m,
    );
  });

  test('suggests how to start the daemon', async () => {
    const free = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    const port = await new Promise<number>((resolve) =>
      free.once('listening', () => resolve((free.address() as AddressInfo).port)),
    );
    const env = { GATEWAY_HOME: await temporaryHome(), GATEWAY_PORT: String(port) };
    const taken = await examine(env);
    expect(taken.code).toBe(exitCodes.failed);
    expect(taken.of('daemon')).toMatchObject({ state: 'warning', remedy: 'gateway serve' });
    expect(taken.of('port')).toMatchObject({ state: 'broken', message: `${port} is in use (EADDRINUSE)` });
    await new Promise((resolve) => free.close(resolve));
    expect((await examine(env)).of('port')?.state).toBe('ok');
  });

  test.skipIf(process.platform === 'win32')('finds what others may read or write', async () => {
    const { env, home } = await fakeDaemon(healthy);
    await writeFile(join(home, 'default-key'), 'gwk_x', { mode: 0o644 });
    await chmod(home, 0o777);
    const { code, of } = await examine(env);
    expect(code).toBe(exitCodes.failed);
    expect(of('data folder')).toMatchObject({ state: 'broken', remedy: `chmod 700 ${home}` });
    expect(of('secrets')).toMatchObject({ remedy: `chmod 600 ${join(home, 'default-key')}` });
  });

  test('reports an implausible clock and a daemon that cannot write', async () => {
    const storage = { writable: false, reason: 'disk full' };
    const { env } = await fakeDaemon({ 'GET /v1/admin/status': () => ({ ...status, storage }) });
    const { code, of } = await examine(env, () => 0);
    expect(code).toBe(exitCodes.failed);
    expect(of('clock')).toMatchObject({ state: 'broken', message: '1970-01-01T00:00:00.000Z' });
    expect(of('storage')).toMatchObject({ state: 'broken', message: 'disk full' });
  });

  test('finds nothing broken when run with an API key', async () => {
    const { env } = await fakeDaemon({
      'GET /v1/admin/status': (_call, response) =>
        fail(response, 401, { code: 'signed_out', message: 'This requires a login, not an API key.' }),
    });
    const { code, of } = await examine({ ...env, GATEWAY_KEY: 'gwk_x' });
    expect(code).toBe(0);
    expect(of('daemon')).toMatchObject({ state: 'ok', remedy: expect.stringContaining('GATEWAY_KEY') });
  });

  test('reports a daemon that does not respond', async () => {
    const { env, close } = await fakeDaemon({});
    await close();
    const { code, of } = await examine(env);
    expect(code).toBe(exitCodes.failed);
    expect(of('daemon')).toMatchObject({ state: 'broken', message: 'The daemon is not running.' });
  });
});
