import type { MessagePort } from 'node:worker_threads';
import { Totals } from '../ledger/batch-totals.ts';
import { meteringCommands } from '../metering/writes.ts';
import { responseInsert } from '../responses/insert.ts';
import { type Connection, openForWriting } from './connection.ts';
import { isDamage, sqliteCode } from './errors.ts';
import { writeMeta } from './meta.ts';
import { batchRunner, type Commands, type Operation } from './write-batch.ts';
import type { FromWriter, ToWriter } from './writer-protocol.ts';

/** Serves the writer over `port` with the process's only connection that writes. `adjust` is for tests. */
export function serveWrites(
  port: MessagePort,
  { adjust }: { adjust?: (database: Connection) => void } = {},
): void {
  const answer = (message: FromWriter) => port.postMessage(message);
  let database: Connection | undefined;
  let run: ((operations: Operation[]) => FromWriter | Promise<FromWriter>) | undefined;

  const handle = async (message: ToWriter): Promise<void> => {
    if ('batch' in message) {
      const result = run?.(message.batch);
      answer(result instanceof Promise ? await result : (result ?? notOpen));
    } else if ('open' in message) {
      database = openForWriting(message.open);
      adjust?.(database);
      run = batches(database);
      answer({ opened: true });
    } else if ('close' in message) {
      if (database) closeCleanly(database, message.close.lastSeen);
      answer({ closed: true });
      port.close();
    } else {
      database?.close();
      port.close();
    }
  };

  port.on('message', (message: ToWriter) => {
    handle(message).catch((error: unknown) => {
      const died = error instanceof Error ? error.message : String(error);
      answer({ died, isDamage: isDamage(error) });
      port.close();
    });
  });
}

const notOpen: FromWriter = {
  failure: { kind: 'failed', code: undefined, message: 'the database is not open' },
};

function batches(database: Connection) {
  const totals = new Totals(database);
  const commands: Commands = { ...meteringCommands(database, totals), ...responseInsert(database) };
  const run = batchRunner(database, commands, totals);
  let complete = false;
  return (operations: Operation[]): FromWriter | Promise<FromWriter> => {
    if (complete || operations.every(([name]) => name in commands)) return run(operations);
    return import('../write-commands.ts').then(({ otherCommands }) => {
      Object.assign(commands, otherCommands(database, totals));
      complete = true;
      return run(operations);
    });
  };
}

function closeCleanly(database: Connection, lastSeen: number): void {
  try {
    database.transaction(() => {
      writeMeta(database, 'clean_shutdown', 1);
      writeMeta(database, 'last_seen', lastSeen);
    })();
    database.pragma('wal_checkpoint(TRUNCATE)');
  } catch (error) {
    // Nothing is lost when a full disk leaves the mark out: the next start adds up all entries.
    if (sqliteCode(error) !== 'SQLITE_FULL') throw error;
  }
  database.close();
}
