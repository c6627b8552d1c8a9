import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import Database from 'better-sqlite3';
import { afterEach, describe, expect, test } from 'vitest';
import { settledEvent } from '../../../../src/daemon/features/metering/index.ts';
import { copyStorage } from '../../../../src/daemon/process/copy-storage.ts';
import { copiedTables } from '../../../../src/daemon/storage/postgres/copy/copied-tables.ts';
import { copyDatabase } from '../../../../src/daemon/storage/postgres/copy/copy-database.ts';
import {
  openPostgresSource,
  openPostgresTarget,
} from '../../../../src/daemon/storage/postgres/copy/postgres-side.ts';
import {
  openSqliteSource,
  openSqliteTarget,
} from '../../../../src/daemon/storage/postgres/copy/sqlite-side.ts';
import { openPostgresStorage } from '../../../../src/daemon/storage/postgres/open.ts';
import { restoreBackup } from '../../../../src/daemon/storage/sqlite/backups/restore.ts';
import { UnfinishedCopy } from '../../../../src/daemon/storage/sqlite/engine/errors.ts';
import { addUsers, aHold, aSettlement, morning } from '../../../storage/records.ts';
import { fillAllTables } from '../../../support/fill-all-tables.ts';
import { addEmptyDatabase } from '../../../support/new-database.ts';
import { missingPostgres, newPostgresDatabase, sharedPostgres } from '../../../support/postgres.ts';
import { programs } from '../../../support/programs.ts';
import { openTemporarily, recordingLog } from '../sqlite/temporary.ts';

const missing = missingPostgres();

