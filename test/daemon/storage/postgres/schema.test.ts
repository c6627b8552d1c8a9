import Database from 'better-sqlite3';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Migration,
  migrate,
  type Query,
  type ServerSchema,
} from '../../../../src/daemon/storage/postgres/migrate.ts';
import { serverSchema } from '../../../../src/daemon/storage/postgres/migrations/index.ts';
import { UnsupportedSchema, UnsupportedServer } from '../../../../src/daemon/storage/sqlite/engine/errors.ts';
import { createSchema } from '../../../../src/daemon/storage/sqlite/engine/migrate.ts';
import { newestSchema } from '../../../../src/daemon/storage/sqlite/engine/migrations/newest-schema.ts';
import { first } from '../../../fixtures/schemas/postgres-55.ts';
import { missingPostgres, sharedPostgres } from '../../../support/postgres.ts';

const missing = missingPostgres();

async function connect(url: string) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('SET search_path TO gateway');
  const query: Query = async (sql, params) => (await client.query(sql, params as unknown[])).rows;
  return { query, end: () => client.end() };
}

const withMigration = (migration: Migration): ServerSchema => ({
  ...serverSchema,
  migrations: [...serverSchema.migrations, migration],
});

describe.skipIf(missing).for([
  { database: 'a new database', created: serverSchema.created },
  { database: 'one that was upgraded', created: () => first },
])(`the schema of PostgreSQL, $database${missing ? ` (skipped: ${missing})` : ''}`, ({ created }) => {
  const sqlite = new Database(':memory:');
  let postgres: Awaited<ReturnType<typeof connect>>;

  beforeAll(async () => {
    createSchema(sqlite, newestSchema);
    postgres = await connect(await (await sharedPostgres()).newDatabase());
    await migrate(postgres.query, { ...serverSchema, created });
  });
  afterAll(async () => {
    sqlite.close();
    await postgres.end();
  });

  /** Rows as lines, so that a difference names its table. */
  const inSqlite = (sql: string) => (sqlite.prepare(sql).pluck().all() as string[]).sort();
  const inPostgres = async (sql: string) =>
    (await postgres.query(sql)).map(({ line }) => String(line)).sort();
  const ownTables = "m.type = 'table' AND m.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'";
  const ownRelations = "relnamespace = 'gateway'::regnamespace AND relname <> 'migrations'";

  test('has the version of the SQLite schema', () => {
    expect(serverSchema.migrations.at(-1)?.version).toBe(newestSchema.version);
  });

  test('has the same columns, with their types, nullability, defaults and place in the primary key', async () => {
    const expected = inSqlite(
      `SELECT concat_ws(' ', m.name, c.name, c.type, iif(c."notnull" OR c.pk, 'not null', NULL), 'pk ' || c.pk,
         'default ' || replace(c.dflt_value, '''', ''))
       FROM sqlite_schema AS m CROSS JOIN pragma_table_info(m.name) AS c WHERE ${ownTables}`,
    );
    const found = await inPostgres(
      `SELECT concat_ws(' ', relname, attname,
         CASE format_type(atttypid, NULL) WHEN 'bigint' THEN 'INTEGER' WHEN 'text' THEN 'TEXT' WHEN 'bytea' THEN 'BLOB'
           WHEN 'double precision' THEN 'REAL' END,
         CASE WHEN attnotnull THEN 'not null' END,
         'pk ' || coalesce((SELECT array_position(conkey, attnum) FROM pg_constraint
           WHERE conrelid = attrelid AND contype = 'p'), 0),
         'default ' || regexp_replace(pg_get_expr(adbin, adrelid), '''([^'']*)''::text', '\\1')) AS line
       FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
       WHERE relkind = 'r' AND attnum > 0 AND NOT attisdropped AND ${ownRelations}`,
    );
    expect(found).toEqual(expected);
    const collations = await inPostgres(
      `SELECT concat(relname, '.', attname) AS line FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
       WHERE relkind = 'r' AND atttypid = 'text'::regtype AND attcollation <> '"C"'::regcollation AND ${ownRelations}`,
    );
    expect(collations).toEqual([]);
  });

  test('has the same indexes, with their columns and conditions', async () => {
    const plain = (sql: string) =>
      sql
        .replaceAll(/::(text|bigint)|["()\s]/g, '')
        .replaceAll('<>', '!=')
        .toLowerCase();
    const expected = (
      sqlite
        .prepare("SELECT sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL")
        .pluck()
        .all() as string[]
    ).map(plain);
    const found = await inPostgres(
      `SELECT replace(replace(pg_get_indexdef(indexrelid), 'gateway.', ''), ' USING btree', '') AS line
       FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
       WHERE ${ownRelations} AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conindid = indexrelid)`,
    );
    expect(found.map(plain).sort()).toEqual(expected.sort());
  });

  test('has the same unique columns and references', async () => {
    const unique = inSqlite(
      `SELECT concat(m.name, ' ', (SELECT group_concat(name, ',') FROM pragma_index_info(i.name)))
       FROM sqlite_schema AS m CROSS JOIN pragma_index_list(m.name) AS i WHERE i.origin = 'u' AND ${ownTables}`,
    );
    const columnsOf = (keys: string, table: string) =>
      `(SELECT string_agg(attname, ',' ORDER BY place) FROM unnest(${keys}) WITH ORDINALITY AS k (number, place)
        JOIN pg_attribute ON attrelid = ${table} AND attnum = number)`;
    const constraints = (type: string, line: string) =>
      inPostgres(
        `SELECT ${line} AS line FROM pg_constraint WHERE contype = '${type}' AND connamespace = 'gateway'::regnamespace`,
      );
    expect(
      await constraints('u', `concat(conrelid::regclass, ' ', ${columnsOf('conkey', 'conrelid')})`),
    ).toEqual(unique);

    const references = inSqlite(
      `SELECT concat_ws(' ', m.name, f."from", f."table", f."to", f.on_delete)
       FROM sqlite_schema AS m CROSS JOIN pragma_foreign_key_list(m.name) AS f WHERE ${ownTables}`,
    );
    const action = "CASE confdeltype WHEN 'r' THEN 'RESTRICT' ELSE confdeltype::text END";
    const line = `concat_ws(' ', conrelid::regclass, ${columnsOf('conkey', 'conrelid')}, confrelid::regclass,
      ${columnsOf('confkey', 'confrelid')}, ${action})`;
    expect(await constraints('f', line)).toEqual(references);
  });

  test('has as many checks of each table, and the same triggers', async () => {
    const checks = (
      sqlite.prepare(`SELECT m.name, m.sql FROM sqlite_schema AS m WHERE ${ownTables}`).all() as {
        name: string;
        sql: string;
      }[]
    ).flatMap(({ name, sql }) => {
      const count = sql.match(/\bCHECK \(/g)?.length ?? 0;
      return count === 0 ? [] : [`${name} ${count}`];
    });
    const found = await inPostgres(
      `SELECT concat(conrelid::regclass, ' ', count(*)) AS line FROM pg_constraint
       WHERE contype = 'c' AND connamespace = 'gateway'::regnamespace GROUP BY conrelid`,
    );
    expect(found).toEqual(checks.sort());
    const triggers = inSqlite("SELECT concat(name, ' ', tbl_name) FROM sqlite_schema WHERE type = 'trigger'");
    const foundTriggers = await inPostgres(
      `SELECT concat(tgname, ' ', tgrelid::regclass) AS line FROM pg_trigger
       WHERE NOT tgisinternal AND tgname NOT LIKE '%\\_numbered'`,
    );
    expect(foundTriggers).toEqual(triggers);
  });

  test('begins with the same rows', async () => {
    const tables = inSqlite(`SELECT m.name FROM sqlite_schema AS m WHERE ${ownTables}`);
    for (const table of tables) {
      const rows = sqlite.prepare(`SELECT * FROM ${table} ORDER BY 1`).all();
      const found = await postgres.query(`SELECT * FROM ${table} ORDER BY 1`);
      const asText = (values: readonly unknown[]) =>
        JSON.stringify(values, (_, value) => (typeof value === 'number' ? String(value) : value));
      expect(asText(found), table).toBe(asText(rows));
    }
  });
});

describe.skipIf(missing)(`migrations of PostgreSQL${missing ? ` (skipped: ${missing})` : ''}`, () => {
  const newDatabase = async () => connect(await (await sharedPostgres()).newDatabase());

  test('run once, also if several daemons start at the same time', async () => {
    const url = await (await sharedPostgres()).newDatabase();
    const daemons = await Promise.all([1, 2, 3].map(() => connect(url)));
    await Promise.all(daemons.map(({ query }) => migrate(query, serverSchema)));
    const [daemon] = daemons;
    expect(await daemon?.query('SELECT version FROM migrations ORDER BY version')).toEqual([
      { version: String(newestSchema.version) },
    ]);
    await Promise.all(daemons.map(({ end }) => end()));
  });

  test('give an old database the functions of a new one', async () => {
    const functionsOf = async (schema: ServerSchema) => {
      const { query, end } = await newDatabase();
      await migrate(query, schema);
      const functions = await query(
        `SELECT oid::regprocedure::text AS name, prosrc, provolatile FROM pg_proc
         WHERE pronamespace = 'gateway'::regnamespace ORDER BY 1`,
      );
      await end();
      return functions;
    };
    const created = await functionsOf(serverSchema);
    expect(created.length).toBeGreaterThan(10);
    expect(await functionsOf({ ...serverSchema, created: () => first })).toEqual(created);
  });

  test('leave nothing behind if one fails', async () => {
    const { query, end } = await newDatabase();
    const broken = withMigration({
      version: 99,
      statements: ['CREATE TABLE second (id bigint)', 'nonsense'],
    });
    await expect(migrate(query, broken)).rejects.toThrow('syntax error');
    expect(await query("SELECT nspname FROM pg_namespace WHERE nspname = 'gateway'")).toEqual([]);
    await migrate(query, serverSchema);
    await end();
  });

  test('refuse to change the schema while daemons of an older version renew their terms', async () => {
    const { query, end } = await newDatabase();
    await migrate(query, serverSchema);
    await query(`INSERT INTO gateway.daemons (number, started_at, expires_at)
      VALUES (7, 0, (extract(epoch FROM clock_timestamp()) * 1000)::bigint + 60000)`);
    const renewing: Query = async (sql, params) => {
      if (sql.includes('FROM gateway.daemons'))
        await query('UPDATE gateway.daemons SET expires_at = expires_at + 1');
      return query(sql, params);
    };
    const newer = withMigration({ version: 1000, statements: ['CREATE TABLE added (id bigint)'] });
    await expect(migrate(renewing, newer)).rejects.toThrow(
      'Daemons of an older version use the database (7). Stop them first, as this version changes its schema.',
    );
    await query('UPDATE gateway.daemons SET expires_at = NULL');
    expect(await migrate(query, newer)).toBe(1000);
    await end();
  });

  test('refuse a schema of a newer version and leave it as it is', async () => {
    const { query, end } = await newDatabase();
    await migrate(query, withMigration({ version: 1000, statements: [] }));
    const refused = migrate(query, serverSchema);
    await expect(refused).rejects.toThrow(UnsupportedSchema);
    await expect(refused).rejects.toThrow(
      /^The database test_\d+ has schema version 1000; .* Start the newer version again/,
    );
    await end();
  });

  test.each([
    [
      'PostgreSQL 14.9 (Debian)',
      '140009',
      'UTF8',
      'The server is PostgreSQL 14. Gateway needs PostgreSQL 15 or later.',
    ],
    ['CockroachDB CCL v24.1.1 (x86_64)', '130000', 'UTF8', 'The server is CockroachDB.'],
    ['PostgreSQL 15.2-YB-2.25.1.0-b0 on x86_64', '150002', 'UTF8', 'The server is YugabyteDB.'],
    ['PostgreSQL 16.1', '160001', 'LATIN1', 'The encoding of the database is LATIN1, not UTF8.'],
  ])('refuse %s, %s, %s', async (version, number, encoding, message) => {
    const query: Query = async () => [{ version, number, encoding }];
    const refused = migrate(query, serverSchema);
    await expect(refused).rejects.toThrow(UnsupportedServer);
    await expect(refused).rejects.toThrow(message);
  });
});
