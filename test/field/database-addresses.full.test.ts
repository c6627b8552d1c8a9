import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { settledEvent } from '../../src/daemon/features/metering/index.ts';
import {
  DatabaseServers,
  type DatabaseServers as Servers,
} from '../../src/daemon/storage/postgres/engine/servers.ts';
import { explainServer } from '../../src/daemon/storage/postgres/explain-server.ts';
import { openPostgresStorage } from '../../src/daemon/storage/postgres/open.ts';
import { recordingLog } from '../daemon/storage/sqlite/temporary.ts';
import { addUsers, aKey, morning } from '../storage/records.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { missingPostgres, type PostgresServer, startPostgres } from '../support/postgres.ts';
import { localhostCertificate, testCertificate } from '../support/test-certificate.ts';

/** Addresses of PostgreSQL as hosts hand them out, each from a public report, against a server and a pooler. */

const missing = missingPostgres();
const pooler = '/usr/sbin/pgbouncer';
const hasPooler = (() => {
  try {
    accessSync(pooler);
    return process.getuid?.() === 0;
  } catch {
    return false;
  }
})();

const settings = { search_path: 'gateway', statement_timeout: 1234 };
const clients: pg.Client[] = [];
const warnings: string[] = [];
const onWarning = ({ message }: Error) => warnings.push(message);

let server: PostgresServer;
let port: string;
let folder: string;

/** What a session is that was opened with an address. */
async function session(search: string, { user = 'gateway', at = `127.0.0.1:${port}` } = {}) {
  const servers: Servers = new DatabaseServers(`postgres://${user}@${at}/postgres${search}`);
  const client = await servers.connect({ name: 'gateway test', settings });
  clients.push(client);
  const { rows } = await client.query(
    `SELECT coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false) AS encrypted,
      current_setting('search_path') AS path, current_setting('statement_timeout') AS timeout,
      current_setting('work_mem') AS memory, current_setting('application_name') AS name`,
  );
  return rows[0];
}

async function failure(search: string, of?: Parameters<typeof session>[1]): Promise<string> {
  const error = await session(search, of).then(
    (found) => new Error(`connected: ${JSON.stringify(found)}`),
    (reason) => explainServer('postgres://a/b', reason),
  );
  return (error as Error).message;
}

/** Writes a file into the folder of the server's data, as the server. */
const writeAs = (name: string, text: string) =>
  server.query(
    `COPY (SELECT unnest(string_to_array($text$${text}$text$, E'\\n')))
      TO PROGRAM 'umask 077; cat > ${name}.new; mv ${name}.new ${name}'`,
  );

const reload = async (sql: string) => {
  await server.query(sql);
  await server.query('SELECT pg_reload_conf()');
};

