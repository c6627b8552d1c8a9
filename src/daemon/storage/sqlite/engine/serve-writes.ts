import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { messageOf } from '../../../../shared/faults/message-of.ts';
import type { Renewal } from '../../../features/daemons/members.ts';
import { type MainThreadWatch, watchMainThread } from '../../../worker-threads/watch-main-thread.ts';
import { CommitCount } from './commit-count.ts';
import { type Connection, openForWriting } from './connection.ts';
import { isDamage, sqliteCode } from './errors.ts';
import { noteTime, writeMeta } from './meta.ts';
import { SharedBatches } from './shared-batches.ts';
import {
  type BatchResult,
  type BatchTotals,
  batchRunner,
  type Commands,
  type KeptTotals,
  type Operation,
} from './write-batch.ts';

/** Messages to the writer thread: `open` first, then batches one at a time, `close` or `end` last. */
export type ToWriter =
  | { open: string }
  | { batch: readonly Operation[] }
  /** Another thread sends batches on this port and gets their results there. */
  | { client: MessagePort }
  /** `lastSeen`: wall clock, milliseconds since 1970. */
  | { close: { lastSeen: number } }
  | { watch: MainThreadWatch }
  /** Closes without marking the shutdown as clean. */
  | { end: true };

/**
 * Messages from the writer thread. `died`: why it cannot continue. `unreachable`: the connection to the server was lost, and
 * the batch in flight waits for another one. `renewal`: the term of the daemon was renewed.
 */
export type FromWriter =
  | { opened: true }
  | { closed: true }
  | { died: string; cause: 'damage' | 'unusable' | 'failure' }
  | { unreachable: string }
  | { reachable: true }
  | { renewal: Renewal }
  | BatchResult;

/** The commands of an open database. `loadMore` loads the rest when a batch first needs one of them. */
export interface CommandSource {
  commands: Commands;
  loadMore: () => Promise<Commands>;
  totals: KeptTotals;
}

interface ServeWritesOptions {
  createCommands: (database: Connection) => CommandSource;
  /** Called with the new connection; for tests. */
  onOpen?: (database: Connection) => void;
}

/** Runs the writer thread: executes the batches that arrive on `port` over the only connection that writes. */
export function serveWrites(port: MessagePort, { createCommands, onOpen }: ServeWritesOptions): void {
  const send = (message: FromWriter) => port.postMessage(message);
  let database: Connection | undefined;
  let close: ((lastSeen: number) => void) | undefined;
  let run: ((operations: readonly Operation[]) => BatchResult | Promise<BatchResult>) | undefined;
  let endWatch = () => {};
  const clients = new Set<MessagePort>();
  const shared = new SharedBatches((operations) => run?.(operations) ?? notOpen);

  const fail = (error: unknown) => {
    const died = messageOf(error);
    send({ died, cause: isDamage(error) ? 'damage' : 'failure' });
    for (const client of clients) client.close();
    port.close();
  };
  const addClient = (client: MessagePort) => {
    clients.add(client);
    client.on('message', (operations: readonly Operation[]) => {
      shared.add(operations, (result) => client.postMessage(result));
      commitShared().catch(fail);
    });
    client.on('close', () => clients.delete(client));
  };
  /** Commits what was added and what waits at clients. */
  const commitShared = () => {
    for (const client of clients) {
      const waiting = receiveMessageOnPort(client);
      if (waiting) shared.add(waiting.message, (result) => client.postMessage(result));
    }
    return shared.commit();
  };

  const handle = async (message: ToWriter): Promise<void> => {
    if ('batch' in message) {
      const operations = message.batch;
      if (clients.size > 0) {
        shared.add(operations, send);
        await commitShared();
        return;
      }
      const result = run?.(operations);
      send(result instanceof Promise ? await result : (result ?? notOpen));
    } else if ('client' in message) addClient(message.client);
    else if ('watch' in message) endWatch = watchMainThread(message.watch);
    else if ('open' in message) {
      database = openForWriting(message.open);
      onOpen?.(database);
      const source = createCommands(database);
      const count = new CommitCount(database);
      run = wiping(database, lazyRunner(database, source, { count }));
      close = cleanClose(database, source.totals, count);
      send({ opened: true });
    } else {
      for (const client of clients) client.close();
      if ('close' in message) {
        close?.(message.close.lastSeen);
        send({ closed: true });
      } else database?.close();
      port.close();
    }
  };

  port.on('close', () => endWatch());
  port.on('message', (message: ToWriter) => {
    handle(message).catch(fail);
  });
}

const notOpen: BatchResult = {
  failure: { kind: 'failed', code: undefined, message: 'the database is not open' },
};

/** Runs batches, for the first of which that needs it all commands are loaded. */
export function lazyRunner(
  database: Connection,
  { commands, loadMore, totals }: CommandSource,
  options: Parameters<typeof batchRunner>[3],
) {
  const run = batchRunner(database, commands, totals, options);
  let hasAll = false;
  return (operations: readonly Operation[]): BatchResult | Promise<BatchResult> => {
    if (hasAll || operations.every(([name]) => name in commands)) return run(operations);
    return loadMore().then((more) => {
      Object.assign(commands, more);
      hasAll = true;
      return run(operations);
    });
  };
}

/** How the names of writes begin after which no frame of the write-ahead log keeps what was deleted. */
const wiped = 'texts.';
const wipeEveryMs = 100;

/** Empties the write-ahead log after writes that delete texts, as soon as no reader needs it. */
function wiping(
  database: Connection,
  run: (operations: readonly Operation[]) => BatchResult | Promise<BatchResult>,
): typeof run {
  const wipe = () => {
    if (!database.open) return;
    const timeout = database.pragma('busy_timeout', { simple: true });
    database.pragma('busy_timeout = 0');
    const isBusy = database.pragma('wal_checkpoint(TRUNCATE)', { simple: true });
    database.pragma(`busy_timeout = ${timeout}`);
    if (isBusy) setTimeout(wipe, wipeEveryMs).unref();
  };
  return (operations) => {
    if (operations.some(([name]) => name.startsWith(wiped))) setTimeout(wipe, wipeEveryMs).unref();
    return run(operations);
  };
}

function cleanClose(database: Connection, totals: BatchTotals, count: CommitCount) {
  return (lastSeen: number): void => {
    try {
      database.transaction(() => {
        totals.close();
        writeMeta(database, 'clean_shutdown', 1);
        noteTime(database, lastSeen);
      })();
      database.pragma('wal_checkpoint(TRUNCATE)');
      database.close();
      count.remove();
    } catch (error) {
      database.close();
      // Without the mark, which a full disk may prevent, the next start adds up all entries.
      if (sqliteCode(error) !== 'SQLITE_FULL') throw error;
    }
  };
}