describe.skipIf(missing)(`a copy${missing ? ` (skipped: ${missing})` : ''}`, () => {
  const temporary = openTemporarily();
  afterEach(() => temporary.cleanUp());

  const newDatabase = async () => (await sharedPostgres()).newDatabase();
  const inServer = async (url: string, sql: string) =>
    (await sharedPostgres()).query(sql, new URL(url).pathname.slice(1));
  const openServer = (url: string, folder?: string) =>
    openPostgresStorage({
      url,
      ...(folder && { folder }),
      now: () => morning,
      log: recordingLog(),
      settledEvent,
    });
  const copy = (from: string, to: string, onTable: (step: string) => void = () => {}) =>
    copyStorage({ from, to, env: {}, onProgress: ({ step, table }) => onTable(`${step} ${table}`) });

  /** The data folder of a daemon that was stopped: some calls, one of them running. */
  async function usedFolder(calls = 40): Promise<string> {
    const folder = temporary.newFolder();
    addEmptyDatabase(folder);
    const storage = await temporary.open({ folder });
    await addUsers(storage);
    for (let number = 1; number <= calls; number += 1)
      await storage.metering.settle(aSettlement(`req_${number}`));
    await storage.metering.hold(aHold('req_running'));
    await storage.close();
    return folder;
  }

  /** Stops at the first report of a table, as if the program had been ended there. */
  const endingAt = (table: string) => (step: string) => {
    if (step === table) throw new Error('ended');
  };

  test('has every row of every table, there and back', async () => {
    const folder = temporary.newFolder();
    addEmptyDatabase(folder);
    const file = join(folder, 'gateway.db');
    const tables = copiedTables();
    const filled = new Database(file);
    filled.pragma('foreign_keys = OFF');
    fillAllTables(filled, tables);
    // A number that was used is not used again.
    filled.exec("UPDATE sqlite_sequence SET seq = 70 WHERE name = 'shouts'");
    const rowsOf = (database: Database.Database) =>
      tables.map(({ name, key }) => [
        name,
        database.prepare(`SELECT * FROM "${name}" ORDER BY ${key.map((column) => `"${column}"`)}`).all(),
      ]);
    const expected = rowsOf(filled);
    filled.close();
    for (const [name, rows] of expected) expect(rows, name as string).not.toHaveLength(0);

    const url = await newDatabase();
    const there = { source: openSqliteSource(file), target: await openPostgresTarget(url) };
    // The rows are arbitrary, and no ledger.
    there.target.problems = async () => [];
    const first = await copyDatabase({ ...there, onProgress: () => {} });
    await Promise.all([there.source.close(), there.target.close()]);
    const [row] = await inServer(url, "SELECT nextval('gateway.shouts_id_seq')::int AS next");
    expect(row?.next).toBe(71);

    const backFile = join(temporary.newFolder(), 'gateway.db');
    const back = {
      source: await openPostgresSource({ url, isInUse: false }),
      target: openSqliteTarget(backFile, morning),
    };
    back.target.problems = async () => [];
    const second = await copyDatabase({ ...back, onProgress: () => {} });
    await Promise.all([back.source.close(), back.target.close()]);
    expect(second).toEqual(first);
    const copied = new Database(backFile);
    expect(rowsOf(copied)).toEqual(expected);
    const schema = 'SELECT type, name, sql FROM sqlite_schema ORDER BY 1, 2';
    const original = new Database(file);
    expect(copied.prepare(schema).all()).toEqual(original.prepare(schema).all());
    expect(copied.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'shouts'").pluck().get()).toBe(71);
    original.close();
    copied.close();
  });

  test('serves as the original did, and goes back', async () => {
    const folder = await usedFolder();
    const url = await newDatabase();
    const outcome = await copy(folder, url);
    expect(outcome).toMatchObject({ from: folder, to: url, lacksDataKey: false, beside: [] });
    const onServer = await openServer(url);
    const { problems, held } = await onServer.ledger.verify();
    expect(problems).toEqual([]);
    expect(held).toEqual(['req_running']);
    await onServer.metering.settle(aSettlement('req_on_server'));
    await onServer.close();

    const target = temporary.newFolder();
    expect(await copy(url, target)).toMatchObject({ lacksDataKey: true });
    const again = await temporary.open({ folder: target });
    const summary = await again.ledger.verify();
    expect(summary.problems).toEqual([]);
    const database = new Database(join(target, 'gateway.db'), { readonly: true });
    expect(database.prepare('SELECT count(*) FROM calls').pluck().get()).toBe(41);
    database.close();
  });

  test.each(['a folder', 'a server'])(
    'that was killed cannot be used, and is completed later: from %s',
    async (from) => {
      const folder = await usedFolder();
      let url = await newDatabase();
      let [source, target] = [folder, url];
      if (from === 'a server') {
        await copy(folder, url);
        [source, target] = [url, temporary.newFolder()];
      } else url = target;
      const { copying: script } = await programs();
      const copying = spawn(process.execPath, [script, source, target], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const ended = once(copying, 'exit');
      for await (const line of createInterface(copying.stdout)) if (line === 'copying entries') break;
      copying.kill('SIGKILL');
      await ended;

      const open = () => (from === 'a folder' ? openServer(target) : temporary.open({ folder: target }));
      await expect(open()).rejects.toThrow(UnfinishedCopy);
      const other = await usedFolder(39);
      if (from === 'a folder')
        expect(await copy(other, target)).toMatchObject({
          problem: expect.stringContaining('an unfinished copy of another source'),
        });
      const tables: string[] = [];
      expect(await copy(source, target, (table) => tables.push(table))).toMatchObject({ to: target });
      expect(tables).not.toContain('copying users');
      const storage = await open();
      expect((await storage.ledger.verify()).problems).toEqual([]);
      await storage.close();
    },
  );

  test('is what a backup of a server is, which any daemon can restore', async () => {
    const url = await newPostgresDatabase();
    const home = temporary.newFolder();
    const storage = await openServer(url, home);
    await addUsers(storage);
    await storage.metering.settle(aSettlement('req_1'));
    const { file } = await storage.backups.make(
      {
        at: morning,
        files: [{ name: 'data-key', content: Buffer.from('key') }],
        version: '1',
        withContent: true,
      },
      { onProgress: () => {}, signal: new AbortController().signal },
    );
    await storage.metering.settle(aSettlement('req_later'));
    await storage.close();
    const folder = temporary.newFolder();
    restoreBackup({ folder, backup: file, at: morning, fileNames: ['data-key'], onProgress: () => {} });
    expect(readFileSync(join(folder, 'data-key'), 'utf8')).toBe('key');
    const restored = await temporary.open({ folder });
    expect((await restored.ledger.verify()).problems).toEqual([]);
    await restored.close();
    expect(await copy(folder, await newDatabase())).toMatchObject({ from: folder });
  });

  test('that was changed behind its back is refused, by the name of the table', async () => {
    const folder = await usedFolder();
    const url = await newDatabase();
    expect(await copy(folder, url, endingAt('comparing users'))).toMatchObject({
      problem: expect.stringContaining('ended'),
    });
    await inServer(url, "UPDATE gateway.users SET name = name || ' '");
    expect(await copy(folder, url)).toEqual({
      problem: 'The copy is damaged: The table users differs from its source.',
      exit: 1,
    });
    await expect(openServer(url)).rejects.toThrow(UnfinishedCopy);
  });

  test('whose ledger does not balance is refused', async () => {
    const folder = await usedFolder();
    const source = new Database(join(folder, 'gateway.db'));
    source.exec("UPDATE accounts SET balance = balance + 1 WHERE id = 'margin' OR id LIKE '%margin%'");
    source.close();
    expect(await copy(folder, await newDatabase())).toMatchObject({
      problem: expect.stringMatching(/^The copy is damaged: The balance of .* add up to/),
    });
  });

  test('is refused while a daemon runs, and where data would be lost', async () => {
    const folder = await usedFolder();
    const used = await newPostgresDatabase();
    const storage = await openServer(used);
    const empty = await newDatabase();
    const problemOf = async (from: string, to: string) => {
      const outcome = await copy(from, to);
      return 'problem' in outcome ? outcome.problem : 'none';
    };
    expect(await problemOf(folder, used)).toMatch('has data of Gateway already');
    expect(await problemOf(used, temporary.newFolder())).toMatch('A daemon is using');
    await storage.close();
    expect(await problemOf(used, folder)).toMatch('has data already');
    expect(await problemOf(folder, temporary.newFolder())).toMatch('gateway backup');
    expect(await problemOf(used, empty)).toMatch('pg_dump');
    expect(await problemOf(empty, temporary.newFolder())).toMatch('has no data of Gateway');
    expect(await problemOf(temporary.newFolder(), empty)).toMatch('There is no');
    expect(await problemOf(folder, 'postgres://gateway:secret@localhost/gateway')).toMatch(
      'write the address',
    );
    const address = join(temporary.newFolder(), 'address');
    writeFileSync(address, 'nonsense', { mode: 0o600 });
    expect(await problemOf(folder, address)).toMatch('must be an address');
    const running = await temporary.open({ folder });
    expect(await problemOf(folder, empty)).toMatch('Another daemon is using the data folder');
    await running.close();
  });
});
