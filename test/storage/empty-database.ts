import { sharedPostgres } from '../support/postgres.ts';

/**
 * What a daemon remembers of these tables while it runs: a name and a client keep their number, changes and its term go on.
 * They stay as they are.
 */
const remembered = "('names', 'clients', 'changes', 'daemons', 'migrations')";
/** In `meta`. */
const counted = "('commits', 'last_daemon')";

/** Keeps what an empty database of a running daemon contains, for `emptyDatabase`. */
export async function prepareEmptying(url: string): Promise<void> {
  await inDatabase(
    url,
    `CREATE SCHEMA initial;
     CREATE TABLE initial.tables AS SELECT tablename AS name FROM pg_tables
       WHERE schemaname = 'gateway' AND tablename NOT IN ${remembered};
     CREATE TABLE initial.filled (name) AS SELECT tablename FROM pg_tables WHERE FALSE;
     CREATE FUNCTION initial.is_filled(name name) RETURNS boolean LANGUAGE plpgsql AS $$
       DECLARE found boolean;
       BEGIN
         EXECUTE format('SELECT EXISTS (SELECT 1 FROM gateway.%I)', name) INTO found;
         RETURN found;
       END $$;
     DO $$ DECLARE each name; BEGIN
       FOR each IN SELECT name FROM initial.tables WHERE initial.is_filled(name) LOOP
         EXECUTE format('CREATE TABLE initial.%I AS TABLE gateway.%I', 'rows_of_' || each, each);
         INSERT INTO initial.filled VALUES (each);
       END LOOP;
     END $$;
     DELETE FROM initial.rows_of_meta WHERE name IN ${counted};
     CREATE FUNCTION initial.reset() RETURNS bigint LANGUAGE plpgsql SET session_replication_role = replica AS $$
       DECLARE each name; pages bigint := 0;
       BEGIN
         UPDATE gateway.meta SET value = value + 1 WHERE name = 'commits';
         FOR each IN SELECT name FROM initial.tables WHERE initial.is_filled(name) LOOP
           pages := greatest(pages, pg_relation_size(format('gateway.%I', each)::regclass) / 8192);
           IF each = 'meta' THEN DELETE FROM gateway.meta WHERE meta.name NOT IN ${counted};
           ELSE EXECUTE format('DELETE FROM gateway.%I', each);
           END IF;
         END LOOP;
         FOR each IN SELECT name FROM initial.filled LOOP
           EXECUTE format('INSERT INTO gateway.%I SELECT * FROM initial.%I', each, 'rows_of_' || each);
         END LOOP;
         FOR each IN SELECT sequencename FROM pg_sequences WHERE schemaname = 'gateway' LOOP
           PERFORM setval(format('gateway.%I', each)::regclass, 1, FALSE);
         END LOOP;
         RETURN pages;
       END $$`,
  );
}

/**
 * Gives a database the rows that it had for `prepareEmptying`. The daemon reads it again, as another one has committed. Resolves
 * to the pages of its largest table, which deleted rows still fill.
 */
export async function emptyDatabase(url: string): Promise<number> {
  const [row] = await inDatabase(url, 'SELECT initial.reset() AS pages');
  return Number(row?.pages);
}

async function inDatabase(url: string, sql: string): Promise<Record<string, unknown>[]> {
  return (await sharedPostgres()).query(sql, new URL(url).pathname.slice(1));
}
