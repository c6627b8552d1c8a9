import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { settledEvent } from '../../../../src/daemon/features/metering/index.ts';
import { explainFailure } from '../../../../src/daemon/process/start-failures.ts';
import { openForWriting } from '../../../../src/daemon/storage/sqlite/engine/connection.ts';
import {
  DataFolderInUse,
  DataNeedsRepair,
  DiskUnsuited,
  UnsupportedSchema,
} from '../../../../src/daemon/storage/sqlite/engine/errors.ts';
import { exitCodes } from '../../../../src/shared/errors.ts';
import { aHold, aKey, aSettlement, aUsage, dayMs, morning, owner } from '../../../storage/records.ts';
import { addEmptyDatabase } from '../../../support/new-database.ts';
import { openTemporarily, recordingLog } from './temporary.ts';

const { open, newFolder, cleanUp } = openTemporarily();
let folder: string;
let file: string;
beforeEach(() => {
  folder = newFolder();
  file = join(folder, 'gateway.db');
  addEmptyDatabase(folder);
});
afterEach(cleanUp);

/** Changes the file while the daemon has it open. */
function tamper(sql: string): void {
  const database = new Database(file);
  database.exec(sql);
  database.close();
}

async function openAndClose(): Promise<void> {
  const storage = await open({ folder });
  await storage.metering.settle(aSettlement('req_1'));
  await storage.close();
}

describe('opening', () => {
  test('creates files that only this user can read, in a folder that only this user can enter', async () => {
    const inside = join(folder, 'data');
    const storage = await open({ folder: inside });
    await storage.workspaces.createOwner(owner);
    if (process.platform === 'win32') return;
    expect(statSync(inside).mode & 0o777).toBe(0o700);
    for (const name of ['gateway.db', 'gateway.db-wal', 'gateway.db-shm', 'daemon.lock']) {
      expect([name, statSync(join(inside, name)).mode & 0o777]).toEqual([name, 0o600]);
    }
  });

  test('warns about a folder that other users can enter', async () => {
    if (process.platform === 'win32') return;
    chmodSync(folder, 0o755);
    const log = recordingLog();
    await open({ folder, log });
    expect(log.lines).toMatchObject([{ level: 'warn', details: { folder } }]);
  });

  test('finds what was written before', async () => {
    await openAndClose();
    const storage = await open({ folder });
    expect(await storage.metering.usage('req_1')).toBeDefined();
    expect(await storage.events.append(settledEvent(aUsage('req_2')))).toBe(2);
  });

  test('is refused while another process uses the folder, which keeps working', async () => {
    const first = await open({ folder });
    await expect(open({ folder })).rejects.toThrow(DataFolderInUse);
    await expect(open({ folder })).rejects.toThrow(folder);
    await first.workspaces.createOwner(owner);
    await first.close();
    const second = await open({ folder });
    expect(await second.workspaces.owner()).toMatchObject({ user: { handle: 'ada' } });
  });

  test('logs that the clock went back', async () => {
    await openAndClose();
    const log = recordingLog();
    await open({ folder, log, now: () => morning - dayMs });
    expect(log.lines.map(({ message }) => message)).toEqual(['the system clock went back']);
  });

  test('sets the pragmas that durability depends on', async () => {
    await openAndClose();
    const database = openForWriting(file);
    const read = (name: string) => database.pragma(name, { simple: true });
    expect(['journal_mode', 'synchronous', 'foreign_keys', 'trusted_schema', 'mmap_size'].map(read)).toEqual([
      'wal',
      2,
      1,
      0,
      0,
    ]);
    database.close();
  });
});

test('a file system without durability is refused', () => {
  expect(() => openForWriting(':memory:')).toThrow('journal_mode is memory and cannot be set to wal');
  expect(() => openForWriting(':memory:')).toThrow(DiskUnsuited);
});

