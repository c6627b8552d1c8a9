import type { EventRecord, EventsStore } from '../../features/events/store.ts';
import { NameTexts } from '../sqlite/engine/names.ts';
import { createOrm } from '../sqlite/engine/orm.ts';
import { eventsStore } from '../sqlite/events/store.ts';
import { idempotencyStore } from '../sqlite/idempotency/store.ts';
import { meteringStore } from '../sqlite/metering/store.ts';
import { backgroundStore } from '../sqlite/responses/background-store.ts';
import { responsesStore } from '../sqlite/responses/store.ts';
import { eachStore, type Stores, type StoresContext, type stores } from '../sqlite/stores.ts';
import { tracesStore } from '../sqlite/traces/store.ts';
import { asSqliteConnection, type PostgresConnection } from './engine/connection.ts';
import type { RemoteStores, Services } from './remote-stores.ts';

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

  const all = eachStore((name) => remote.store(name));
  /** Events of settled calls come as calls. */
  const after: EventsStore['after'] = async (...args) => {
    const found = (await all.events.after(...args)) as (EventRecord | { call: never; sequence: number })[];
    return found.map((event) =>
      'call' in event ? { ...settledEvent(event.call), sequence: event.sequence } : event,
    );
  };
  return {
    ...all,
    metering: joined(all.metering, {
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
    responses: joined(all.responses, { insert: responses.insert }),
    background: joined(all.background, {
      start: background.start,
      finish: background.finish,
      appendEvents: background.appendEvents,
    }),
    idempotency: joined(all.idempotency, { claim, finish, release }),
    events: joined(all.events, { append, after }),
    traces: joined(all.traces, { recordRejection }),
    daemons: joined(all.daemons, { own: services.daemon }),
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
