import type { MessagePort } from 'node:worker_threads';
import type { Changes } from '../base/changes.ts';
import type { AgentsStore } from '../features/agents/store.ts';
import type { AlertsStore } from '../features/alerts/store.ts';
import type { AutopilotsStore } from '../features/autopilots/store.ts';
import type { BackupStore } from '../features/backups/backup-store.ts';
import type { BudgetsStore } from '../features/budgets/store.ts';
import type { CacheStore } from '../features/cache/store.ts';
import type { TextsStore } from '../features/capture/texts-store.ts';
import type { SlotsStore } from '../features/concurrency/store.ts';
import type { DaemonsStore, Members } from '../features/daemons/index.ts';
import type { DecisionsStore } from '../features/decisions/store.ts';
import type { EventsStore } from '../features/events/store.ts';
import type { IdempotencyStore } from '../features/idempotency/store.ts';
import type { BackgroundStore } from '../features/inference/lifecycles/background/background-store.ts';
import type { ResponsesStore } from '../features/inference/stored/responses-store.ts';
import type { KeysStore } from '../features/keys/store.ts';
import type { AdmissionStore } from '../features/metering/admission/admission-store.ts';
import type { LedgerStore } from '../features/metering/ledger-store.ts';
import type { MeteringStore } from '../features/metering/store.ts';
import type { ChallengesStore } from '../features/payment-required/store.ts';
import type { PaywallsStore } from '../features/paywalls/store.ts';
import type { PeersStore } from '../features/peers/store.ts';
import type { ProfileStore } from '../features/profile/store.ts';
import type { ProviderKeysStore } from '../features/provider-keys/store.ts';
import type { ShoutsStore } from '../features/shouts/store.ts';
import type { ThreadsStore } from '../features/threads/threads-store.ts';
import type { TokensStore } from '../features/tokens/store.ts';
import type { TracesStore } from '../features/traces/store.ts';
import type { VaultStore } from '../features/vault/store.ts';
import type { WalletStore } from '../features/wallet/store.ts';
import type { WhispersStore } from '../features/whispers/store.ts';
import type { PeopleStore } from '../features/workspaces/people-store.ts';
import type { WorkspacesStore } from '../features/workspaces/store.ts';
import type { MainThreadWatch } from '../worker-threads/watch-main-thread.ts';
import type { PassedTime } from './passed-time.ts';

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
export interface CallStorage {
  keys: KeysStore;
  workspaces: WorkspacesStore;
  people: PeopleStore;
  tokens: TokensStore;
  profile: ProfileStore;
  whispers: WhispersStore;
  shouts: ShoutsStore;
  slots: SlotsStore;
  texts: TextsStore;
  agents: AgentsStore;
  alerts: AlertsStore;
  autopilots: AutopilotsStore;
  budgets: BudgetsStore;
  decisions: DecisionsStore;
  metering: MeteringStore & AdmissionStore;
  ledger: LedgerStore;
  responses: ResponsesStore;
  background: BackgroundStore;
  threads: ThreadsStore;
  idempotency: IdempotencyStore;
  cache: CacheStore;
  events: EventsStore;
  traces: TracesStore;
  vault: VaultStore;
  providerKeys: ProviderKeysStore;
  wallets: WalletStore;
  paywalls: PaywallsStore;
  challenges: ChallengesStore;
  peers: PeersStore;
  daemons: DaemonsStore;
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
