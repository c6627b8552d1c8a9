import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chmod, cp, readFile, stat, symlink, unlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { hostUrl, isSentInClear } from '../../../src/cli/hosts/host-address.ts';
import { exitCodes } from '../../../src/shared/errors.ts';
import { type DaemonFile, dataFiles, inodeOf } from '../../../src/shared/folders.ts';
import { readProcessStat } from '../../../src/shared/text/process-stat.ts';
import { runCli, temporaryHome } from '../../support/run-cli.ts';
import { fakeDaemon } from '../fake-daemon.ts';

const answers = { 'GET /v1/openapi.json': () => ({ openapi: '3.1.0' }) };
const asked = ['openapi'];

describe('the host', () => {
  test('is the local daemon, with its login key, by default', async () => {
    const { env, calls } = await fakeDaemon(answers);
    expect((await runCli(asked, { env })).code).toBe(0);
    expect(calls[0]?.headers.authorization).toBe('Bearer gwl_local');
  });

  test('is --host before GATEWAY_HOST before the local daemon', async () => {
    const [local, named, flagged] = await Promise.all([
      fakeDaemon(answers),
      fakeDaemon(answers),
      fakeDaemon(answers),
    ]);
    const env = { ...local.env, GATEWAY_HOST: named.url };
    await runCli(asked, { env });
    await runCli([...asked, '--host', flagged.url], { env });
    await runCli(['--host', flagged.url, ...asked], { env });
    expect([local, named, flagged].map(({ calls }) => calls.length)).toEqual([0, 1, 2]);
  });

  // dyad-sh/dyad#3947: what ran in the original ran for the copy.
  test('is not the daemon of the folder that this one was copied from', async () => {
    const { env, calls } = await fakeDaemon(answers);
    const copy = await temporaryHome();
    await cp(env.GATEWAY_HOME ?? '', copy, { recursive: true });
    const { code, stderr } = await runCli(asked, { env: { ...env, GATEWAY_HOME: copy } });
    expect([code, calls]).toEqual([exitCodes.tryLater, []]);
    expect(stderr).toContain('The daemon is not running.');
    const link = `${copy}-link`;
    await symlink(env.GATEWAY_HOME ?? '', link);
    onTestFinished(() => unlink(link));
    expect((await runCli(asked, { env: { ...env, GATEWAY_HOME: link } })).code).toBe(0);
  });

  test('may have another folder at the place where a container has this one', async () => {
    const { env } = await fakeDaemon(answers);
    const home = env.GATEWAY_HOME ?? '';
    const file = join(home, dataFiles.daemon);
    const written: DaemonFile = JSON.parse(await readFile(file, 'utf8'));
    const codeWith = async (changes: Partial<DaemonFile>) => {
      await writeFile(file, JSON.stringify({ ...written, data_dir: await temporaryHome(), ...changes }));
      return (await runCli(asked, { env })).code;
    };
    expect(await codeWith({ data_inode: inodeOf(await stat(home)) })).toBe(0);
    expect(await codeWith({ data_inode: inodeOf(await stat('/')) })).toBe(exitCodes.tryLater);
  });

  test('gets GATEWAY_KEY', async () => {
    const { env, calls, url } = await fakeDaemon(answers);
    await runCli(asked, { env: { ...env, GATEWAY_KEY: 'gwk_mine' } });
    await runCli(asked, { env: { ...env, GATEWAY_KEY: 'gwk_mine', GATEWAY_HOST: url } });
    expect(calls.map(({ headers }) => headers.authorization)).toEqual(['Bearer gwk_mine', 'Bearer gwk_mine']);
  });

  test('is also the local daemon by the other name of the loopback, but on no other port', async () => {
    const [local, other] = await Promise.all([fakeDaemon(answers), fakeDaemon(answers)]);
    const { port } = new URL(local.url);
    for (const name of [`localhost:${port}`, `http://localhost:${port}/`, `127.0.0.1:${port}`]) {
      await runCli([...asked, '--host', name], { env: local.env });
    }
    expect(local.calls.map(({ headers }) => headers.authorization)).toEqual(
      Array(3).fill('Bearer gwl_local'),
    );
    expect(new Set(local.calls.map(({ headers }) => headers.host))).toEqual(new Set([`127.0.0.1:${port}`]));
    const elsewhere = other.url.replace('127.0.0.1', 'localhost');
    await runCli([...asked, '--host', elsewhere], { env: local.env });
    expect(other.calls.map(({ headers }) => headers.authorization)).toEqual([undefined]);
  });

  test.skipIf(process.platform === 'win32')(
    'is spoken to by its Unix socket where it has one, and by that of no other daemon with its key',
    async () => {
      const home = await temporaryHome();
      const [path, elsewhere] = [join(home, 'gateway.sock'), join(home, 'other.sock')];
      const seen: [place: string, authorization: string | undefined][] = [];
      for (const place of [path, elsewhere]) {
        const server = createServer(({ headers }, response) => {
          seen.push([place, headers.authorization]);
          response.setHeader('content-type', 'application/json').end('{}');
        });
        await new Promise<void>((resolve) => server.listen({ path: place }, resolve));
        onTestFinished(() => void server.close());
      }
      // No process listens on its port.
      const file = { url: 'http://127.0.0.1:1', socket: path, pid: process.pid };
      await writeFile(join(home, dataFiles.daemon), JSON.stringify(file));
      await writeFile(join(home, 'login-key'), 'gwl_local', { mode: 0o600 });
      const env = { GATEWAY_HOME: home };
      expect((await runCli(asked, { env })).code).toBe(0);
      expect((await runCli([...asked, '--host', `unix:${path}`], { env })).code).toBe(0);
      expect((await runCli([...asked, '--host', `unix:${elsewhere}`], { env })).code).toBe(0);
      expect(seen).toEqual([
        [path, 'Bearer gwl_local'],
        [path, 'Bearer gwl_local'],
        [elsewhere, undefined],
      ]);
      await unlink(path);
      expect((await runCli(asked, { env })).stderr).toContain('The daemon is not running.');
    },
  );

  test('on this machine under its network address prints no warning about encryption', async () => {
    const { env, home, url, calls } = await fakeDaemon(answers);
    // Linux and macOS take this one for themselves.
    const everywhere = url.replace('127.0.0.1', '0.0.0.0');
    await writeFile(join(home, dataFiles.daemon), JSON.stringify({ url: everywhere, pid: process.pid }));
    expect((await runCli(asked, { env })).stderr).toBe('');
    expect(calls).toHaveLength(1);
    const other = { GATEWAY_HOME: await temporaryHome(), GATEWAY_HOST: everywhere, GATEWAY_KEY: 'gwk_mine' };
    expect((await runCli(asked, { env: other })).stderr).toContain('is sent unencrypted');
  });

  test("never gets another daemon's login key", async () => {
    const [local, other] = await Promise.all([fakeDaemon(answers), fakeDaemon(answers)]);
    await runCli([...asked, '--host', other.url], { env: local.env });
    expect(other.calls[0]?.headers.authorization).toBeUndefined();
  });
});

