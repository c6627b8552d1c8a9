import Database from 'better-sqlite3';
import { beforeEach, describe, expect, test } from 'vitest';
import { batchRunner, type Operation } from '../../../../../src/daemon/storage/sqlite/engine/write-batch.ts';

let database: Database.Database;
let sums: { pending: number; begin(): void; flush(): void; revert(): void; close(): void };
let run: ReturnType<typeof batchRunner>;

beforeEach(() => {
  database = new Database(':memory:');
  database.pragma('foreign_keys = ON');
  database.exec(`
    CREATE TABLE rows (id INTEGER PRIMARY KEY, text TEXT);
    CREATE TABLE children (parent INTEGER REFERENCES rows (id) DEFERRABLE INITIALLY DEFERRED);
    CREATE TABLE total (value INTEGER NOT NULL);
    INSERT INTO total VALUES (0);`);
  sums = {
    pending: 0,
    begin: () => {},
    close: () => {},
    flush: () => {
      database.prepare('UPDATE total SET value = value + ?').run(sums.pending);
      sums.pending = 0;
    },
    revert: () => {
      sums.pending = 0;
    },
  };
  const insert = database.prepare('INSERT INTO rows VALUES (?, ?)');
  run = batchRunner(
    database,
    {
      insert: ({ id, text = '' }: { id: number; text?: string }) => {
        insert.run(id, text);
        sums.pending += 1;
        return id * 10;
      },
      insertAndFail: (id: number) => {
        insert.run(id, '');
        throw new Error('changed its mind');
      },
      orphan: () => {
        database.exec('INSERT INTO children VALUES (-1)');
      },
    },
    sums,
  );
});

const inserts = (count: number): Operation[] =>
  Array.from({ length: count }, (_, index) => ['insert', { id: index + 1 }]);
const ids = () => database.prepare('SELECT id FROM rows ORDER BY id').pluck().all();
const total = () => database.prepare('SELECT value FROM total').pluck().get();

describe('a batch', () => {
  test('is committed and answers each operation', () => {
    expect(run(inserts(3))).toEqual({ results: [10, 20, 30], failed: [] });
    expect(ids()).toEqual([1, 2, 3]);
    expect(total()).toBe(3);
  });

  test('loses only the operation that fails, at each of 512 positions', () => {
    for (let place = 0; place < 512; place += 1) {
      database.exec('DELETE FROM rows; UPDATE total SET value = 0');
      const operations = inserts(512);
      operations[place] = ['insertAndFail', 1000];
      const answer = run(operations);
      expect(answer).toMatchObject({ failed: [{ index: place, message: 'changed its mind' }] });
      expect(database.prepare('SELECT count(*), max(id) < 1000 FROM rows').raw().get()).toEqual([511, 1]);
      expect(total()).toBe(511);
    }
  });

  test('may lose several operations', () => {
    const answer = run([...inserts(2), ['insert', { id: 1 }], ['no such command', 0], ['insert', { id: 3 }]]);
    expect(answer).toMatchObject({
      results: [10, 20, undefined, undefined, 30],
      failed: [
        { index: 2, code: 'SQLITE_CONSTRAINT_PRIMARYKEY' },
        { index: 3, message: 'unknown command no such command' },
      ],
    });
    expect(ids()).toEqual([1, 2, 3]);
    expect(total()).toBe(3);
  });

  test('is lost when its COMMIT fails', () => {
    expect(run([...inserts(2), ['orphan', 0]])).toMatchObject({
      failure: { kind: 'failed', code: 'SQLITE_CONSTRAINT_FOREIGNKEY' },
    });
    expect(ids()).toEqual([]);
    expect(total()).toBe(0);
    expect(run(inserts(1))).toEqual({ results: [10], failed: [] });
  });

  test('is lost when the disk is full, and the next one may succeed', () => {
    const pages = Number(database.pragma('page_count', { simple: true }));
    database.pragma(`max_page_count = ${pages + 2}`);
    const large: Operation = ['insert', { id: 99, text: 'x'.repeat(20_000) }];
    expect(run([...inserts(2), large])).toMatchObject({ failure: { kind: 'full', code: 'SQLITE_FULL' } });
    expect(ids()).toEqual([]);
    expect(run(inserts(2))).toMatchObject({ results: [10, 20] });
    expect(total()).toBe(2);
  });
});
