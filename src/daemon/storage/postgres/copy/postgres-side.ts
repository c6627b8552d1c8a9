import { setTimeout as sleep } from 'node:timers/promises';
import { withoutPassword } from '../../../../shared/storage/database-url.ts';
import { UnfinishedCopy } from '../../sqlite/engine/errors.ts';
import { Reader } from '../../sqlite/engine/reader.ts';
import type { LongReads } from '../../sqlite/long-reads.ts';
import { CopyConnection } from '../engine/copy-connection.ts';
import { postgresCode } from '../engine/errors.ts';
import { serverClock, writeLock } from '../engine/locks.ts';
import { migrate } from '../migrate.ts';
import { serverSchema } from '../migrations/index.ts';
import { Server, startThread } from '../server.ts';
import type { CopiedTable } from './copied-tables.ts';
import { CopyRefused } from './copy-refused.ts';
import {
  type CopySide,
  type CopyTarget,
  countsOf,
  exceptMark,
  progressTable,
  quoted,
  selection,
  sourceName,
  type Take,
} from './copy-side.ts';

/** With fewer rows, the indexes of a table stay while it is filled. */
const rebuiltRows = 10_000;

class PostgresSide implements CopySide {
  protected readonly connection: CopyConnection;

  constructor(connection: CopyConnection) {
    this.connection = connection;
  }

  async counts(tables: readonly CopiedTable[]): Promise<Map<string, number>> {
    const [row = {}] = await this.connection.query(countsOf(tables));
    return new Map(Object.entries(row).map(([name, count]) => [name, Number(count)]));
  }

  async read(table: CopiedTable, take: Take): Promise<void> {
    const order = table.key.map(quoted).join(', ');
    await this.connection.copyOut(`COPY (SELECT ${selection(table)} ORDER BY ${order}) TO STDOUT`, take);
  }

  async numbers(): Promise<Map<string, number>> {
    const numbers = new Map<string, number>();
    for (const { table, sequence } of await this.sequences())
      numbers.set(
        table,
        await this.number(`SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM ${sequence}`),
      );
    return numbers;
  }

  async close(): Promise<void> {
    await this.connection.close();
  }

  /** The size of all tables. */
  async bytes(): Promise<number> {
    return await this.number(
      `SELECT coalesce(sum(pg_table_size(oid)), 0) FROM pg_class
       WHERE relnamespace = 'gateway'::regnamespace AND relkind = 'r'`,
    );
  }

  protected async sequences(): Promise<{ table: string; sequence: string }[]> {
    const rows = await this.connection.query(
      `SELECT table_name AS "table", pg_get_serial_sequence(quote_ident(table_name), column_name) AS sequence
       FROM information_schema.columns WHERE table_schema = 'gateway' AND is_identity = 'YES'`,
    );
    return rows as { table: string; sequence: string }[];
  }

  /** The only value of the only row. */
  protected async number(sql: string): Promise<number> {
    const [row = {}] = await this.connection.query(sql);
    return Number(Object.values(row)[0]);
  }
}

interface SourceOptions {
  url: string;
  /** Whether daemons may use the database meanwhile: they go on, and the copy is of one moment. */
  isInUse: boolean;
}

/** Opens one snapshot of a database. Rejects with `CopyRefused`, `UnfinishedCopy` or `PostgresError`. */
export async function openPostgresSource({ url, isInUse }: SourceOptions): Promise<PostgresSide> {
  const address = withoutPassword(url);
  const connection = await CopyConnection.open(url);
  try {
    const state = await stateOf(connection);
    if (state === 'absent') throw new CopyRefused(`${address} has no data of Gateway.`);
    if (!isInUse) await lock(connection, address);
    await connection.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const [row] = await connection.query('SELECT max(version) AS version FROM migrations');
    if (Number(row?.version) !== serverSchema.migrations.at(-1)?.version) {
      throw new CopyRefused(
        `${address} was written by another version: start this version with it once, stop it, and copy again.`,
      );
    }
    if (state === 'unfinished') throw new UnfinishedCopy(address);
    return new PostgresSide(connection);
  } catch (error) {
    await connection.close();
    throw error;
  }
}

class PostgresTarget extends PostgresSide implements CopyTarget {
  readonly #url: string;

  constructor(connection: CopyConnection, url: string) {
    super(connection);
    this.#url = url;
  }

