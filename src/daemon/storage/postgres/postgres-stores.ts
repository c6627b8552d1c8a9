import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { ApiError } from '../../../shared/errors.ts';
import { ThreadLink } from '../../worker-threads/thread-link.ts';
import { NameTexts } from '../sqlite/engine/names.ts';
import { createOrm } from '../sqlite/engine/orm.ts';
import { type StoresContext, stores } from '../sqlite/stores.ts';
import { asSqliteConnection, openConnection } from './engine/connection.ts';
import { isConnectionLost, postgresCode } from './engine/errors.ts';
import type { ServerChannel } from './engine/messages.ts';
import type { FromStores, ToStores } from './remote-stores.ts';

interface StoresData {
  channel: ServerChannel;
  /** The number of this daemon. */
  daemon: number;
}

function serveStores(port: MessagePort, { channel, daemon }: StoresData): void {
  const connection = openConnection(channel, { isRenewed: true });
  const database = asSqliteConnection(connection);
  const context: StoresContext = {
    database,
    daemon,
    orm: createOrm(database),
    names: new NameTexts(database),
    // What replaces a queued write runs in the main thread, see create-stores.ts.
    writer: { write: (...args) => link.ask('write', args) as Promise<never>, replace: () => undefined },
    reader: { run: (name, data) => link.ask('read', [name, data]) as Promise<never> },
    checker: { run: (name, data) => link.ask('check', [name, data]) as Promise<never> },
  };
  // The main thread derives the events of settled calls.
  const all = stores(context, (call) => ({ call }) as never) as unknown as Record<
    string,
    Record<string, unknown>
  >;

  const link: ThreadLink<FromStores, ToStores> = new ThreadLink(port, {
    async call({ store, method, args }) {
      try {
        const member = all[store]?.[method];
        return await (typeof member === 'function' ? member(...args) : member);
      } catch (error) {
        throw isConnectionLost(postgresCode(error)) ? new ApiError('unavailable', { cause: error }) : error;
      }
    },
    close() {
      connection.close();
      process.exit();
    },
  });
}

if (parentPort) serveStores(parentPort, workerData as StoresData);
