import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import type { NewEvent } from '../../features/events/index.ts';
import type { UsageRecord } from '../../features/metering/index.ts';
import type { Log } from '../../log.ts';
import type { Storage } from '../storage.ts';
import { agentsStore } from './agents/store.ts';
import { autopilotsStore } from './autopilots/store.ts';
import { finishRestore } from './backups/finish-restore.ts';
import { backupStore } from './backups/store.ts';
import { cacheStore } from './cache/store.ts';
import type { CheckFindings } from './check-database.ts';
import { decisionsStore } from './decisions/store.ts';
import { openForReading } from './engine/connection.ts';
import { DataMoved } from './engine/errors.ts';
import { readMeta } from './engine/meta.ts';
import { migrations } from './engine/migrations/index.ts';
import { NameTexts } from './engine/names.ts';
import { createOrm } from './engine/orm.ts';
import { Reader } from './engine/reader.ts';
import type { StoreContext } from './engine/store-context.ts';
import { Writer } from './engine/writer.ts';
import { eventsStore } from './events/store.ts';
import { type DiskBounds, watchDisk } from './guard/disk-watch.ts';
import { lockFolder } from './guard/folder-lock.ts';
import { watchMovedFiles } from './guard/moved-file-watch.ts';
import { watchWal } from './guard/wal-watch.ts';
import { idempotencyStore } from './idempotency/store.ts';
import { keysStore } from './keys/store.ts';
import type { LongReads } from './long-reads.ts';
import { ledgerStore } from './metering/ledger-store.ts';
import { meteringStore } from './metering/store.ts';
import { challengesStore } from './payment-required/store.ts';
import { paywallsStore } from './paywalls/store.ts';
import { peersStore } from './peers/store.ts';
import { prepareDatabase } from './prepare-database.ts';
import { profileStore } from './profile/store.ts';
import { backgroundStore } from './responses/background-store.ts';
import { responsesStore } from './responses/store.ts';
import { shoutsStore } from './shouts/store.ts';
import { startThread } from './start-thread.ts';
import { threadsStore } from './threads/store.ts';
import { tokensStore } from './tokens/store.ts';
import { tracesStore } from './traces/store.ts';
import { providerKeysStore, vaultStore } from './vault/store.ts';
import { walletStore } from './wallet/store.ts';
import { whispersStore } from './whispers/store.ts';
import { peopleStore } from './workspaces/people-store.ts';
import { workspacesStore } from './workspaces/store.ts';
import type { WriteCommands } from './write-commands.ts';

/** Disks lose bits over months: a database that is only shut down cleanly is checked as often as this. */
const checkedEveryMs = 30 * 24 * 60 * 60 * 1000;

export interface SqliteOptions {
  /** The data folder; created if missing. */
  folder: string;
  /** Wall clock, milliseconds since 1970. */
  now: () => number;
  log: Log;
  /** Derives the event of a settled call, which is not stored twice. */
  settledEvent: (call: UsageRecord) => NewEvent;
  /** `state()` is not writable with less free space than `lowBytes` (default 256 MiB). */
  disk?: Partial<DiskBounds>;
  /** How often the files are checked, in milliseconds; default 5000. */
  pollMs?: number;
  /** Starts another writer thread, for tests that make it fail. */
  startWriter?: () => Worker;
}

/** The context of the stores, with all writes and reads. */
interface SqliteContext extends Omit<StoreContext<WriteCommands, LongReads>, 'writer'> {
  writer: Writer<WriteCommands>;
}

/**
 * Opens `gateway.db` in the folder for this process alone, creating or migrating it as needed. Rejects with
 * `DataFolderInUse`, `UnsupportedSchema`, `DataNeedsRepair`, `DataFileUnusable` or `DiskUnsuited`, and then leaves the file
 * unchanged.
 */
export async function openSqliteStorage(options: SqliteOptions): Promise<Storage> {
  const { folder, now, log, settledEvent, pollMs: everyMs } = options;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (process.platform !== 'win32' && (statSync(folder).mode & 0o077) !== 0) {
    log.warn({ folder }, 'other users of this machine can read the data folder; run chmod 700 on it');
  }
  const file = join(folder, 'gateway.db');
  const lock = lockFolder(folder);
  // The thread loads while this one prepares the database.
  const worker = options.startWriter?.() ?? startThread('writer-worker');
  const writer = new Writer<WriteCommands>({ now, log, worker });
  try {
    finishRestore(folder);
    prepareDatabase({ file, now, log, migrations });
    await writer.open(file);
    const database = openForReading(file);
    const context = {
      database,
      orm: createOrm(database),
      names: new NameTexts(database),
      writer,
      reader: readerOf(file),
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
      backups: backupStore(folder, () => readerOf(file)),
      ...lifecycle(context, { disk, log, now, close }),
    };
  } catch (error) {
    writer.refuseWrites('the database could not be opened');
    await writer.close();
    lock.release();
    throw error;
  }
}

/** With `hasLowPriority`, reads leave the processor to other threads, where the system can do that. */
function readerOf(file: string, { hasLowPriority = false } = {}): Reader<LongReads> {
  return new Reader(() => startThread('reader-worker', { file, hasLowPriority }));
}

function stores(context: SqliteContext, settledEvent: SqliteOptions['settledEvent']) {
  return {
    keys: keysStore(context),
    workspaces: workspacesStore(context),
    people: peopleStore(context),
    tokens: tokensStore(context),
    profile: profileStore(context),
    whispers: whispersStore(context),
    shouts: shoutsStore(context),
    agents: agentsStore(context),
    autopilots: autopilotsStore(context),
    decisions: decisionsStore(context),
    metering: meteringStore(context),
    ledger: ledgerStore(context),
    responses: responsesStore(context),
    background: backgroundStore(context),
    threads: threadsStore(context),
    idempotency: idempotencyStore(context),
    cache: cacheStore(context),
    events: eventsStore(context, settledEvent),
    traces: tracesStore(context),
    vault: vaultStore(context),
    providerKeys: providerKeysStore(context),
    wallets: walletStore(context),
    paywalls: paywallsStore(context),
    challenges: challengesStore(context),
    peers: peersStore(context),
  };
}

interface LifecycleOptions {
  disk: ReturnType<typeof watchDisk>;
  log: Log;
  now: () => number;
  close: () => Promise<void>;
}

function lifecycle(
  { database, writer, checker }: SqliteContext,
  { disk, log, now, close }: LifecycleOptions,
) {
  let closed: Promise<void> | undefined;
  const check = async () => {
    const found: CheckFindings[] = [];
    for (const part of await checker.run('checkParts')) found.push(await checker.run('checkPart', part));
    const problems = [...new Set(found.flatMap((part) => part.problems))];
    const link = found.find(({ chainVerified }) => chainVerified !== undefined)?.chainVerified ?? 0;
    if (problems.length > 0) {
      log.error({ problems }, 'the database failed its check');
      writer.refuseWrites('the database failed its check');
    } else {
      // If this write fails, the next check verifies the same links again.
      await writer.write('engine.checked', { link, at: now() }).catch(() => {});
    }
    return { ok: problems.length === 0, problems };
  };
  return {
    state: () => {
      const reason = writer.problem ?? (disk.level() === 'enough' ? undefined : 'the disk is almost full');
      return { writable: reason === undefined, reason };
    },
    isDiskFull: () => disk.level() === 'full',
    noteTime: (at: number) => void writer.write('engine.touch', at).catch(() => {}),
    writesWaiting: () => writer.pending,
    onFatal: (listener: (reason: Error) => void) => writer.onFatal(listener),
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