  async begin(mark: string): Promise<Map<string, string>> {
    const { connection } = this;
    return await this.#together(async () => {
      await connection.query(
        `CREATE TABLE IF NOT EXISTS ${progressTable} (name text PRIMARY KEY, digest text NOT NULL)`,
      );
      const rows = await connection.query(`SELECT name, digest FROM ${progressTable}`);
      const digests = new Map(rows.map(({ name, digest }) => [String(name), String(digest)]));
      if ((digests.get(sourceName) ?? mark) !== mark) throw anotherSource(this.#url);
      digests.delete(sourceName);
      await connection.query(
        "INSERT INTO meta (name, value) VALUES ('unfinished_copy', 1) ON CONFLICT (name) DO NOTHING",
      );
      await this.#keep(sourceName, mark);
      return digests;
    });
  }

  async fill(table: CopiedTable, rows: number, feed: (write: Take) => Promise<string>): Promise<void> {
    const { connection } = this;
    const name = quoted(table.name);
    const indexes = rows < rebuiltRows ? [] : await this.#indexes(name);
    const dropped = indexes.map((index) => `DROP INDEX ${index.name};`).join('');
    // Triggers have done their work in the source.
    await connection.query(
      `BEGIN; ALTER TABLE ${name} DISABLE TRIGGER USER; ${dropped} DELETE FROM ${name}${exceptMark(table.name)}`,
    );
    try {
      const columns = table.columns.map((column) => quoted(column.name)).join(', ');
      let digest = '';
      await connection.copyIn(`COPY ${name} (${columns}) FROM STDIN`, async (write) => {
        digest = await feed(write);
      });
      await connection.query(
        `${indexes.map(({ sql }) => `${sql};`).join('')} ALTER TABLE ${name} ENABLE TRIGGER USER;
         INSERT INTO ${progressTable} (name, digest) VALUES ('${table.name}', '${digest}'); COMMIT`,
      );
    } catch (error) {
      await connection.query('ROLLBACK').catch(() => {});
      throw error;
    }
  }

  /** Built after the rows, an index costs half. */
  async #indexes(name: string): Promise<Record<string, unknown>[]> {
    return await this.connection.query(
      `SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS sql FROM pg_index
       WHERE indrelid = $1::regclass AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conindid = indexrelid)`,
      [`gateway.${name}`],
    );
  }

  async problems(): Promise<string[]> {
    // Plans would be made for empty tables.
    await this.connection.query('ANALYZE');
    const server = new Server({ url: this.#url }, () => {});
    const reader = new Reader<LongReads>(() =>
      startThread('postgres-reader', { channel: server.channel('checks') }),
    );
    try {
      return (await reader.run('verify')).problems;
    } finally {
      await reader.close();
      await server.close();
    }
  }

  async finish(numbers: ReadonlyMap<string, number>): Promise<void> {
    const { connection } = this;
    await this.#together(async () => {
      for (const { table, sequence } of await this.sequences()) {
        const number = numbers.get(table) ?? 0;
        if (number > 0) await connection.query('SELECT setval($1::regclass, $2)', [sequence, number]);
      }
      await connection.query(`DROP TABLE ${progressTable}`);
      await connection.query("DELETE FROM meta WHERE name = 'unfinished_copy'");
    });
  }

  async #keep(name: string, digest: string): Promise<void> {
    await this.connection.query(
      `INSERT INTO ${progressTable} (name, digest) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`,
      [name, digest],
    );
  }

  async #together<Result>(work: () => Promise<Result>): Promise<Result> {
    await this.connection.query('BEGIN');
    try {
      const result = await work();
      await this.connection.query('COMMIT');
      return result;
    } catch (error) {
      await this.connection.query('ROLLBACK').catch(() => {});
      throw error;
    }
  }
}

/**
 * Creates the schema in an empty database, or opens one to which a copy is unfinished. Rejects with `CopyRefused`, `PostgresError`,
 * `UnsupportedServer` or `UnsupportedSchema`.
 */
export async function openPostgresTarget(url: string): Promise<CopyTarget> {
  const address = withoutPassword(url);
  const connection = await CopyConnection.open(url);
  try {
    const state = await stateOf(connection);
    if (state === 'used')
      throw new CopyRefused(`${address} has data of Gateway already. Choose an empty database.`);
    await lock(connection, address);
    await migrate((sql, params) => connection.query(sql, params), serverSchema);
    return new PostgresTarget(connection, url);
  } catch (error) {
    await connection.close();
    throw error;
  }
}

type State = 'absent' | 'fresh' | 'unfinished' | 'used';

/** Fresh is a database with which no daemon was started. */
async function stateOf(connection: CopyConnection): Promise<State> {
  const [schema] = await connection.query("SELECT to_regclass('gateway.migrations') IS NOT NULL AS exists");
  if (!schema?.exists) return 'absent';
  const [row] = await connection.query(
    `SELECT EXISTS (SELECT 1 FROM meta WHERE name = 'unfinished_copy') AS unfinished,
       EXISTS (SELECT 1 FROM meta WHERE name = 'last_daemon' UNION ALL SELECT 1 FROM daemons WHERE number > 0) AS used`,
  );
  if (row?.unfinished) return 'unfinished';
  return row?.used ? 'used' : 'fresh';
}

/** Keeps daemons from writing until the connection ends. Waits for the end of the term of one that no longer runs. */
async function lock(connection: CopyConnection, address: string): Promise<void> {
  const inUse = () => new CopyRefused(`A daemon is using ${address}, or it is being copied. Stop it first.`);
  const first = await termEnd(connection);
  for (let end = first; end !== undefined; end = await termEnd(connection)) {
    if (first !== undefined && end > first) throw inUse();
    await sleep(termPollMs);
  }
  try {
    await connection.query("SELECT set_config('lock_timeout', '3s', false)");
    await connection.query('SELECT pg_advisory_lock($1)', [writeLock]);
    await connection.query("SELECT set_config('lock_timeout', '0', false)");
  } catch (error) {
    throw postgresCode(error) === '55P03' ? inUse() : error;
  }
  if ((await termEnd(connection)) !== undefined) throw inUse();
}

const termPollMs = 500;

/** When the last term of a daemon ends, in milliseconds since 1970; undefined if none runs. */
async function termEnd(connection: CopyConnection): Promise<number | undefined> {
  const [table] = await connection.query("SELECT to_regclass('gateway.daemons') IS NOT NULL AS exists");
  if (!table?.exists) return undefined;
  const [row] = await connection.query(
    `SELECT max(expires_at) AS end FROM daemons WHERE successor IS NULL AND expires_at > ${serverClock}`,
  );
  return row?.end === null || row?.end === undefined ? undefined : Number(row.end);
}

function anotherSource(url: string): CopyRefused {
  return new CopyRefused(
    `${withoutPassword(url)} has an unfinished copy of another source, or the source has changed since. \
Remove it with DROP SCHEMA gateway CASCADE, and copy again.`,
  );
}