describe('no daemon', () => {
  test('is reported with a remedy and exit code 6', async () => {
    const { code, stdout, stderr } = await runCli(asked, { env: { GATEWAY_HOME: await temporaryHome() } });
    expect({ code, stdout }).toEqual({ code: exitCodes.tryLater, stdout: '' });
    expect(stderr).toContain('The daemon is not running.');
    expect(stderr).toContain('gateway serve');
  });

  test('is the result of a file from a dead process: another process on its port gets no key', async () => {
    const { env, home, calls, url } = await fakeDaemon(answers);
    const { pid } = spawnSync(process.execPath, ['--version']);
    await writeFile(join(home, dataFiles.daemon), JSON.stringify({ url, pid }));
    expect((await runCli(asked, { env })).code).toBe(exitCodes.tryLater);
    expect(calls).toEqual([]);
  });

  test.runIf(process.platform === 'linux')(
    'is what a process means that ended and was not mourned',
    async () => {
      const { env, home, calls, url } = await fakeDaemon(answers);
      // `exec` puts a program there that never waits for its children.
      const parent = spawn('sh', ['-c', 'sleep 0.3 & echo $!; exec sleep 60'], {
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      onTestFinished(() => void parent.kill());
      const [firstLine] = (await once(parent.stdout, 'data')) as [Buffer];
      const pid = Number(firstLine.toString());
      const state = () => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.[0];
      await expect.poll(state).toBe('Z');
      await writeFile(join(home, dataFiles.daemon), JSON.stringify({ url, pid }));
      expect((await runCli(asked, { env })).code).toBe(exitCodes.tryLater);
      expect((await runCli(['stop'], { env })).stderr).toBe('The daemon is not running.\n');
      expect(calls).toEqual([]);
    },
  );

  test.runIf(process.platform === 'linux')('is what another process with its number means', async () => {
    const { env, home, calls, url } = await fakeDaemon(answers);
    const { pid } = process;
    const { startTicks } = readProcessStat(readFileSync('/proc/self/stat', 'utf8'));
    await writeFile(join(home, dataFiles.daemon), JSON.stringify({ url, pid, start_ticks: startTicks }));
    expect((await runCli(asked, { env })).code).toBe(0);
    await writeFile(
      join(home, dataFiles.daemon),
      JSON.stringify({ url, pid, start_ticks: `${startTicks}1` }),
    );
    expect((await runCli(asked, { env })).code).toBe(exitCodes.tryLater);
    expect(calls).toHaveLength(1);
  });

  test.skipIf(process.platform === 'win32')(
    'is what a process of another user means, however it came to that number',
    async () => {
      const { env, home, calls, url } = await fakeDaemon(answers);
      // Unless this runs as root, process 1 belongs to another user.
      const other = process.getuid?.() === 0 ? spawn('/bin/sleep', ['60'], { uid: 65_534 }) : undefined;
      onTestFinished(() => void other?.kill());
      await writeFile(join(home, dataFiles.daemon), JSON.stringify({ url, pid: other?.pid ?? 1 }));
      expect((await runCli(asked, { env })).code).toBe(exitCodes.tryLater);
      expect(calls).toEqual([]);
    },
  );

  test('is the result of a refused connection', async () => {
    const { env, close } = await fakeDaemon(answers);
    await close();
    const { code, stderr } = await runCli(asked, { env });
    expect(code).toBe(exitCodes.tryLater);
    expect(stderr).toContain('gateway serve');
  });

  test('on another host is not reported as the local one', async () => {
    const { url, close } = await fakeDaemon(answers);
    await close();
    const { code, stderr } = await runCli([...asked, '--host', url], { env: {} });
    expect(code).toBe(exitCodes.tryLater);
    expect(stderr).toBe(
      `error: ${url} cannot be reached: nothing listens there.\n` +
        '  next    Check the address, and that the daemon is running.\n',
    );
  });
});

describe.skipIf(process.platform === 'win32')('the login key', () => {
  test('that other users can read is not sent, and the error says how to fix it', async () => {
    const { env, home, calls } = await fakeDaemon(answers);
    const path = join(home, 'login-key');
    await chmod(path, 0o640);
    const { code, stderr } = await runCli(asked, { env });
    expect(code).toBe(exitCodes.failed);
    expect(stderr).toContain(`${path} can be read by other users.`);
    expect(stderr).toContain(`chmod 600 ${path}`);
    expect(calls).toEqual([]);
    expect((await runCli(asked, { env: { ...env, GATEWAY_KEY: 'gwk_mine' } })).code).toBe(0);
  });
});

test('a host that is not configured is reported by its name', async () => {
  const env = { GATEWAY_HOME: await temporaryHome() };
  const { code, stderr } = await runCli(['status', '--host', 'nosuch'], { env });
  expect(code).toBe(exitCodes.failed);
  expect(stderr).toBe(
    'error: No host named "nosuch" is configured.\n  next    List the hosts: gateway host list. Add one: gateway host add NAME URL\n',
  );
});

describe('an address', () => {
  test.each([
    ['127.0.0.1:4100', 'http://127.0.0.1:4100'],
    ['localhost:4100/', 'http://localhost:4100'],
    ['gateway.example.org', 'https://gateway.example.org'],
    ['http://10.0.0.7:4100', 'http://10.0.0.7:4100'],
    ['https://example.org/gateway/', 'https://example.org/gateway'],
    ['unix:/run/gateway.sock', 'unix:/run/gateway.sock'],
    ['unix:///run/a b/gateway.sock', 'unix:/run/a b/gateway.sock'],
  ])('%s is %s', (name, url) => {
    expect(hostUrl(name)).toBe(url);
  });

  test.each([
    ...['', 'ftp://example.org', 'http://', 'https://user:secret@example.org', 'a b'],
    ...['unix:gateway.sock', 'unix://run/gateway.sock'],
  ])('%j is invalid', (name) => {
    expect(() => hostUrl(name)).toThrow(/not a valid host address/);
  });

  test('is known to be encrypted or not', () => {
    expect(isSentInClear('http://127.0.0.1:4100')).toBe(false);
    expect(isSentInClear('https://example.org')).toBe(false);
    expect(isSentInClear('unix:/run/gateway.sock')).toBe(false);
    expect(isSentInClear('http://example.org')).toBe(true);
  });
});

test('another daemon version is reported once, on stderr', async () => {
  const { env } = await fakeDaemon(answers, { version: '99.0.0' });
  const { stdout, stderr } = await runCli(asked, { env });
  expect(JSON.parse(stdout)).toEqual({ openapi: '3.1.0' });
  expect(stderr.match(/99\.0\.0/g)).toHaveLength(1);
});
