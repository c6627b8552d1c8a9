import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { mkdir, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, onTestFinished, test } from 'vitest';
import { serve } from '../../../src/daemon/main.ts';
import { unsuitedFileSystem } from '../../../src/daemon/process/file-system.ts';
import { explainFailure } from '../../../src/daemon/process/start-failures.ts';
import type { ServeOptions } from '../../../src/shared/daemon-module.ts';
import { ApiError } from '../../../src/shared/errors.ts';
import { dataFiles } from '../../../src/shared/folders.ts';
import { addEmptyDatabase } from '../../support/new-database.ts';
import { startDaemon } from '../../support/start-daemon.ts';

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'gateway-start-'));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

/** A start that must fail: its exit code and message. */
async function failedStart(home: string, options: Partial<ServeOptions> = {}) {
  let stderr = '';
  const exit = await serve({
    env: { GATEWAY_HOME: home },
    stdout: { write: () => expect.fail('it started') },
    stderr: { write: (text: string) => (stderr += text) },
    port: 0,
    ...options,
  });
  return { exit, stderr };
}

describe('a failed start reports', () => {
  test.runIf(process.platform === 'linux')('which process uses the port', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    const { exit, stderr } = await failedStart(await folder(), { port });
    expect(exit).toBe(1);
    expect(stderr).toMatch(new RegExp(`^Port ${port} is in use by node .*\\(pid ${process.pid}\\)\\.\\n`));
    expect(stderr).toContain('--port 0');
  });

  test('an address that the machine does not have', async () => {
    // A block reserved for documentation: RFC 5737.
    const { exit, stderr } = await failedStart(await folder(), { host: '192.0.2.1' });
    expect({ exit, stderr }).toEqual({
      exit: 1,
      stderr: 'This machine has no address 192.0.2.1.\nChoose another with --host.\n',
    });
  });

  test('a file of the data folder that is too large', async () => {
    const home = await folder();
    const path = join(home, dataFiles.dataKey);
    await writeFile(path, '', { mode: 0o600 });
    await truncate(path, 1024 ** 3);
    expect(await failedStart(home)).toEqual({ exit: 78, stderr: `${path} is larger than 256 MiB.\n` });
  });

  test('a data folder that is a file', async () => {
    const path = join(await folder(), 'file');
    await writeFile(path, '');
    const { exit, stderr } = await failedStart(path);
    expect(exit).toBe(1);
    expect(stderr).toBe(`${path} is not a folder.\nChoose another folder with GATEWAY_HOME or --data.\n`);
  });

  // Windows has neither named pipes nor, for most users, links.
  describe.skipIf(process.platform === 'win32')('a file of another kind, at once and without a stack', () => {
    const make: Record<string, (path: string) => unknown> = {
      'a folder': (path) => mkdirSync(path),
      'a named pipe': (path) => execFileSync('mkfifo', [path]),
      'a device': (path) => symlinkSync('/dev/null', path),
      'a link that leads nowhere': (path) => symlinkSync('/nowhere/file', path),
    };
    const files = [
      'gateway.db',
      'gateway.db-wal',
      'gateway.db-shm',
      'daemon.lock',
      ...Object.values(dataFiles),
    ];
    const folders = ['restore.ready', 'restore.moving'];
    const cases = Object.keys(make).flatMap((kind) => [...files, ...folders].map((name) => ({ name, kind })));

    test.each(cases.filter(({ name, kind }) => kind !== 'a folder' || files.includes(name)))(
      '$name is $kind',
      async ({ name, kind }) => {
        const path = join(await folder(), name);
        make[kind]?.(path);
        const { exit, stderr } = await failedStart(join(path, '..'));
        expect(exit).toBe(78);
        expect(stderr.split('\n')[0]).toMatch(new RegExp(`^${path} is ${kind}(, not a (file|folder))?\\.$`));
        expect(stderr.split('\n')).toHaveLength(3);
      },
    );
  });

  test.each([
    ['daemon.lock', 'is not a lock file'],
    ['data-key', 'does not contain a 32-byte key'],
    ['engine-models.json', 'is not a list of models'],
    ['restore.ready/x', 'is not an unfinished restore'],
  ])('content of %s that is something else', async (name, problem) => {
    const home = await folder();
    if (name.includes('/')) await mkdir(join(home, name, '..'));
    await writeFile(join(home, name), '{"x":\0', { mode: 0o600 });
    const { exit, stderr } = await failedStart(home);
    expect(exit).toBe(78);
    expect(stderr).toMatch(new RegExp(`^.*${name.split('/')[0]} ${problem}\\.\n[^\n]*\\.\n$`));
  });

  test.each([
    ['simulate', 'a folder', 'It is a folder.'],
    ['simulate', 'nothing', 'There is no such file.'],
    ['record', 'a file', 'It is not a folder.'],
    ['record', 'a link to itself', 'The folder cannot be created (ELOOP).'],
    ['replay', 'a file', 'It is not a folder.'],
    ['replay', 'a link to itself', 'The folder cannot be read (ELOOP).'],
    ['replay', 'nothing', 'The folder does not exist.'],
  ])('--%s with %s', async (flag, kind, problem) => {
    const home = await folder();
    const path = join(home, 'target');
    if (kind === 'a folder') await mkdir(path);
    else if (kind === 'a file') await writeFile(path, '');
    else if (kind !== 'nothing') symlinkSync(path, path);
    const { exit, stderr } = await failedStart(home, { [flag]: path });
    expect({ exit, stderr }).toEqual({
      exit: 2,
      stderr: `The configuration has errors:\n  ${path}: ${problem}\n`,
    });
  });

  test('data of a newer version, which no restart can open', async () => {
    const home = await folder();
    addEmptyDatabase(home);
    const database = new Database(join(home, 'gateway.db'));
    database.pragma('user_version = 1000000');
    database.close();
    const { exit, stderr } = await failedStart(home);
    expect(exit).toBe(78);
    expect(stderr).toMatch(/^.* has schema version 1000000; .* Start the newer version again, [^\n]*\n$/);
  });

  test('a data folder that cannot be created', async () => {
    // As on a read-only disk, which a test cannot mount.
    const error = Object.assign(new Error(), { code: 'ENOENT', syscall: 'mkdir', path: '/media/disk/data' });
    expect(await explainFailure(error)).toEqual({
      exit: 1,
      text: '/media/disk/data cannot be created.\nChoose another folder with GATEWAY_HOME or --data.',
    });
  });

  test('a database server that failed meanwhile', async () => {
    const error = new ApiError('unavailable', { cause: new Error('connect ECONNREFUSED 10.0.0.5:5432') });
    expect(await explainFailure(error)).toEqual({
      exit: 1,
      text: 'The database failed during the start: connect ECONNREFUSED 10.0.0.5:5432.\nStart the daemon again.',
    });
  });

  test('the address of the daemon that uses the folder', async () => {
    const daemon = await startDaemon();
    onTestFinished(() => daemon.stop().then(() => {}));
    const { exit, stderr } = await failedStart(daemon.home);
    expect(exit).toBe(1);
    expect(stderr).toContain(`It runs at ${daemon.url} (pid ${process.pid}).`);
  });

  test('faults of the configuration and the script, with their positions', async () => {
    const home = await folder();
    await writeFile(join(home, 'config.yaml'), 'margin_percent: -1\n');
    const config = await failedStart(home);
    expect(config.exit).toBe(2);
    expect(config.stderr).toMatch(
      /^The configuration has errors:\n {2}.*config\.yaml:1:17: `margin_percent` /,
    );
    await writeFile(join(home, 'config.yaml'), 'simulate: script.yaml\n');
    await writeFile(join(home, 'script.yaml'), 'rules:\n  - reply: 42\n');
    const script = await failedStart(home);
    expect(script.exit).toBe(2);
    expect(script.stderr).toMatch(
      / {2}.*script\.yaml:2:12: `rules\[0\]\.reply` must be text; put quotes around 42\n/,
    );
  });

  test.each(Object.keys(constants.errno))('the system with %s', async (code) => {
    const error = Object.assign(new Error(code), { code, syscall: 'open', path: '/data/gateway.db' });
    const { text, exit } = await explainFailure(error);
    expect(exit).toBe(1);
    expect(text.split('\n')).toEqual([expect.stringMatching(/\.$/), expect.stringMatching(/\.$/)]);
  });

  test.each([
    ['SQLITE_FULL', 'The disk is full.'],
    ['SQLITE_READONLY_DIRECTORY', 'This user cannot write to the database.'],
    ['SQLITE_CANTOPEN', 'This user cannot write to the database.'],
    ['SQLITE_BUSY', 'Another program is using gateway.db.'],
    ['SQLITE_IOERR_FSYNC', 'The disk failed (SQLITE_IOERR_FSYNC).'],
    ...[
      'SQLITE_IOERR_SHMMAP',
      'SQLITE_IOERR_SHMOPEN',
      'SQLITE_IOERR_LOCK',
      'SQLITE_IOERR_RDLOCK',
      'SQLITE_PROTOCOL',
    ].map((code) => [
      code,
      `The file system of the data folder has no file locks or no shared memory (${code}).`,
    ]),
  ])("SQLite's %s", async (code, sentence) => {
    const { text, exit } = await explainFailure(new Database.SqliteError('as SQLite says it', code));
    expect(exit).toBe(1);
    expect(text.split('\n')).toEqual([sentence, expect.stringMatching(/\.$/)]);
  });

  // Reported as a busy database or a disk that failed: charmbracelet/crush#3461, superseriousbusiness/gotosocial#3360,
  // Sonarr/Sonarr#2797, xoai/sage-wiki#102.
  test.each(['SQLITE_BUSY', 'SQLITE_LOCKED', 'SQLITE_IOERR_SHMMAP', 'SQLITE_IOERR_LOCK', 'SQLITE_PROTOCOL'])(
    'file systems without locks or shared memory, and the way out, with %s',
    async (code) => {
      const { text } = await explainFailure(new Database.SqliteError('as SQLite says it', code));
      expect(text).toContain('NFS, SMB, 9p and the drives of Windows in WSL');
      expect(text).toContain('choose a folder on a local disk with --data');
    },
  );
});

test.each([
  [0x6969, 'NFS'],
  [0xff534d42, 'SMB'],
  [0xff534d42 | 0, 'SMB'],
  [0x01021997, '9p'],
  [0xef53, undefined],
])('the file system with the number %i is %s', (type, name) => {
  expect(unsuitedFileSystem('/data', () => type)).toBe(name);
});
