import type { EventRecord, EventsStore } from '../../features/events/store.ts';
import { NameTexts } from '../sqlite/engine/names.ts';
import { createOrm } from '../sqlite/engine/orm.ts';
import { eventsStore } from '../sqlite/events/store.ts';
import { idempotencyStore } from '../sqlite/idempotency/store.ts';
import { meteringStore } from '../sqlite/metering/store.ts';
import { backgroundStore } from '../sqlite/responses/background-store.ts';
import { responsesStore } from '../sqlite/responses/store.ts';
import type { StoresContext, stores } from '../sqlite/stores.ts';
import { tracesStore } from '../sqlite/traces/store.ts';
import { asSqliteConnection, type PostgresConnection } from './engine/connection.ts';
import type { RemoteStores, Services } from './remote-stores.ts';

type Stores = ReturnType<typeof stores>;

/** The stores of all features: their methods run in threads, except those of frequent calls that only write. */
export function createStores(
  remote: RemoteStores,
  services: Services,
  settledEvent: Parameters<typeof stores>[1],
): Stores {
  const context = writingContext(services);
  const metering = meteringStore(context);
  const responses = responsesStore(context);
  const background = backgroundStore(context);
  const idempotency = idempotencyStore(context);
  const { append } = eventsStore(context, settledEvent);
  const { recordRejection } = tracesStore(context);
  const { hold, admit, progress, settle, settleWatched, served, summarize, usagePage, series, latency } =
    metering;
  const { claim, finish, release } = idempotency;

  const events = remote.store('events');
  /** Events of settled calls come as calls. */
  const after: EventsStore['after'] = async (...args) => {
    const found = (await events.after(...args)) as (EventRecord | { call: never; sequence: number })[];
    return found.map((event) =>
      'call' in event ? { ...settledEvent(event.call), sequence: event.sequence } : event,
    );
  };
  return {
    keys: remote.store('keys'),
    workspaces: remote.store('workspaces'),
    people: remote.store('people'),
    tokens: remote.store('tokens'),
    profile: remote.store('profile'),
    whispers: remote.store('whispers'),
    shouts: remote.store('shouts'),
    agents: remote.store('agents'),
    alerts: remote.store('alerts'),
    autopilots: remote.store('autopilots'),
    budgets: remote.store('budgets'),
    decisions: remote.store('decisions'),
    metering: joined(remote.store('metering'), {
      hold,
      admit,
      progress,
      settle,
      settleWatched,
      served,
      summarize,
      usagePage,
      series,
      latency,
    }),
    ledger: remote.store('ledger'),
    responses: joined(remote.store('responses'), { insert: responses.insert }),
    background: joined(remote.store('background'), {
      start: background.start,
      finish: background.finish,
      appendEvents: background.appendEvents,
    }),
    threads: remote.store('threads'),
    idempotency: joined(remote.store('idempotency'), { claim, finish, release }),
    cache: remote.store('cache'),
    events: joined(events, { append, after }),
    traces: joined(remote.store('traces'), { recordRejection }),
    vault: remote.store('vault'),
    providerKeys: remote.store('providerKeys'),
    wallets: remote.store('wallets'),
    paywalls: remote.store('paywalls'),
    challenges: remote.store('challenges'),
    peers: remote.store('peers'),
    daemons: joined(remote.store('daemons'), { own: services.daemon }),
  };
}

/** A store with some members of its own; the others are those of `rest`. */
function joined<Store extends object>(rest: Store, own: Partial<Store>): Store {
  return new Proxy(own as Store, {
    get: (target, name, receiver) =>
      name in target ? Reflect.get(target, name, receiver) : Reflect.get(rest, name),
  });
}

/** The context of stores of which only methods that write are used: a read fails. */
function writingContext(services: Services): StoresContext {
  const statement = {
    pluck: () => statement,
    raw: () => statement,
    get: () => unread(),
    all: () => unread(),
    run: () => unread(),
  };
  const connection = { prepare: () => statement, transaction: () => unread };
  const database = asSqliteConnection(connection as unknown as PostgresConnection);
  return { ...services, database, orm: createOrm(database), names: new NameTexts(database) };
}

function unread(): never {
  throw new Error('this thread has no connection to read with');
}
