import { setTimeout as wait } from 'node:timers/promises';
import { withoutPassword } from '../../../shared/storage/database-url.ts';
import type { Log } from '../../base/log.ts';
import { type Clock, within } from '../../base/world.ts';
import type { Renewal } from '../../features/daemons/members.ts';
import type { NewEvent } from '../../features/events/index.ts';
import type { UsageRecord } from '../../features/metering/index.ts';
import { LocalChanges } from '../local-changes.ts';
import { announcing } from '../sqlite/announced-writes.ts';
import type { BackupReads } from '../sqlite/backups/reads.ts';
import { backupStore } from '../sqlite/backups/store.ts';
import { DataNeedsRepair, UnfinishedCopy } from '../sqlite/engine/errors.ts';
import { Reader } from '../sqlite/engine/reader.ts';
import { Writer } from '../sqlite/engine/writer.ts';
import type { LongReads } from '../sqlite/long-reads.ts';
import { notePassedTime } from '../sqlite/note-passed-time.ts';
import { runCheck } from '../sqlite/run-check.ts';
import type { WriteCommands } from '../sqlite/write-commands.ts';
import type { ServerFacts, Storage } from '../storage.ts';
import { createStores } from './create-stores.ts';
import { DaemonChanges } from './daemon-changes.ts';
import type { ChangesWrites } from './engine/recorded-changes.ts';
import { explainServer } from './explain-server.ts';
import { Membership } from './membership.ts';
import { migrate, type Query } from './migrate.ts';
import { serverSchema } from './migrations/index.ts';
import { RemoteStores } from './remote-stores.ts';
import { type Role, Server, startThread } from './server.ts';
import { readServerFacts } from './server-facts.ts';

export interface PostgresOptions {
  /** `postgres://USER@HOST/DATABASE` */
  url: string;
  /** The file that contains the address, which is read again when no connection can be opened. */
  urlFile?: string | undefined;
  /** The data folder, in which backups are made; default: the current folder. */
  folder?: string;
  /** Wall clock, milliseconds since 1970. */
  now: () => number;
  /** Milliseconds of a clock that only goes forward; default: that of the machine. */
  elapsed?: (() => number) | undefined;
  /** Default: real time. */
  sleep?: Clock['sleep'] | undefined;
  log: Log;
  /** Derives the event of a settled call, which is not stored twice. */
  settledEvent: (call: UsageRecord) => NewEvent;
}

/** A server that does not answer must not keep a daemon from stopping. Another daemon, or the next start, settles what is left. */
const closeMs = 2_000;
/** Without a renewal of its term for so long, a daemon admits no calls, in milliseconds. */
const admissionMs = 8000;
/** The parts of a check; the server checks references itself, and its pages if it has checksums. */
const checkedParts = ['balances', 'holds', 'spending', 'chain'];

/**
 * Opens the database of a PostgreSQL server together with other daemons, creating or migrating its schema as needed. Rejects with
 * `DatabaseUnusable`, `UnsupportedServer`, `UnsupportedSchema` or `DataNeedsRepair`.
 */
