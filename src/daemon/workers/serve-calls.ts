import type { MessagePort } from 'node:worker_threads';
import { idMaker } from '../../shared/ids.ts';
import { version } from '../../shared/version.ts';
import type { Log } from '../base/log.ts';
import { applyReload, createReloadableSettings } from '../config/reloadable-settings.ts';
import { settledEvent } from '../features/metering/index.ts';
import { createServer } from '../http/server.ts';
import { vaultSettings } from '../process/master-key-stores.ts';
import { outliveFaults } from '../process/outlive-faults.ts';
import { machineClock, worldOfProcess } from '../process/world-of-process.ts';
import { RelayedContent } from '../storage/content/relayed-content.ts';
import { MemberChanges } from '../storage/shared-changes.ts';
import { openSqliteMember } from '../storage/sqlite/open-member.ts';
import { createProviderNetwork } from '../upstream/provider-network.ts';
import { configuredProviders } from '../upstream/providers-from-config.ts';
import { type Answers, ThreadLink } from '../worker-threads/thread-link.ts';
import type { LogLine, ToMain, ToWorker, WorkerData } from './messages.ts';
import type { Observed } from './observed.ts';
import { createWorkerApp } from './worker-app.ts';

/** Serves model calls in a worker until the main thread closes it. */
export async function serveCalls(port: MessagePort, data: WorkerData): Promise<void> {
  const changes = new MemberChanges((made) => link.ask('changes', made));
  const content = new RelayedContent((message) => link.tell('content', message));
  const worker = Promise.withResolvers<Served>();
  // A failed start is the answer to `ready`, too.
  worker.promise.catch(() => {});
  const link: ThreadLink<ToMain, ToWorker> = new ThreadLink(port, {
    ...answersOf(worker.promise),
    changes: (made) => changes.receive(made),
    contentTaken: (bytes) => void content.taken(bytes),
  });
  const log = relayedLog((line) => link.tell('log', line));
  outliveFaults(log);
  const observe = batched((observed) => link.tell('observed', observed));
  await build(data, { changes, content, log, observe }).then(worker.resolve, worker.reject);
}

type Served = Awaited<ReturnType<typeof build>>;

interface Outward {
  changes: MemberChanges;
  content: RelayedContent;
  log: Log;
  observe: (observed: Observed) => void;
}

async function build(data: WorkerData, { changes, content, log, observe }: Outward) {
  const { config, database, dataKey, env, hasSpans, hostWorkspace } = data;
  const network = await createProviderNetwork(config, {
    elapsed: machineClock.elapsed,
    log,
    stderr: process.stderr,
  });
  const world = worldOfProcess(network.send);
  const makeId = idMaker(world.now, world.randomBytes);
  const storage = openSqliteMember({
    ...database,
    now: world.now,
    elapsed: world.elapsed,
    changes,
    settledEvent,
  });
  const settings = createReloadableSettings(config);
  const providersOf = (from: WorkerData['config']) => configuredProviders(from, { world, makeId });
  const app = createWorkerApp({
    storage,
    world,
    makeId,
    providers: await providersOf(config),
    settings,
    dataKey,
    vault: vaultSettings(config, env),
    log,
    // The main thread lists models and passes on what it knows.
    keepListings: async () => {},
    content,
    hostWorkspace,
    observe,
    hasSpans,
  });
  await app.load();
  await app.catalog.load();
  const { shedsLoad, allowedHosts, trustedProxies, corsOrigins } = config;
  const server = await createServer({
    handlers: app.handlers,
    authenticate: app.authenticate,
    makeRequestId: () => makeId('req'),
    log,
    version,
    shedsLoad,
    allowedHosts,
    trustedProxies,
    publicUrl: () => settings.publicUrls.api,
    allowedOrigins: corsOrigins,
    limits: { connectionsMax: data.connectionsMax },
    onFinish: app.onFinish,
    onFailure: app.onFailure,
    onParent: app.onParent,
    otherThread: { isServedHere: app.isServedHere, isKept: app.isKept, socketFile: data.socketFile },
  });
  const background = new AbortController();
  const working = app.runBackground(background.signal);
  return {
    app,
    server,
    storage,
    async reload(next: WorkerData['config']): Promise<void> {
      const configured = await providersOf(next);
      applyReload(settings, next);
      app.providers.replaceConfigured(configured);
    },
    async close(): Promise<void> {
      await server.close();
      background.abort();
      await working;
      await storage.close();
      await network.close();
    },
  };
}

/** Answers the main thread, once the worker is built. */
function answersOf(worker: Promise<Served>): Omit<Answers<ToWorker>, 'changes' | 'contentTaken'> {
  return {
    ready: async () => void (await worker),
    listen: async ({ host, port }) =>
      void (await (await worker).server.listen({ host, port, reusePort: true })),
    reload: async (config) => (await worker).reload(config),
    cancel: async ({ workspaceId, requestId }) => (await worker).app.cancel(workspaceId, requestId),
    retry: async (bench) => (await worker).app.retry(bench),
    refusals: async (provider) => (await worker).app.refusalsOf(provider),
    async load() {
      const { app, server, storage } = await worker;
      return { ...server.running(), ...app.calls(), writesWaiting: storage.writesWaiting() };
    },
    leave: async (deadlineMs) => (await worker).server.leave(deadlineMs),
    drain: async (deadlineMs) => (await worker).server.drain(deadlineMs),
    close: async () => (await worker).close(),
    providers: async (descriptions) => (await worker).app.showProviders(descriptions),
    wires: async ({ workspaceId, windows }) => (await worker).app.showWires(workspaceId, windows),
  };
}

/** Hands over together what is observed in one turn of the event loop: each message wakes the other thread. */
function batched(send: (observed: Observed[]) => void): (observed: Observed) => void {
  let waiting: Observed[] = [];
  const flush = (): void => {
    const batch = waiting;
    waiting = [];
    send(batch);
  };
  return (observed) => {
    if (waiting.push(observed) === 1) setImmediate(flush);
  };
}

function relayedLog(write: (line: LogLine) => void): Log {
  const at = (level: LogLine['level']) => (details: LogLine['details'], message: string) =>
    write({ level, details, message });
  return { info: at('info'), warn: at('warn'), error: at('error') };
}
