import type { AutopilotsStore } from '../features/autopilots/autopilots-store.ts';
import type { BackupStore } from '../features/backups/backup-store.ts';
import type { CacheStore } from '../features/cache/store.ts';
import type { EventsStore } from '../features/events/events-store.ts';
import type { IdempotencyStore } from '../features/idempotency/idempotency-store.ts';
import type { BackgroundStore } from '../features/inference/lifecycles/background/background-store.ts';
import type { ResponsesStore } from '../features/inference/stored/responses-store.ts';
import type { KeysStore } from '../features/keys/keys-store.ts';
import type { LedgerStore } from '../features/metering/ledger-store.ts';
import type { MeteringStore } from '../features/metering/metering-store.ts';
import type { ProfileStore } from '../features/profile/profile-store.ts';
import type { ProviderKeysStore } from '../features/provider-keys/provider-keys-store.ts';
import type { ShoutsStore } from '../features/shouts/shouts-store.ts';
import type { ThreadsStore } from '../features/threads/threads-store.ts';
import type { TokensStore } from '../features/tokens/tokens-store.ts';
import type { TracesStore } from '../features/traces/traces-store.ts';
import type { VaultStore } from '../features/vault/vault-store.ts';
import type { WhispersStore } from '../features/whispers/whispers-store.ts';
import type { PeopleStore } from '../features/workspaces/people-store.ts';
import type { WorkspacesStore } from '../features/workspaces/workspaces-store.ts';

/** What the service remembers: one store a feature. An engine is a folder that opens one of these. */
export interface Storage {
  keys: KeysStore;
  workspaces: WorkspacesStore;
  people: PeopleStore;
  tokens: TokensStore;
  profile: ProfileStore;
  whispers: WhispersStore;
  shouts: ShoutsStore;
  autopilots: AutopilotsStore;
  metering: MeteringStore;
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
  backups: BackupStore;
  /** Writes that wait or are under way. */
  writesWaiting(): number;
  /** Whether writes are accepted: false after a failed check or a full disk, with the reason. */
  state(): { writable: boolean; reason: string | undefined };
  /** Whether there is hardly room for what is under way: nothing new should be begun. */
  isDiskFull(): boolean;
  /** Called once when the engine can go on no longer; the process should end. */
  onFatal(listener: (reason: Error) => void): void;
  /** The thorough checks that are too slow for the start; refuses writes from then on when they fail. */
  check(): Promise<{ ok: boolean; problems: string[] }>;
  close(): Promise<void>;
}
