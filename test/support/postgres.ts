import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { migrate } from '../../src/daemon/storage/postgres/migrate.ts';
import { serverSchema } from '../../src/daemon/storage/postgres/migrations/index.ts';
import { exitWhenTerminated } from './exit-when-terminated.ts';
import { freePort } from './free-port.ts';

const run = promisify(execFile);

/** Where Debian's packages and other systems install the programs of the server, a folder per major version. */
const parents = ['/usr/lib/postgresql', '/usr/pgsql', '/opt/homebrew/opt'];

/** The newest of the installed servers; `GATEWAY_TEST_POSTGRES` names another folder of programs. */
function programsFolder(): string | undefined {
  const named = process.env.GATEWAY_TEST_POSTGRES;
  if (named) return named;
  return parents
    .flatMap((parent) =>
      existsSync(parent) ? readdirSync(parent).map((name) => join(parent, name, 'bin')) : [],
    )
    .filter((folder) => existsSync(join(folder, 'initdb')))
    .sort((a, b) => versionIn(b) - versionIn(a))[0];
}

function versionIn(path: string): number {
  return Number(/(\d+)\/bin$/.exec(path)?.[1] ?? 0);
}

/** Why PostgreSQL is not available; undefined if it is. */
export function missingPostgres(): string | undefined {
  if (process.platform === 'win32') return 'PostgreSQL is only tested on Unix';
  if (programsFolder() === undefined) return 'PostgreSQL is not installed';
  if (process.getuid?.() === 0 && unprivileged() === undefined) return 'PostgreSQL refuses to run as root';
  return undefined;
}

interface User {
  uid: number;
  gid: number;
}

/** A user for the server where this process is root, as which it does not run. */
function unprivileged(): User | undefined {
  for (const name of ['postgres', 'nobody']) {
    try {
      const id = (kind: string) =>
        Number(execFileSync('id', [kind, name], { stdio: ['ignore', 'pipe', 'ignore'] }));
      return { uid: id('-u'), gid: id('-g') };
    } catch {
      // This machine has no such user.
    }
  }
  return undefined;
}

export interface PostgresServer {
  /** A connection string of a database, over the socket, or over TCP if the server listens on it. */
  url(database?: string): string;
  /** Creates an empty database, or a copy of the template, and returns its connection string. */
  newDatabase(template?: string): Promise<string>;
  /** Runs statements in a database and returns the rows of the last one. */
  query(sql: string, database?: string): Promise<Record<string, unknown>[]>;
  /** A database as `pg_dump` writes it. */
  dump(database: string): Promise<string>;
  /** The process id of the server; changes with a restart. */
  pid(): number;
  /** `fast` ends sessions and writes a checkpoint; `kill` is SIGKILL, after which files stay as they are. */
  halt(how: 'fast' | 'kill'): Promise<void>;
  /** Starts it again after `halt`, with its files and address. */
  restart(): Promise<void>;
  /** Ends it and removes its files. */
  stop(): Promise<void>;
}

export interface PostgresOptions {
  /** Flushes to disk as in production. */
  isDurable?: boolean;
  /** Listens on a free port of loopback, too. */
  hasTcp?: boolean;
  /** Further settings of the server. */
  settings?: Record<string, string | number>;
  /** Makes it a standby of this server, with the same data. */
  standbyOf?: PostgresServer;
}

const owner = 'gateway';
const environment = { PATH: process.env.PATH, TZ: 'UTC', LC_ALL: 'C' };

// Runs the server until standard input ends, also because this process was killed. Without the line `keep`, it removes the folder then.
const guardScript = `
trap '' INT TERM HUP PIPE
folder=$1; shift
"$@" </dev/null &
echo "pid $!"
read -r last
kill -QUIT $! 2>/dev/null
wait $!
[ "$last" = keep ] || rm -rf "$folder"
`;

