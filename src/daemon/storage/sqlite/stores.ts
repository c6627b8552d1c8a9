import type { NewEvent } from '../../features/events/index.ts';
import type { UsageRecord } from '../../features/metering/index.ts';
import { agentsStore } from './agents/store.ts';
import { alertsStore } from './alerts/store.ts';
import { autopilotsStore } from './autopilots/store.ts';
import { budgetsStore } from './budgets/store.ts';
import { cacheStore } from './cache/store.ts';
import { daemonsStore } from './daemons/store.ts';
import { decisionsStore } from './decisions/store.ts';
import type { StoreContext } from './engine/store-context.ts';
import { eventsStore } from './events/store.ts';
import { idempotencyStore } from './idempotency/store.ts';
import { keysStore } from './keys/store.ts';
import type { LongReads } from './long-reads.ts';
import { ledgerStore } from './metering/ledger-store.ts';
import { meteringStore } from './metering/store.ts';
import { challengesStore } from './payment-required/store.ts';
import { paywallsStore } from './paywalls/store.ts';
import { peersStore } from './peers/store.ts';
import { profileStore } from './profile/store.ts';
import { backgroundStore } from './responses/background-store.ts';
import { responsesStore } from './responses/store.ts';
import { shoutsStore } from './shouts/store.ts';
import { slotsStore } from './slots/store.ts';
import { textsStore } from './texts/store.ts';
import { threadsStore } from './threads/store.ts';
import { tokensStore } from './tokens/store.ts';
import { tracesStore } from './traces/store.ts';
import { providerKeysStore, vaultStore } from './vault/store.ts';
import { walletStore } from './wallet/store.ts';
import { whispersStore } from './whispers/store.ts';
import { peopleStore } from './workspaces/people-store.ts';
import { workspacesStore } from './workspaces/store.ts';
import type { WriteCommands } from './write-commands.ts';

/** The context of the stores, with all writes and reads. */
export type StoresContext = StoreContext<WriteCommands, LongReads>;

/** The store of each feature, by its name in `CallStorage`. */
const creators = {
  keys: keysStore,
  workspaces: workspacesStore,
  people: peopleStore,
  tokens: tokensStore,
  profile: profileStore,
  whispers: whispersStore,
  shouts: shoutsStore,
  slots: slotsStore,
  texts: textsStore,
  agents: agentsStore,
  alerts: alertsStore,
  autopilots: autopilotsStore,
  budgets: budgetsStore,
  decisions: decisionsStore,
  metering: meteringStore,
  ledger: ledgerStore,
  responses: responsesStore,
  background: backgroundStore,
  threads: threadsStore,
  idempotency: idempotencyStore,
  cache: cacheStore,
  events: eventsStore,
  traces: tracesStore,
  vault: vaultStore,
  providerKeys: providerKeysStore,
  wallets: walletStore,
  paywalls: paywallsStore,
  challenges: challengesStore,
  peers: peersStore,
  daemons: daemonsStore,
};

export type Stores = { [Name in keyof typeof creators]: ReturnType<(typeof creators)[Name]> };

/** A store for each name. */
export function eachStore(create: (name: keyof Stores) => object): Stores {
  const names = Object.keys(creators) as (keyof Stores)[];
  return Object.fromEntries(names.map((name) => [name, create(name)])) as unknown as Stores;
}

/** The stores of all features over one connection, one writer and one reader. `settledEvent` derives the event of a settled call. */
export function stores(context: StoresContext, settledEvent: (call: UsageRecord) => NewEvent): Stores {
  return eachStore((name) =>
    name === 'events' ? eventsStore(context, settledEvent) : creators[name](context),
  );
}
