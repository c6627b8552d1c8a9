import type { MessagePort } from 'node:worker_threads';
import type { Changes } from '../base/changes.ts';
import type { BackupStore } from '../features/backups/backup-store.ts';
import type { Members } from '../features/daemons/index.ts';
import type { MainThreadWatch } from '../worker-threads/watch-main-thread.ts';
import type { PassedTime } from './passed-time.ts';
import type { Stores } from './sqlite/stores.ts';

/** A database server: the one in use, and what was found out about it at the start. */
export interface ServerFacts {
  /** `postgres://USER@HOST/DATABASE`, without a password. */
  address: string;
  /** The host and port of the server in use, as the address has them. */
  readonly host: string;
  version: string;
  schemaVersion: number;
  /** Settings that risk data, for people: each a sentence without its full stop. */
  warnings: readonly string[];
}

/** What any thread of a daemon can do with its data: one store per feature. */
export interface CallStorage extends Stores {
  /** The daemons that serve the database together. */
  members: Members;
  /** What the writes of these stores, and those of other daemons, have changed. */
  changes: Changes;
  /** What expiries are compared with. */
  passed: PassedTime;
  /** Number of writes that are not committed yet. */
  writesWaiting(): number;
  /** Whether writes are accepted, and if not, why: for example after a failed check, or on a full disk. */
  state(): { writable: boolean; reason: string | undefined };
  close(): Promise<void>;
}

/** Everything the daemon stores. Each engine has a folder that opens it. */
export interface Storage extends CallStorage {
  backups: BackupStore;
  /** The server that has the database; undefined if it is a file. */
  server: ServerFacts | undefined;
  /** The port with which another thread opens the same database; undefined where each thread would be a daemon. */
  connect?: () => MessagePort;
  /** Whether the disk space barely suffices for running calls, so that no new one should start. */
  isDiskFull(): boolean;
  /** Calls the listener once if the storage fails for good; the process should exit. */
  onFatal(listener: (reason: Error) => void): void;
  /** Has a thread of the storage end the process if the main thread hangs. */
  watchMainThread(watch: MainThreadWatch): void;
  /** Checks the whole database in the background. Refuses writes from then on if it finds problems. */
  check(): Promise<{ ok: boolean; problems: string[] }>;
  /** The same after an unclean shutdown, and every month; otherwise resolves to undefined. */
  checkIfDue(): Promise<{ ok: boolean; problems: string[] } | undefined>;
}
