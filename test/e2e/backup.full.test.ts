import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFile,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { restore } from '../../src/daemon/process/restore.ts';
import { programs } from '../support/programs.ts';
import { runCli } from '../support/run-cli.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

let daemon: RunningDaemon;
let places: string;
/** A backup of a daemon with one stored response. */
let backup: string;
let responseId: string;

const cli = (home: string, ...args: string[]) => runCli(args, { env: { GATEWAY_HOME: home }, restore });

async function respond(on: RunningDaemon): Promise<string> {
  const answer = await on.fetch('/v1/responses', { json: { model: 'sim/echo', input: 'kept' } });
  return ((await answer.json()) as { id: string }).id;
}

beforeAll(async () => {
  places = await mkdtemp(join(tmpdir(), 'gateway-backups-'));
  daemon = await startDaemon({ config: 'margin_percent: 3\n' });
  responseId = await respond(daemon);
  backup = join(places, 'first.db');
  const made = await cli(daemon.home, 'backup', backup);
  expect(made, made.stderr).toMatchObject({ code: 0 });
});

afterAll(async () => {
  await daemon.stop();
  await rm(places, { recursive: true, force: true });
});

/** The data folder of a daemon that was stopped, with another response than the backup has. */
async function otherHome(): Promise<{ home: string; otherId: string }> {
  const other = await startDaemon();
  const otherId = await respond(other);
  await other.stop({ keep: true });
  onTestFinished(() => rm(other.home, { recursive: true, force: true }));
  return { home: other.home, otherId };
}

async function found(home: string, id: string): Promise<number> {
  const again = await startDaemon({ home });
  const { status } = await again.fetch(`/v1/responses/${id}`);
  await again.stop({ keep: true });
  return status;
}

async function freshCopy(): Promise<string> {
  const copy = join(places, `${Math.random()}.db`);
  await copyFile(backup, copy);
  return copy;
}

test('a backup is a single complete file that only its owner can read', async () => {
  expect((await stat(backup)).mode & 0o777).toBe(0o600);
  const database = new Database(backup, { readonly: true });
  expect(database.pragma('integrity_check', { simple: true })).toBe('ok');
  expect(database.pragma('journal_mode', { simple: true })).toBe('delete');
  const names = database.prepare('SELECT name FROM backup_files ORDER BY name').pluck().all();
  expect(names).toEqual(['config.yaml', 'data-key']);
  database.close();
});

test('a backup contains no keys and no logins', async () => {
  const bytes = await readFile(backup);
  expect(bytes.includes(daemon.key)).toBe(false);
  expect(bytes.includes(daemon.login)).toBe(false);
});

test('without a destination it goes to the data folder, and the path is printed', async () => {
  const { stdout, code } = await cli(daemon.home, 'backup', '--quiet');
  expect(code).toBe(0);
  expect(stdout.trim()).toMatch(new RegExp(`^${daemon.home}/backups/gateway-.*\\.db$`));
  expect((await stat(stdout.trim())).size).toBeGreaterThan(4096);
});

test('in a folder, the backup gets a generated name', async () => {
  const folder = join(places, 'folder');
  await mkdir(folder);
  const { stdout } = await cli(daemon.home, 'backup', folder, '--json');
  expect(JSON.parse(stdout).file).toMatch(/folder\/gateway-.*\.db$/);
  expect(await readdir(folder)).toHaveLength(1);
});

test('existing files are not overwritten', async () => {
  const before = await stat(backup);
  const { code, stderr } = await cli(daemon.home, 'backup', backup);
  expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('already exists') });
  expect((await stat(backup)).mtimeMs).toBe(before.mtimeMs);
});

test('calls continue during a backup, which holds one consistent state of the ledger', async () => {
  const calls = Promise.all(Array.from({ length: 40 }, () => respond(daemon)));
  const made = await cli(daemon.home, 'backup', join(places, 'busy.db'));
  await calls;
  expect(made.code, made.stderr).toBe(0);
  const database = new Database(join(places, 'busy.db'), { readonly: true });
  expect(database.prepare('SELECT sum(balance) FROM accounts').pluck().get() ?? 0).toBe(0);
  database.close();
});

test('a restore replaces all data and keeps the previous data aside', async () => {
  const { home, otherId } = await otherHome();
  const { code, stdout, stderr } = await cli(home, 'restore', backup, '--yes', '--json');
  expect(code, stderr).toBe(0);
  const { old_data } = JSON.parse(stdout) as { old_data: string };
  expect((await stat(join(old_data, 'gateway.db'))).size).toBeGreaterThan(4096);
  expect(await readFile(join(home, 'data-key'), 'utf8')).toBe(
    await readFile(join(daemon.home, 'data-key'), 'utf8'),
  );
  const again = await startDaemon({ home });
  const key = { authorization: `Bearer ${daemon.key}` };
  expect((await again.fetch(`/v1/responses/${responseId}`, { headers: key })).status).toBe(200);
  expect((await again.fetch(`/v1/responses/${otherId}`, { headers: key })).status).toBe(404);
  await again.stop({ keep: true });
  const database = new Database(join(home, 'gateway.db'), { readonly: true });
  expect(database.prepare("SELECT name FROM sqlite_schema WHERE name LIKE 'backup%'").all()).toEqual([]);
  database.close();
});

test('a start without the key that decrypts stored data warns of it', async () => {
  const home = await mkdtemp(join(tmpdir(), 'gateway-without-key-'));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  const first = await startDaemon({ home });
  await first.stop({ keep: true });
  expect(first.printed().stderr).not.toContain('data-key');
  await rm(join(home, 'data-key'));
  const second = await startDaemon({ home });
  await second.stop({ keep: true });
  expect(second.printed().stderr).toContain('data-key was missing and has been created.');
});