describe.skipIf(missing !== undefined)(
  `an address of a database${missing ? ` (skipped: ${missing})` : ''}`,
  () => {
    beforeAll(async () => {
      server = await startPostgres({ hasTcp: true });
      port = new URL(server.url()).port;
      folder = mkdtempSync(join(tmpdir(), 'gateway-roots-'));
      writeFileSync(join(folder, 'root.pem'), testCertificate.cert);
      writeFileSync(join(folder, 'other.pem'), localhostCertificate.cert);
      await server.query(
        "SET password_encryption = 'scram-sha-256'; CREATE ROLE bound LOGIN PASSWORD 'secret'; CREATE ROLE plain LOGIN PASSWORD 'secret'",
      );
      process.on('warning', onWarning);
    });
    afterEach(() => {
      for (const client of clients.splice(0)) client.end().catch(() => {});
    });
    afterAll(async () => {
      process.off('warning', onWarning);
      rmSync(folder, { recursive: true, force: true });
      await server.stop();
    });

    test.each([
      ['brianc/node-postgres#3386', '?sslmode=prefer', false],
      ['briefercloud/briefer#276', '?sslmode=allow', false],
      ['db-migrate/pg#64', '?sslmode=disable', false],
    ])('%s: %s reaches a server without encryption', async (_cite, search, encrypted) => {
      expect(await session(search)).toMatchObject({ encrypted });
    });

    test('knex/knex#5033: a server without encryption is named as such', async () => {
      expect(await failure('?sslmode=require')).toMatch(/does not support SSL.*\n.*sslmode=disable/);
    });

    test('neondatabase/neon#6291: options of its own are kept, next to those of the session', async () => {
      expect(
        await session('?options=-c%20work_mem%3D7MB%20-c%20statement_timeout%3D60000&application_name=x'),
      ).toEqual({
        encrypted: false,
        path: 'gateway',
        timeout: '1234ms',
        memory: '7MB',
        name: 'gateway test',
      });
    });

    test.skipIf(!hasPooler)('pgbouncer/pgbouncer#525: a daemon works through a pooler', async () => {
      const at = await startPooler();
      expect(await session('', { at })).toMatchObject({ path: 'gateway', timeout: '1234ms' });
      const url = `postgres://gateway@${at}/postgres?connect_timeout=60`;
      const log = recordingLog();
      const storage = await openPostgresStorage({ url, now: () => morning, log, settledEvent });
      await addUsers(storage);
      await storage.keys.insert(aKey('key_1'));
      expect(await storage.keys.byId('ws_1', 'key_1')).toMatchObject({ id: 'key_1' });
      await storage.close();
    });

    describe('with a certificate', () => {
      beforeAll(async () => {
        await writeAs('server.crt', testCertificate.cert);
        await writeAs('server.key', testCertificate.key);
        await writeAs(
          'pg_hba.conf',
          'hostssl all bound 127.0.0.1/32 scram-sha-256\nhostssl all plain 127.0.0.1/32 password\nhost all gateway 127.0.0.1/32 trust',
        );
        await reload('ALTER SYSTEM SET ssl = on');
        await eventually('the server encrypts', () =>
          session('?sslmode=no-verify').then(
            () => true,
            () => false,
          ),
        );
      });

      test.each([
        ['brianc/node-postgres#2009', () => '?sslmode=no-verify'],
        ['briefercloud/briefer#276', () => '?sslmode=prefer'],
        ['supabase/pg-toolbelt#88', () => `?sslmode=verify-ca&sslrootcert=${folder}/root.pem`],
        ['supabase/pg-toolbelt#88', () => `?sslmode=require&sslrootcert=${folder}/root.pem`],
        ['brianc/node-postgres#2375', () => '?uselibpqcompat=true&sslmode=require'],
      ])('%s: encryption as the address asks for it', async (_cite, search) => {
        expect(await session(search())).toMatchObject({ encrypted: true });
      });

      test.each([
        ['brianc/node-postgres#2558', () => '?sslmode=require', /certificate.*\n.*sslrootcert=FILE/],
        ['supabase/supabase#17971', () => '?sslmode=verify-full', /certificate.*\n.*sslmode=no-verify/],
        [
          'pgdogdev/pgdog#1453',
          () => '?sslmode=verify-full&sslrootcert=system',
          /certificate.*\n.*sslrootcert/,
        ],
        [
          'a sibling',
          () => `?sslmode=verify-ca&sslrootcert=${folder}/other.pem`,
          /certificate.*\n.*sslrootcert=FILE/,
        ],
        [
          'a sibling',
          () => `?sslmode=verify-full&sslrootcert=${folder}/root.pem`,
          /altnames.*\n.*sslmode=verify-ca/,
        ],
      ])('%s: a server that cannot be trusted is refused, with what to do', async (_cite, search, says) => {
        expect(await failure(search())).toMatch(says);
      });

      test('sqlpad/sqlpad#954: a server that wants encryption says so', async () => {
        expect(await failure('', { user: 'bound:secret' })).toMatch(/no encryption.*\n.*sslmode=verify-full/);
      });

      test('brianc/node-postgres#3356: channel binding is used if it is required, and nothing else', async () => {
        const required = `?sslmode=verify-ca&sslrootcert=${folder}/root.pem&channel_binding=require`;
        expect(await session(required, { user: 'bound:secret' })).toMatchObject({ encrypted: true });
        expect(await failure(required)).toMatch(/channel binding is required/);
        expect(await failure(required, { user: 'plain:secret' })).toMatch(/channel binding is required/);
        expect(await failure(required, { user: 'bound:wrong' })).toMatch(/password authentication failed/);
      });

      test('no warnings are printed of modes', () => {
        expect(warnings).toEqual([]);
      });
    });
  },
);

/** Starts a pooler in front of the server. Returns its host and port. */
async function startPooler(): Promise<string> {
  const listen = await freePort();
  const file = join(folder, 'pgbouncer.ini');
  const lines = [
    '[databases]',
    `postgres = host=127.0.0.1 port=${port} user=gateway`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${listen}`,
    'unix_socket_dir =',
    'auth_type = any',
    'pool_mode = session',
  ];
  writeFileSync(file, `${lines.join('\n')}\n`);
  const child = spawn(pooler, ['-u', 'postgres', file], { stdio: ['ignore', 'ignore', 'pipe'] });
  poolers.push(child);
  for await (const text of child.stderr.setEncoding('utf8')) if (String(text).includes('process up')) break;
  return `127.0.0.1:${listen}`;
}

const poolers: ReturnType<typeof spawn>[] = [];
afterAll(async () => {
  for (const child of poolers.splice(0)) {
    const ended = child.exitCode === null ? once(child, 'exit') : undefined;
    child.kill('SIGKILL');
    await ended;
  }
});