describe('an unusable file is refused and stays unchanged:', () => {
  const damage: [string, () => void][] = [
    ['garbage', () => writeFileSync(file, 'garbage '.repeat(1000))],
    ['nothing', () => writeFileSync(file, '')],
    ['only a header', () => truncateSync(file, 100)],
    ['a truncated header', () => truncateSync(file, 50)],
    ['half a file', () => truncateSync(file, Math.floor(statSync(file).size / 8192) * 4096)],
    ['another program’s database', () => tamper('PRAGMA application_id = 1')],
    [
      'broken pages',
      () => {
        const bytes = readFileSync(file);
        bytes.fill(0xa5, 4096);
        writeFileSync(file, bytes);
      },
    ],
  ];
  test.each(damage)('%s', async (_what, harm) => {
    await openAndClose();
    harm();
    const before = readFileSync(file);
    await expect(open({ folder })).rejects.toThrow(DataNeedsRepair);
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  test('a missing one with a write-ahead log', async () => {
    rmSync(file);
    writeFileSync(`${file}-wal`, 'what was written last');
    await expect(open({ folder })).rejects.toThrow(DataNeedsRepair);
    expect(existsSync(file)).toBe(false);
  });

  test('one with a newer schema', async () => {
    await openAndClose();
    tamper('PRAGMA user_version = 99');
    await expect(open({ folder })).rejects.toThrow(UnsupportedSchema);
  });

  test('an invalid lock file', async () => {
    await openAndClose();
    writeFileSync(join(folder, 'daemon.lock'), 'pid 4711\n'.repeat(100));
    await expect(open({ folder })).rejects.toThrow('is not a lock file');
  });

  test('and then the folder is free again', async () => {
    writeFileSync(file, 'garbage');
    await expect(open({ folder })).rejects.toThrow(DataNeedsRepair);
    rmSync(file);
    await open({ folder });
  });
});

describe('the write-ahead log of a killed daemon', () => {
  const leftFiles = ['gateway.db', 'gateway.db-wal', 'gateway.db-commits'];

  /** A folder like one that a daemon leaves when it is killed after three commits; returns the log. */
  async function killed(names = leftFiles): Promise<string> {
    const live = newFolder();
    addEmptyDatabase(live);
    rmSync(file);
    const storage = await open({ folder: live });
    for (const id of ['req_1', 'req_2', 'req_3']) await storage.metering.settle(aSettlement(id));
    for (const name of names) copyFileSync(join(live, name), join(folder, name));
    return `${file}-wal`;
  }

  function overwrite(path: string, at: number, bytes: Uint8Array): void {
    const handle = openSync(path, 'r+');
    writeSync(handle, bytes, 0, bytes.length, at);
    closeSync(handle);
  }

  test.each([
    ['its header', 0, 32],
    // Salt, which is drawn anew for each log.
    ['its header', 20, 1],
    ['frame 2', 32 + 4120 + 1000, 1],
    ['frame 2', 32 + 4120, 4120],
  ])('is refused and stays unchanged if it is damaged at %s, from byte %i', async (where, at, length) => {
    const log = await killed();
    const flipped = readFileSync(log)
      .subarray(at, at + length)
      .map((byte) => byte ^ 0xff);
    overwrite(log, at, flipped);
    const before = readFileSync(log);
    const refusal = open({ folder });
    await expect(refusal).rejects.toThrow(`its write-ahead log is damaged at ${where}. Nothing was changed.`);
    await expect(refusal).rejects.toThrow(DataNeedsRepair);
    expect(readFileSync(log).equals(before)).toBe(true);
  });

  test('is read up to a commit that was interrupted', async () => {
    // Such a commit is not counted yet.
    const log = await killed(['gateway.db', 'gateway.db-wal']);
    truncateSync(log, statSync(log).size - 5000);
    const storage = await open({ folder });
    expect(await storage.metering.usage('req_2')).toBeDefined();
    expect(await storage.metering.usage('req_3')).toBeUndefined();
  });

  test.each<[string, string, (log: string) => void]>([
    ['was deleted', 'last 3 changes are', (log) => rmSync(log)],
    ['was emptied', 'last 3 changes are', (log) => truncateSync(log)],
    ['lacks its last commit', 'last change is', (log) => truncateSync(log, statSync(log).size - 5000)],
  ])('is missed if it %s, until its count is deleted, too', async (_what, missing, change) => {
    change(await killed());
    const refusal = open({ folder });
    await expect(refusal).rejects.toThrow(`its ${missing} missing`);
    await expect(refusal).rejects.toThrow(DataNeedsRepair);
    rmSync(`${file}-commits`);
    const storage = await open({ folder });
    expect(await storage.metering.usage('req_3')).toBeUndefined();
  });

  test('is not missed if another program has moved all of it into the database', async () => {
    await killed();
    const other = new Database(file);
    other.pragma('user_version');
    other.close();
    expect(readdirSync(folder).sort()).toEqual(['gateway.db', 'gateway.db-commits']);
    const storage = await open({ folder });
    expect(await storage.metering.usage('req_3')).toBeDefined();
    await storage.close();
    expect(readdirSync(folder).sort()).toEqual(['daemon.lock', 'gateway.db']);
  });

  test('is not missed with all other files', async () => {
    await killed(['gateway.db-commits']);
    await expect(open({ folder })).rejects.toThrow('it is missing, but');
  });
});

describe('a balance changed in the file', () => {
  const flipBit = "UPDATE accounts SET balance = balance ^ 64 WHERE id = 'provider:openai'".replace(
    'balance ^ 64',
    '(balance | 64) - (balance & 64)',
  );
  const moveBetween = `UPDATE accounts SET balance = balance + CASE id WHEN 'margin' THEN 1 ELSE -1 END
    WHERE id IN ('margin', 'provider:openai')`;

  test('prevents the next start', async () => {
    await openAndClose();
    tamper(flipBit);
    await expect(open({ folder })).rejects.toThrow('all balances in nano-dollars add up to');
  });

  test('prevents the next start even if the total is right', async () => {
    await openAndClose();
    tamper(moveBetween);
    await expect(open({ folder })).rejects.toThrow('the balance of margin is not the sum of its entries');
  });

  test('after a kill is compared with the entries since the last shutdown; the check that is due then reads all', async () => {
    await openAndClose();
    const storage = await open({ folder });
    await storage.checkIfDue();
    expect(await storage.checkIfDue()).toBeUndefined();
    await storage.metering.settle(aSettlement('req_2'));
    const killed = newFolder();
    for (const name of ['gateway.db', 'gateway.db-wal']) copyFileSync(join(folder, name), join(killed, name));
    const afterKill = await open({ folder: killed });
    expect(await afterKill.metering.spendOfKey('key_1', morning)).toMatchObject({ total: 1572 });
    expect(await afterKill.checkIfDue()).toEqual({ ok: true, problems: [] });
    await afterKill.close();

    file = join(killed, 'gateway.db');
    tamper(`DROP TRIGGER entries_stay; UPDATE entries SET amount = 1 WHERE request_id = 'req_1';
      UPDATE meta SET value = 0 WHERE name = 'clean_shutdown'`);
    const again = await open({ folder: killed });
    expect(await again.checkIfDue()).toMatchObject({ ok: false });
  });

  test('is searched by a check every month even if all shutdowns were clean', async () => {
    // Created by the clock of the test.
    rmSync(file);
    const storage = await open({ folder });
    expect(await storage.checkIfDue()).toBeUndefined();
    await storage.close();
    const later = await open({ folder, now: () => morning + 29 * dayMs });
    expect(await later.checkIfDue()).toBeUndefined();
    await later.close();
    const muchLater = await open({ folder, now: () => morning + 31 * dayMs });
    expect(await muchLater.checkIfDue()).toEqual({ ok: true, problems: [] });
  });

  test('prevents the start after an unclean shutdown even if the total is right', async () => {
    await openAndClose();
    tamper(`${moveBetween}; UPDATE meta SET value = 0 WHERE name = 'clean_shutdown'`);
    await expect(open({ folder })).rejects.toThrow(
      'the balance of margin is not the sum of its entries; the balance of provider:openai is not',
    );
  });

  test('is found by the check while the daemon runs, which then writes no more', async () => {
    const storage = await open({ folder });
    await storage.metering.settle(aSettlement('req_1'));
    expect(await storage.check()).toEqual({ ok: true, problems: [] });

    tamper(moveBetween);
    const { ok, problems } = await storage.check();
    expect(ok).toBe(false);
    expect(problems).toEqual([
      'the balance of margin is not the sum of its entries',
      'the balance of provider:openai is not the sum of its entries',
    ]);
    expect(storage.state()).toEqual({ writable: false, reason: 'the database failed its check' });
    await expect(storage.metering.hold(aHold('req_2'))).rejects.toMatchObject({ code: 'unavailable' });
    expect(await storage.metering.usage('req_1')).toBeDefined();

    // The shutdown is not marked as clean, so the next start checks again.
    await storage.close();
    await expect(open({ folder })).rejects.toThrow(DataNeedsRepair);
  });

  test.each([
    ['one key', 'UPDATE usage_key_days SET output = output + 1', 'key_1 on 2026-11-21'],
    ['all keys', 'UPDATE usage_days SET requests = 0', 'all keys on 2026-11-21'],
    ['one that is missing', 'DELETE FROM usage_days', 'all keys on 2026-11-21'],
    ['a call', 'UPDATE calls SET completed_at = completed_at - 86400000', 'key_1 on 2026-11-20'],
  ])(
    'that is in the daily totals of %s is found by the verification of the ledger',
    async (_whose, sql, group) => {
      const storage = await open({ folder });
      const calls = Array.from({ length: 600 }, (_, number) => aSettlement(`req_${number}`));
      await Promise.all(calls.map((call) => storage.metering.settle(call)));
      expect((await storage.ledger.verify()).problems).toEqual([]);
      tamper(sql);
      const { problems } = await storage.ledger.verify();
      expect(problems).toContain(`The daily totals of ${group} are not the sum of its calls.`);
    },
  );

  test.each([
    ['the spending of a key', 'UPDATE key_spend SET amount = 1', /spending of key_1/],
    [
      'a negative hold',
      'PRAGMA ignore_check_constraints = 1; UPDATE holds SET amount = -1',
      /a hold has a negative amount/,
    ],
    [
      'a key without its workspace',
      "PRAGMA foreign_keys = 0; UPDATE keys SET workspace_id = 'x'",
      /^keys has rows with dangling references$/,
    ],
    [
      'an entry with another time',
      'DROP TRIGGER entries_stay; UPDATE entries SET created_at = 1',
      /The (provider_cost|margin) entry of req_1 was changed or deleted/,
    ],
  ])('is one of the problems that the check finds, like %s', async (_what, sql, problem) => {
    const storage = await open({ folder });
    await storage.workspaces.createOwner(owner);
    await storage.keys.insert(aKey('key_1'));
    await storage.metering.settle(aSettlement('req_1'));
    await storage.metering.hold(aHold('req_2'));
    tamper(sql);
    const { ok, problems } = await storage.check();
    expect(ok).toBe(false);
    for (const found of problems) expect(found).toMatch(problem);
    expect(problems).not.toEqual([]);
  });

  test('is not reported for calls during a check', async () => {
    const storage = await open({ folder });
    let calls = 0;
    let isChecking = true;
    const settling = (async () => {
      while (isChecking) await storage.metering.settle(aSettlement(`req_${calls++}`));
    })();
    for (let times = 0; times < 5; times += 1) expect((await storage.check()).problems).toEqual([]);
    isChecking = false;
    await settling;
    expect(calls).toBeGreaterThan(5);
  });

  test('of entries is searched from where the last check ended', async () => {
    const storage = await open({ folder });
    await storage.metering.settle(aSettlement('req_1'));
    expect((await storage.check()).ok).toBe(true);
    await storage.metering.settle(aSettlement('req_2'));
    await storage.close();

    const changeOf = (id: string) =>
      `DROP TRIGGER IF EXISTS entries_stay; UPDATE entries SET created_at = 1 WHERE request_id = '${id}'`;
    const again = await open({ folder });
    tamper(changeOf('req_1'));
    expect((await again.ledger.verify()).problems).not.toEqual([]);
    expect((await again.check()).ok).toBe(true);
    await again.metering.settle(aSettlement('req_3'));
    tamper(changeOf('req_3'));
    expect((await again.check()).problems.join()).toMatch('of req_3 was changed or deleted');
  });
});

describe('an unreadable page', () => {
  /** Overwrites the start of the first page of a table. */
  function damage(table: string): void {
    const database = new Database(file);
    const page = database
      .prepare<[string], number>('SELECT rootpage FROM sqlite_schema WHERE name = ?')
      .pluck()
      .get(table) as number;
    const at = (page - 1) * Number(database.pragma('page_size', { simple: true }));
    database.close();
    const handle = openSync(file, 'r+');
    writeSync(handle, Buffer.alloc(12, 0xee), 0, 12, at);
    closeSync(handle);
  }

  test.each(['usage_days', 'entries', 'key_spend', 'responses'])(
    'of %s is found by the check, which stops all writes',
    async (table) => {
      await openAndClose();
      damage(table);
      const storage = await open({ folder });
      const { ok, problems } = await storage.check();
      expect(ok).toBe(false);
      expect(problems).not.toEqual([]);
      expect(storage.state().writable).toBe(false);
    },
  );

  test('is named by what reads it', async () => {
    await openAndClose();
    damage('entries');
    const storage = await open({ folder });
    await expect(storage.ledger.verify()).rejects.toMatchObject({
      code: 'server_error',
      message: expect.stringContaining('The database is damaged.'),
    });
  });

  test.each(['events', 'calls'])('of %s, which the writer needs first, prevents the start', async (table) => {
    await openAndClose();
    damage(table);
    const refusal = await open({ folder }).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(DataNeedsRepair);
    expect((refusal as Error).message).toContain(file);
  });

  test('leads to the exit code for repairs, wherever it is found', async () => {
    await openAndClose();
    damage('calls');
    const database = new Database(file);
    const met = new Error('a library failed', {
      cause: failureOf(() => database.exec('SELECT * FROM calls')),
    });
    database.close();
    const { exit, text } = await explainFailure(met);
    expect(exit).toBe(exitCodes.dataNeedsRepair);
    expect(text).toContain('restore the newest backup');
  });

  function failureOf(action: () => void): unknown {
    try {
      action();
    } catch (error) {
      return error;
    }
    throw new Error('this should have failed');
  }
});

describe('closing', () => {
  test('writes what is queued, empties the write-ahead log and accepts no more', async () => {
    const storage = await open({ folder });
    const waiting = Array.from({ length: 1000 }, (_, index) => storage.metering.hold(aHold(`req_${index}`)));
    await storage.close();
    await Promise.all(waiting);
    await storage.close();

    expect(existsSync(`${file}-wal`) && statSync(`${file}-wal`).size > 0).toBe(false);
    expect(storage.state().writable).toBe(false);
    await expect(storage.metering.hold(aHold('req_late'))).rejects.toMatchObject({ code: 'unavailable' });
    const { daemons, metering } = await open({ folder });
    expect(await daemons.left()).toContain(storage.daemons.own);
    expect(await metering.leftHolds(storage.daemons.own)).toHaveLength(1000);
  });
});

test('an almost full disk refuses new calls but settles running ones', async () => {
  const storage = await open({ folder, disk: { lowBytes: Number.MAX_SAFE_INTEGER } });
  expect(storage.state()).toEqual({ writable: false, reason: 'the disk is almost full' });
  expect(storage.isDiskFull()).toBe(false);
  await storage.metering.settle(aSettlement('req_1'));
});
