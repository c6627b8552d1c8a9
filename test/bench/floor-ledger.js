/** The floor's table of calls; as a thread, it writes the batches that it is sent and answers each when it is on disk. */
import { parentPort, workerData } from 'node:worker_threads';
import Database from 'better-sqlite3';

/** Returns a function that writes rows in one transaction. */
export function openLedger(file, synchronous) {
  const database = new Database(file);
  database.pragma('journal_mode = WAL');
  database.pragma(`synchronous = ${synchronous}`);
  database.exec(`
    CREATE TABLE IF NOT EXISTS calls (
      id TEXT, kind TEXT, model TEXT, provider TEXT, tokens_in INTEGER, tokens_out INTEGER,
      cost INTEGER, ms INTEGER, at INTEGER, PRIMARY KEY (id, kind)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS balances (id INTEGER PRIMARY KEY, spent INTEGER) STRICT;
    INSERT OR IGNORE INTO balances VALUES (1, 0);
  `);
  const insert = database.prepare('INSERT INTO calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)');
  const spend = database.prepare('UPDATE balances SET spent = spent + ? WHERE id = 1');
  return database.transaction((rows) => {
    let cost = 0;
    for (const row of rows) {
      insert.run(row);
      cost += row[6];
    }
    spend.run(cost);
  });
}

if (parentPort && workerData?.database) {
  const write = openLedger(workerData.database, 'FULL');
  parentPort.on('message', (rows) => {
    write(rows);
    parentPort.postMessage(undefined);
  });
}