/** Starts a server in a temporary folder. Everybody on this machine may connect as its owner; it has no secret data. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const programs = programsFolder() ?? '';
  const user = process.getuid?.() === 0 ? unprivileged() : undefined;
  const folder = newFolder(user);
  const data = join(folder, 'data');
  const asUser = { ...user, cwd: folder, env: environment };
  const port = options.hasTcp ? await freePort() : 5432;
  const settings = {
    listen_addresses: options.hasTcp ? '127.0.0.1' : '',
    port,
    unix_socket_directories: folder,
    // Hundreds of databases that live for a second need no upkeep.
    ...(options.isDurable ? {} : { fsync: 'off', full_page_writes: 'off', autovacuum: 'off' }),
    // A server of a test is small, and several run side by side.
    shared_buffers: '32MB',
    ...options.settings,
  };
  const command = [join(programs, 'postgres'), '-D', data];
  for (const [name, value] of Object.entries(settings)) command.push('-c', `${name}=${value}`);

  let guard: ChildProcess | undefined;
  let pid = 0;
  const start = async () => {
    const child = spawn('sh', ['-c', guardScript, 'guard', folder, ...command], { ...asUser, stdio: 'pipe' });
    guard = child;
    pid = await ready(child);
    // The server must not keep a process alive whose tests are over.
    child.unref();
    for (const stream of [child.stdin, child.stdout, child.stderr])
      (stream as unknown as { unref(): void }).unref();
  };
  const end = async (last: 'keep' | 'remove') => {
    if (guard === undefined) return;
    const child = guard;
    guard = undefined;
    child.ref();
    const ended = child.exitCode === null ? once(child, 'exit') : undefined;
    child.stdin?.end(`${last}\n`);
    await ended;
  };
  const url = (database = 'postgres') =>
    options.hasTcp
      ? `postgres://${owner}@127.0.0.1:${port}/${database}`
      : `postgres://${owner}@${encodeURIComponent(folder)}/${database}`;
  const pools = new Map<string, pg.Pool>();
  const query = async (sql: string, database?: string) => {
    const address = url(database);
    const pool = pools.get(address) ?? newPool(address);
    pools.set(address, pool);
    const results = [await pool.query(sql)].flat();
    return results.at(-1)?.rows ?? [];
  };

  try {
    if (options.standbyOf) {
      const copy = ['--write-recovery-conf', '--checkpoint=fast', '--no-sync', '-D', data];
      await run(join(programs, 'pg_basebackup'), [...copy, '-d', options.standbyOf.url()], asUser);
    } else {
      await run('cp', ['-R', await newData(programs, user), data], asUser);
    }
    await start();
  } catch (error) {
    await end('remove');
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  let databases = 0;
  return {
    url,
    query,
    newDatabase: async (template = 'template1') => {
      databases += 1;
      const name = `test_${databases}`;
      // Writing the copy to the log, too, would take twice the time.
      await query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
      return url(name);
    },
    dump: async (database) => {
      const options = { ...asUser, maxBuffer: 1024 ** 3 };
      return (await run(join(programs, 'pg_dump'), [url(database)], options)).stdout;
    },
    pid: () => pid,
    halt: async (how) => {
      if (how === 'fast')
        await run(join(programs, 'pg_ctl'), ['stop', '-w', '-m', 'fast', '-D', data], asUser);
      else process.kill(pid, 'SIGKILL');
      await end('keep');
    },
    restart: () => startAgain(start, () => end('keep')),
    stop: async () => {
      const open = [...pools.values()];
      pools.clear();
      await Promise.all(open.map((pool) => pool.end()));
      await end('remove');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

let initialized: Promise<string> | undefined;

/** The files of a server that was never started: making them takes ten times as long as copying them. */
function newData(programs: string, user: User | undefined): Promise<string> {
  initialized ??= initialize(programs, user);
  return initialized;
}

async function initialize(programs: string, user: User | undefined): Promise<string> {
  const folder = newFolder(user);
  exitWhenTerminated();
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const data = join(folder, 'data');
  const options = ['--no-sync', '--no-instructions', '--auth=trust', '--locale=C', '--encoding=UTF8'];
  await run(join(programs, 'initdb'), [...options, `--username=${owner}`, '-D', data], {
    ...user,
    cwd: folder,
    env: environment,
  });
  return data;
}

function newFolder(user: User | undefined): string {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-pg-'));
  if (user) chownSync(folder, user.uid, user.gid);
  return folder;
}

/** Connections that are kept for a moment: most statements look again for what is not there yet, and each connection starts a process. */
function newPool(connectionString: string): pg.Pool {
  const pool = new pg.Pool({ connectionString, idleTimeoutMillis: 1000, allowExitOnIdle: true });
  // Idle ones end with a server that is halted.
  pool.on('error', () => {});
  return pool;
}

/** Processes of a server that was killed end only when they notice it, and another one does not start before. */
async function startAgain(start: () => Promise<void>, end: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await start();
    } catch (error) {
      await end();
      if (!/shared memory block .* is still in use/.test(String(error))) throw error;
      await sleep(20);
    }
  }
}

/** Resolves to the process id once the server accepts connections; rejects with its messages if it ends before. */
async function ready(child: ChildProcess): Promise<number> {
  if (!child.stdout || !child.stderr) throw new Error('the server has no output');
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const pid = Number(line.replace('pid ', ''));
  const messages: string[] = [];
  await new Promise<void>((resolve, reject) => {
    createInterface(child.stderr as NodeJS.ReadableStream).on('line', (text) => {
      if (messages.length < 100) messages.push(text);
      if (/database system is ready to accept (read-only )?connections/.test(text)) resolve();
      if (/ FATAL: /.test(text) && !/the database system is/.test(text))
        reject(new Error(messages.join('\n')));
    });
    child.once('exit', () => reject(new Error(messages.join('\n'))));
  });
  return pid;
}

let shared: Promise<PostgresServer> | undefined;

/**
 * A server for the files that one process of the test run executes; it ends with that process. Tests that halt a server start
 * their own.
 */
export function sharedPostgres(): Promise<PostgresServer> {
  shared ??= startPostgres();
  return shared;
}

let template: Promise<string> | undefined;

/** Connection string of a new database of the shared server with the current schema, whose server may be slow. */
export async function newPostgresDatabase(): Promise<string> {
  const server = await sharedPostgres();
  template ??= migratedTemplate(server);
  return `${await server.newDatabase(await template)}?connect_timeout=60`;
}

async function migratedTemplate(server: PostgresServer): Promise<string> {
  const name = 'migrated';
  await server.query(`CREATE DATABASE ${name}`);
  const client = new pg.Client({ connectionString: server.url(name) });
  await client.connect();
  await migrate(async (sql, params) => (await client.query(sql, params as unknown[])).rows, serverSchema);
  await client.end();
  return name;
}