test('a restore into an empty folder brings the data and the configuration', async () => {
  const home = join(places, 'new-machine');
  const { code, stderr } = await cli(home, 'restore', backup, '--yes');
  expect(code, stderr).toBe(0);
  expect(await readFile(join(home, 'config.yaml'), 'utf8')).toContain('margin_percent: 3');
});

test.each([
  ['into the usual folder', {}, false, /gateway serve$/m],
  ['into another one', {}, true, /gateway serve --data '.+'$/m],
  [
    'to be copied to a server',
    { GATEWAY_STORAGE_URL: 'postgres://me@127.0.0.1/gateway' },
    true,
    /gateway storage copy --from '.+' --to FILE$/m,
  ],
])('a restore %s names the next step', async (name, more, hasFolder, next) => {
  const home = join(places, name.replaceAll(' ', '-'));
  const { code, stderr } = await runCli(
    ['restore', backup, '--yes', ...(hasFolder ? ['--data', join(home, 'data')] : [])],
    { env: { GATEWAY_HOME: home, ...more }, restore },
  );
  expect(code, stderr).toBe(0);
  expect(stderr).toMatch(next);
});

test('a restore is refused while the daemon runs', async () => {
  const { code, stderr } = await cli(daemon.home, 'restore', backup, '--yes');
  expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('gateway stop') });
  const quiet = await runCli(['restore', backup, '--yes', '--data', daemon.home], {
    env: { GATEWAY_HOME: places },
    restore,
  });
  expect(quiet).toMatchObject({ code: 1, stderr: expect.stringContaining('Another daemon is using') });
});

test('a restore asks for confirmation, and without a terminal requires --yes', async () => {
  const home = join(places, 'unasked');
  expect(await cli(home, 'restore', backup)).toMatchObject({ code: 2 });
  const { code } = await runCli(['restore', backup], {
    env: { GATEWAY_HOME: home },
    restore,
    tty: true,
    typed: ['n'],
  });
  expect(code).toBe(1);
  await expect(stat(join(home, 'gateway.db'))).rejects.toThrow('ENOENT');
});

const damages: [string, (file: string) => Promise<void>, RegExp][] = [
  ['cut off', (file) => truncate(file, 9000), /restored/],
  ['empty', (file) => writeFile(file, ''), /it is empty/],
  ['no database', (file) => writeFile(file, 'x'.repeat(5000)), /not a SQLite database/],
  [
    'changed in one amount',
    async (file) => {
      const database = new Database(file);
      database.exec('UPDATE calls SET input = input + 1');
      database.close();
    },
    /differs from what was backed up/,
  ],
  [
    'of a newer program',
    async (file) => {
      const database = new Database(file);
      database.pragma('user_version = 9999');
      database.close();
    },
    /newer version/,
  ],
];

test.each(damages)(
  'a backup file that is %s is rejected, and the data stays',
  async (_name, damage, reported) => {
    const { home, otherId } = await otherHome();
    const file = await freshCopy();
    await damage(file);
    const { code, stderr } = await cli(home, 'restore', file, '--yes');
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringMatching(reported) });
    expect(stderr).toContain('Nothing was changed');
    expect(await found(home, otherId)).toBe(200);
    expect((await readdir(home)).filter((name) => name.startsWith('restore'))).toEqual([]);
  },
);

test('a copy of the database file is not a backup', async () => {
  const copy = join(places, 'loose.db');
  await copyFile(join(daemon.home, 'gateway.db'), copy);
  const { code, stderr } = await cli(join(places, 'loose'), 'restore', copy, '--yes');
  expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('write-ahead log') });
});

test('a mistyped file name creates nothing', async () => {
  const { code, stderr } = await cli(join(places, 'nowhere'), 'restore', '/nonexistent.db', '--yes');
  expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('does not exist') });
  await expect(stat(join(places, 'nowhere'))).rejects.toThrow('ENOENT');
});

test('a restore that is killed at any step leaves either the old data or the new', async () => {
  const { dyingRestore } = await programs();
  const { home: original, otherId } = await otherHome();
  const dieAt = async (step: number) => {
    const home = join(places, `killed-${step}`);
    await cp(original, home, { recursive: true });
    const child = spawn(process.execPath, [dyingRestore, backup, home, String(step)], {
      env: { PATH: process.env.PATH },
      stdio: 'inherit',
    });
    const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
    expect([code, signal]).toEqual(signal === null ? [0, null] : [null, 'SIGKILL']);
    const again = await startDaemon({ home });
    const headers = { authorization: `Bearer ${daemon.key}` };
    const hasOld = (await again.fetch(`/v1/responses/${otherId}`)).status === 200;
    const hasNew = (await again.fetch(`/v1/responses/${responseId}`, { headers })).status === 200;
    await again.stop({ keep: true });
    expect([hasOld, hasNew], `step ${step}`).toEqual([hasOld, !hasOld]);
    expect((await readdir(home)).filter((name) => name.startsWith('restore'))).toEqual([]);
    return { isComplete: signal === null, data: hasOld ? 'old' : 'new' };
  };
  const outcomes: Awaited<ReturnType<typeof dieAt>>[] = [];
  while (!outcomes.some(({ isComplete }) => isComplete)) {
    const next = [1, 2, 3, 4].map((more) => dieAt(outcomes.length + more));
    outcomes.push(...(await Promise.all(next)));
  }
  expect(outcomes.map(({ data }) => data).join(' ')).toMatch(/^(old )+(new ?)+$/);
});
