import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import type { Storage } from '../storage.ts';
import { autopilotsStore } from './autopilots/store.ts';
import { backgroundStore } from './background/store.ts';
import { finishRestore } from './backups/finish-restore.ts';
import { backupStore } from './backups/store.ts';
import { cacheStore } from './cache/store.ts';
import { type Connection, openForReading } from './engine/connection.ts';
import { DataMoved } from './engine/errors.ts';
import type { StorageLog } from './engine/log.ts';
import { migrations } from './engine/migrations/index.ts';
import { drizzle } from './engine/orm.ts';
import { prepareDatabase } from './engine/prepare.ts';
import { Reader } from './engine/reader.ts';
import { startThread } from './engine/thread.ts';
import { Writer } from './engine/writer.ts';
import { eventsStore } from './events/store.ts';
import { type DiskBounds, watchDisk } from './guard/disk-watch.ts';
import { type FolderLock, lockFolder } from './guard/folder-lock.ts';
import { watchPlace } from './guard/moved-file-watch.ts';
import { watchWal } from './guard/wal-watch.ts';
import { idempotencyStore } from './idempotency/store.ts';
import { keysStore } from './keys/store.ts';
import { ledgerStore } from './ledger/store.ts';
import { meteringStore } from './metering/store.ts';
import { profileStore } from './profile/store.ts';
import { responsesStore } from './responses/store.ts';
import { shoutsStore } from './shouts/store.ts';
import { threadsStore } from './threads/store.ts';
import { tokensStore } from './tokens/store.ts';
import { tracesStore } from './traces/store.ts';
import { providerKeysStore, vaultStore } from './vault/store.ts';
import { whispersStore } from './whispers/store.ts';
import { peopleStore } from './workspaces/people-store.ts';
import { workspacesStore } from './workspaces/store.ts';

export interface SqliteOptions {
  /** The data folder; it is made if it is missing. */
  folder: string;
  /** Wall clock, milliseconds since 1970. */
  now: () => number;
  log: StorageLog;
  /** With less free space than `lowBytes` (256 MiB unless told) `state()` is not writable. */
  disk?: Partial<DiskBounds>;
  /** How often the files are looked at, in milliseconds; 5000 unless told. */
  lookEveryMs?: number;
  /** Starts another writer's thread, for tests that make it fail. */
  startWriter?: () => Worker;
}

/**
 * Opens `gateway.db` in the folder for this process alone, making or migrating it as needed.
 * Rejects with `DataFolderInUse`, `DataIsNewer`, `DataNeedsRepair` or `DiskUnsuited`; the file is
 * then as it was.
 */
export async function openSqliteStorage(options: SqliteOptions): Promise<Storage> {
  const { folder, now, log } = options;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (process.platform !== 'win32' && (statSync(folder).mode & 0o077) !== 0) {
    log.warn({ folder }, 'other users of this machine can look into the data folder; chmod 700 closes it');
  }
  const file = join(folder, 'gateway.db');
  const lock = lockFolder(folder);
  // The thread loads while this one prepares the database.
  const worker = options.startWriter?.() ?? startThread('writer-worker');
  const writer = new Writer({ now, log, worker });
  try {
    finishRestore(folder);
    prepareDatabase({ file, now, log, migrations });
    await writer.open(file);
    const database = openForReading(file);
    const reader = new Reader(file);
    const disk = watchDisk({ folder, bounds: options.disk, log });
    return assemble({
      ...{ database, writer, reader, lock, disk, log, folder },
      watches: [disk, ...watchesOf(options, { file, lock, writer, reader })],
    });
  } catch (error) {
    writer.refuse('the database could not be opened');
    await writer.close();
    lock.release();
    throw error;
  }
}

/** What is looked at now and then as long as the files are open. */
function watchesOf(
  { log, lookEveryMs: everyMs }: SqliteOptions,
  { file, lock, writer, reader }: Pick<Parts, 'lock' | 'writer' | 'reader'> & { file: string },
) {
  return [
    watchPlace({
      files: [file, lock.file],
      everyMs,
      onGone: (gone) => writer.abandon(new DataMoved(gone)),
    }),
    watchWal({ file, log, everyMs, endReads: (ms) => reader.endOlderThan(ms) }),
  ];
}

interface Parts {
  database: Connection;
  writer: Writer;
  reader: Reader;
  lock: FolderLock;
  disk: ReturnType<typeof watchDisk>;
  watches: readonly { stop(): void }[];
  log: StorageLog;
  folder: string;
}

function assemble({ database, writer, reader, lock, disk, watches, log, folder }: Parts): Storage {
  const orm = drizzle(database);
  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    for (const watch of watches) watch.stop();
    await reader.close();
    database.close();
    // The writer is the last to close, so that it can empty the write-ahead log.
    await writer.close();
    lock.release();
  };
  return {
    keys: keysStore(orm, writer),
    workspaces: workspacesStore(orm, writer),
    people: peopleStore(orm, writer),
    tokens: tokensStore(orm, writer),
    profile: profileStore(database, writer),
    whispers: whispersStore(database, writer),
    shouts: shoutsStore(database, writer),
    autopilots: autopilotsStore(orm, writer),
    metering: meteringStore({ database, orm, writer, reader }),
    ledger: ledgerStore({ database, writer, reader }),
    responses: responsesStore({ database, orm, writer, reader }),
    background: backgroundStore({ database, orm, writer }),
    threads: threadsStore({ database, writer }),
    idempotency: idempotencyStore({ database, writer }),
    cache: cacheStore({ database, writer }),
    events: eventsStore(database, orm, writer),
    traces: tracesStore(orm, reader),
    vault: vaultStore(orm, writer),
    providerKeys: providerKeysStore(orm, writer),
    backups: backupStore(folder, database.name),
    state: () => {
      const reason = writer.trouble ?? (disk.level() === 'enough' ? undefined : 'the disk is almost full');
      return { writable: reason === undefined, reason };
    },
    isDiskFull: () => disk.level() === 'full',
    writesWaiting: () => writer.waiting,
    onFatal: (listener) => writer.onFatal(listener),
    check: async () => {
      const { problems, chainVerified } = await reader.ask('check');
      if (problems.length > 0) {
        log.error({ problems }, 'the database failed its check');
        writer.refuse('the database failed its check');
      } else {
        // Should it fail, the next start walks along the same links once more.
        await writer.write('engine.verified', chainVerified).catch(() => {});
      }
      return { ok: problems.length === 0, problems };
    },
    close: () => {
      closed ??= close();
      return closed;
    },
  };
}
