import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import type { Log } from '../../base/log.ts';
import type { NewEvent } from '../../features/events/index.ts';
import type { UsageRecord } from '../../features/metering/index.ts';
import type { MainThreadWatch } from '../../worker-threads/watch-main-thread.ts';
import { LocalChanges } from '../local-changes.ts';
import { onlyMember } from '../only-member.ts';
import type { SharedChanges } from '../shared-changes.ts';
import { announcing } from './announced-writes.ts';
import { finishRestore } from './backups/finish-restore.ts';
import { backupStore } from './backups/store.ts';
import { ownDaemon } from './daemons/own-daemon.ts';
import { type Connection, openForReading } from './engine/connection.ts';
import { DataMoved } from './engine/errors.ts';
import { readMeta } from './engine/meta.ts';
import { migrations } from './engine/migrations/index.ts';
import { NameTexts } from './engine/names.ts';
import { createOrm } from './engine/orm.ts';
import { Reader } from './engine/reader.ts';
import { Writer } from './engine/writer.ts';
import { type DiskBounds, watchDisk } from './guard/disk-watch.ts';
import { lockFolder } from './guard/folder-lock.ts';
import { watchMovedFiles } from './guard/moved-file-watch.ts';
import { watchWal } from './guard/wal-watch.ts';
import { notePassedTime } from './note-passed-time.ts';
import { prepareDatabase } from './prepare-database.ts';
import { readerOf } from './reader-of.ts';
import { runCheck } from './run-check.ts';
import { startedWriter } from './start-thread.ts';
import { type StoresContext, stores } from './stores.ts';
import type { WriteCommands } from './write-commands.ts';

/** Disks lose bits over months: a database that is only shut down cleanly is checked as often as this. */
const checkedEveryMs = 30 * 24 * 60 * 60 * 1000;

export interface SqliteOptions {
  /** The data folder; created if missing. */
  folder: string;
  /** Wall clock, milliseconds since 1970. */
  now: () => number;
  /** Milliseconds of a clock that only goes forward; default: that of the machine. */
  elapsed?: (() => number) | undefined;
  log: Log;
  /** Derives the event of a settled call, which is not stored twice. */
  settledEvent: (call: UsageRecord) => NewEvent;
  /** `state()` is not writable with less free space than `lowBytes` (default 256 MiB). */
  disk?: Partial<DiskBounds>;
  /** How often the files are checked, in milliseconds; default 5000. */
  pollMs?: number;
  /** For a daemon of several threads; without it, changes stay in this one. */
  changes?: SharedChanges<unknown>;
  /** The writer thread, if it was started before; another one is started if it has ended already. */
  writerThread?: Worker;
  /** Starts another reader thread, for tests that give it a clock of their own. */
  startReader?: (file: string) => Worker;
}

/**
 * Opens `gateway.db` in the folder for this process alone, creating or migrating it as needed. Rejects with
 * `DataFolderInUse`, `UnsupportedSchema`, `DataNeedsRepair`, `DataFileUnusable` or `DiskUnsuited`, and then leaves the file
 * unchanged.
 */
export async function openSqliteStorage(options: SqliteOptions) {
  const { folder, now, log, settledEvent, pollMs: everyMs, startReader } = options;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (process.platform !== 'win32' && (statSync(folder).mode & 0o077) !== 0) {
    log.warn({ folder }, 'other users of this machine can read the data folder; run chmod 700 on it');
  }
  const file = databaseFile(folder);
  const lock = lockFolder(folder);
  // The thread loads while this one prepares the database.
  const worker = startedWriter(options.writerThread);
  const writer = new Writer<WriteCommands>({ now, log, worker });
  let prepared: Connection | undefined;
  try {
    finishRestore(folder);
    prepared = prepareDatabase({ file, now, log, migrations });
    await writer.open(file);
    prepared.close();
    const database = openForReading(file);
    const changes = options.changes ?? new LocalChanges();
    const context = {
      database,
      daemon: ownDaemon(database),
      orm: createOrm(database),
      names: new NameTexts(database),
      writer: announcing(writer, changes),
      reader: startReader ? new Reader(() => startReader(file)) : readerOf(file),
      checker: readerOf(file, { hasLowPriority: true }),
    };
    const disk = watchDisk({ folder, bounds: options.disk, log });
    const watches = [
      disk,
      watchMovedFiles({
        files: [file, `${file}-wal`, lock.file],
        everyMs,
        onMoved: (moved) => writer.abort(new DataMoved(moved)),
      }),
      watchWal({
        file,
        log,
        everyMs,
        abortReads: (ms) =>
          [context.reader, context.checker].filter((reader) => reader.abortOlderThan(ms)).length > 0,
      }),
    ];
    const close = async (): Promise<void> => {
      for (const watch of watches) watch.stop();
      await Promise.all([context.reader.close(), context.checker.close()]);
      database.close();
      // The writer closes last, so that it can empty the write-ahead log.
      await writer.close();
      lock.release();
    };
    return {
      ...stores(context, settledEvent),
      server: undefined,
      members: onlyMember,
      changes,
      /** The port for `openSqliteMember` in another thread, which closes before this storage does. */
      connect: () => writer.connect(),
      passed: notePassedTime(context.writer, {
        now,
        elapsed: options.elapsed,
        noted: readMeta(database, 'last_seen') ?? now(),
      }),
      backups: backupStore(folder, () => readerOf(file)),
      ...lifecycle({ ...context, writer }, { disk, log, now, close }),
    };
  } catch (error) {
    writer.refuseWrites('the database could not be opened');
    prepared?.close();
    await writer.close();
    lock.release();
    throw error;
  }
}

export type SqliteStorage = Awaited<ReturnType<typeof openSqliteStorage>>;

/** The path of the database in a data folder. */
export function databaseFile(folder: string): string {
  return join(folder, 'gateway.db');
}

interface LifecycleOptions {
  disk: ReturnType<typeof watchDisk>;
  log: Log;
  now: () => number;
  close: () => Promise<void>;
}

function lifecycle(
  { database, writer, checker }: Omit<StoresContext, 'writer'> & { writer: Writer<WriteCommands> },
  { disk, log, now, close }: LifecycleOptions,
) {
  let closed: Promise<void> | undefined;
  const check = async () => runCheck(await checker.run('checkParts'), { checker, writer, now, log });
  return {
    state: () => {
      const reason = writer.problem ?? (disk.level() === 'enough' ? undefined : 'the disk is almost full');
      return { writable: reason === undefined, reason };
    },
    isDiskFull: () => disk.level() === 'full',
    writesWaiting: () => writer.pending,
    onFatal: (listener: (reason: Error) => void) => writer.onFatal(listener),
    watchMainThread: (watch: MainThreadWatch) => writer.watchMainThread(watch),
    check,
    checkIfDue: async () => {
      const checkedAt = readMeta(database, 'checked_at') ?? 0;
      const isDue = readMeta(database, 'needs_check') === 1 || Math.abs(now() - checkedAt) > checkedEveryMs;
      return isDue ? await check() : undefined;
    },
    close: () => {
      closed ??= close();
      return closed;
    },
  };
}