export async function openPostgresStorage(options: PostgresOptions): Promise<Storage> {
  const { url, urlFile, folder = '.', now, elapsed, sleep = delay, log, settledEvent } = options;
  const fatalListeners: ((reason: Error) => void)[] = [];
  const onFatal = (reason: Error) => {
    for (const listener of fatalListeners) listener(reason);
  };
  const server = new Server({ url, urlFile }, onFatal);
  let facts: Omit<ServerFacts, 'host'>;
  let lastSeen: number | undefined;
  try {
    ({ lastSeen, ...facts } = await prepareSchema(server, url));
  } catch (error) {
    await server.close();
    throw error;
  }
  const start = (script: Parameters<typeof startThread>[0], role: Role, data = {}) =>
    startThread(script, { ...data, channel: server.channel(role) });
  const worker = start('postgres-writer', 'writes', { at: now(), schemaVersion: facts.schemaVersion });
  const where = `The database at ${withoutPassword(url)}`;
  const members = new Membership();
  const onRenewal = (renewal: Renewal) => members.renewed(renewal);
  const writer = new Writer<WriteCommands & ChangesWrites>({ now, log, worker, onRenewal });
  try {
    await writer.open(where);
  } catch (error) {
    writer.refuseWrites('the database could not be opened');
    await writer.close();
    await server.close();
    members.close();
    if (!(error instanceof DataNeedsRepair)) throw error;
    const remedy = 'Keep a dump of the database, then restore an earlier one.';
    throw new DataNeedsRepair(where, error.problem, { remedy, cause: error });
  }
  const local = new LocalChanges();
  const readerOf = (role: Role) => new Reader<LongReads>(() => start('postgres-reader', role));
  const { daemon } = members;
  const services = {
    daemon,
    writer: announcing(writer, local),
    reader: readerOf('longReads'),
    checker: readerOf('checks'),
  };
  const remote = new RemoteStores(() => start('postgres-stores', 'reads', { daemon }), services, onFatal);
  let closed: Promise<void> | undefined;
  const close = async () => {
    changes?.close();
    const threads = Promise.all([services.reader.close(), services.checker.close(), remote.close()]);
    let isClosed = false;
    const closing = threads
      .then(() => writer.close())
      .then(() => {
        isClosed = true;
      });
    await within({ sleep }, closing, closeMs);
    if (!isClosed) await writer.giveUp();
    await closing;
    await server.close();
    members.close();
  };
  let changes: DaemonChanges | undefined;
  try {
    changes = await DaemonChanges.open({
      connection: server.control('changes'),
      daemon,
      local,
      onCount: (count) => members.counted(count),
      store: (made) => writer.write('changes.announce', made),
      log,
      onFatal,
    });
  } catch (error) {
    await close();
    throw explainServer(url, error);
  }
  return {
    ...createStores(remote, services, settledEvent),
    server: {
      ...facts,
      get host() {
        return server.host;
      },
    },
    members,
    changes,
    backups: backupStore(
      folder,
      () => new Reader<BackupReads>(() => startThread('postgres-backup', { url })),
    ),
    passed: notePassedTime(services.writer, { now, elapsed, noted: Math.min(now(), lastSeen ?? now()) }),
    writesWaiting: () => writer.pending,
    state: () => {
      const isLate = members.sinceRenewal() > admissionMs;
      const reason = writer.problem ?? (isLate ? 'the database server does not answer in time' : undefined);
      return { writable: reason === undefined, reason };
    },
    // The server's operator watches its disk; a full one fails writes until there is space again.
    isDiskFull: () => false,
    onFatal: (listener) => {
      fatalListeners.push(listener);
      writer.onFatal(listener);
    },
    watchMainThread: (watch) => writer.watchMainThread(watch),
    check: () => runCheck(checkedParts, { checker: services.checker, writer, now, log }),
    // The server recovers its files itself, and the balances were compared at the start.
    checkIfDue: async () => undefined,
    close: () => {
      closed ??= close();
      return closed;
    },
  };
}

async function delay(ms: number, signal?: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal });
}

async function prepareSchema(
  server: Server,
  url: string,
): Promise<Omit<ServerFacts, 'host'> & { lastSeen: number | undefined }> {
  const control = server.control('control');
  const query: Query = (sql, params) => control.query(sql, params);
  try {
    await control.connect();
    const schemaVersion = await migrate(query, serverSchema);
    await requireFinishedCopy(query, url);
    const [seen] = await query("SELECT value FROM gateway.meta WHERE name = 'last_seen'");
    const lastSeen = seen && Number(seen.value);
    return { ...(await readServerFacts(query, url)), schemaVersion, lastSeen };
  } catch (error) {
    throw explainServer(url, error);
  } finally {
    control.close();
  }
}

async function requireFinishedCopy(query: Query, url: string): Promise<void> {
  const [unfinished] = await query("SELECT 1 FROM gateway.meta WHERE name = 'unfinished_copy'");
  if (unfinished) throw new UnfinishedCopy(withoutPassword(url));
}
