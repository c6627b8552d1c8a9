import { hostname } from 'node:os';
import type { Worker } from 'node:worker_threads';
import type { ServeOptions } from '../shared/daemon-module.ts';
import { contentFile } from '../shared/folders.ts';
import { isLoopback } from '../shared/http/loopback.ts';
import { idMaker } from '../shared/ids.ts';
import { version } from '../shared/version.ts';
import { createApp } from './app.ts';
import type { Clock, World } from './base/world.ts';
import type { Config } from './config/config.ts';
import { applyReload, createReloadableSettings } from './config/reloadable-settings.ts';
import type { ConfigFlags } from './config/settings/setting.ts';
import { isForModelCall } from './features/traces/index.ts';
import { createServer, type HttpServer } from './http/server.ts';
import { backupFiles } from './process/backup-files.ts';
import { createConfigFile } from './process/config-file.ts';
import { createFileLog, noteInFile, type PinoLog } from './process/create-log.ts';
import { writeDaemonFile } from './process/daemon-file.ts';
import { dataFileIn, dataKey, writeSecretFile } from './process/data-folder.ts';
import type { DrainTimes } from './process/drain.ts';
import type { LogFile } from './process/log-file.ts';
import { vaultSettings } from './process/master-key-stores.ts';
import { createReloader } from './process/reloader.ts';
import { createCallLog, requestLogger } from './process/request-logger.ts';
import { requireDataKey } from './process/require-data-key.ts';
import type { HangLimits } from './process/watch-turns.ts';
import { ContentThread } from './storage/content/content-thread.ts';
import { relayedContentTaker } from './storage/content/relayed-content.ts';
import { databaseFile } from './storage/sqlite/open.ts';
import type { Storage } from './storage/storage.ts';
import { createTelemetry } from './telemetry/telemetry.ts';
import type { ProviderNetwork } from './upstream/provider-network.ts';
import { configuredProviders, detectLocalProviders } from './upstream/providers-from-config.ts';
import type { CallWorkers } from './workers/call-workers.ts';
import { createObserved } from './workers/observed.ts';

export interface Times {
  drain: DrainTimes;
  followUpMs: number;
  hang: HangLimits;
  clock: Clock;
}

export interface StartedBefore {
  /** The thread that writes to SQLite, if it was started already. */
  writerThread?: Worker | undefined;
}

export type Environment = Pick<
  ServeOptions,
  'env' | 'stdout' | 'stderr' | 'askSecret' | 'showCall' | 'heap'
> &
  StartedBefore &
  Times & { flags: ConfigFlags };

export type App = ReturnType<typeof createApp>;

/** Resources that stay open from the start to the exit. */
export interface Resources {
  environment: Environment;
  log: PinoLog;
  logFile: LogFile;
  network: ProviderNetwork;
  storage: Storage;
  world: World;
  stop: AbortController;
  /** The threads that serve model calls besides the main one; undefined without. */
  workers: CallWorkers | undefined;
  /** Aborted when storage or a thread failed: running calls can no longer be completed then. */
  storageFailed: AbortSignal;
}

/** Whether a person sees both what the daemon prints and its log. */
function isOnTerminal({ stdout, stderr }: Environment): boolean {
  return stdout.isTty === true && stderr.isTty === true;
}

export type Daemon = Awaited<ReturnType<typeof buildDaemon>>;

/** Builds everything but the server. */
export async function buildDaemon(config: Config, resources: Resources) {
  const { environment, log, logFile, storage, world, stop, workers } = resources;
  const { dataFolder, host, proxies, socketFile, timeouts } = config;
  const file = dataFileIn(dataFolder);
  const startedAt = world.now();
  const makeId = idMaker(world.now, world.randomBytes);
  const telemetry = await createTelemetry({ otlp: config.otlp, version, now: world.now, log });
  const providers = await configuredProviders(config, { world, makeId });
  const settings = createReloadableSettings(config);
  let latest = config;
  const reloader = createReloader({
    config,
    log,
    ...environment,
    async apply(next) {
      const adapted = resources.network.adaptConfigForReplay(next);
      const configured = await configuredProviders(adapted, { world, makeId });
      applyReload(settings, next);
      app.providers.replaceConfigured(configured);
      await workers?.reload(next);
      latest = next;
      await app.findLocalServers();
      return app.configWarnings();
    },
  });
  /** Its URL is known once the server listens. */
  const address = { url: '', socket: socketFile?.path ?? null };
  const sealingKey = await dataKey(file('dataKey'), world.randomBytes);
  await requireDataKey({
    store: storage.daemons,
    ...sealingKey,
    path: file('dataKey'),
    isShared: storage.server !== undefined,
  });
  const content = new ContentThread({
    settings: () => {
      const { memoryBytes, disk, redaction } = settings.capture;
      return { memoryBytes, disk, redaction };
    },
    isOnDisk: () => settings.capture.content === 'disk',
    disk: { file: contentFile(dataFolder), dataKey: sealingKey.key },
    now: world.now,
    log,
  });
  const app: App = createApp({
    settings,
    log,
    makeId,
    providers,
    reloader,
    command: config.typed.name,
    configFile: createConfigFile({
      config,
      flags: environment.flags,
      env: environment.env,
      unknownModels: async (changed) =>
        await (await import('./wiring/unknown-models-of.ts')).unknownModelsOf(changed),
    }),
    storage,
    content,
    workers,
    findLocalProviders: () => detectLocalProviders(latest, { world, makeId }),
    onProviders: workers?.showProviders,
    telemetry,
    world,
    callLog: createCallLog({
      log,
      // On a terminal they are shown in another form, or `--quiet` hides them.
      target: isOnTerminal(environment) ? createFileLog(logFile) : log,
      show: environment.showCall,
    }),
    process: {
      url: () => address.url,
      socket: address.socket,
      pid: process.pid,
      version,
      dataFolder,
      workers: config.workers,
      startedAt,
    },
    vault: vaultSettings(config, environment.env),
    connecting: { connectTimeoutMs: timeouts.connectMs, proxies, followUpMs: environment.followUpMs },
    paywalls: config.paywalls,
    timeouts,
    isLocalHost: isLoopback(host.includes(':') ? `[${host}]` : host),
    dataKey: sealingKey.key,
    // Daemons that share a database have a folder each, with a login of its own.
    loginName: storage.server ? `local ${hostname()}:${dataFolder}` : 'local',
    backupFiles: () => backupFiles(config),
    keepListings: (listings) => writeSecretFile(file('listings'), listings),
    keepEngineModels: (models) => writeSecretFile(file('engineModels'), models),
    stop: () => stop.abort('asked'),
  });
  return {
    address,
    app,
    content,
    sealingKey,
    file,
    hasNewKey: sealingKey.isNew,
    makeId,
    providers,
    reloader,
    settings,
    startedAt,
    telemetry,
  };
}

export async function openServer(daemon: Daemon, config: Config, resources: Resources): Promise<HttpServer> {
  const { app, makeId, settings, telemetry } = daemon;
  const { log, storage } = resources;
  return await createServer({
    handlers: app.handlers,
    authenticate: app.authenticate,
    makeRequestId: () => makeId('req'),
    log,
    version,
    shedsLoad: config.shedsLoad,
    isDiskFull: storage.isDiskFull,
    daemonCount: storage.members.count,
    allowedHosts: config.allowedHosts,
    trustedProxies: config.trustedProxies,
    publicUrl: () => settings.publicUrls.api,
    allowedOrigins: config.corsOrigins,
    onFinish: requestLogger({
      log,
      telemetry,
      isLogged: (request) =>
        app.wasSettled(request.requestId) || (request.failure !== undefined && isForModelCall(request)),
    }),
    onFailure: app.onFailedRequest,
    onParent: telemetry.parent,
  });
}

/** Starts the workers, if there are any, for which the app must be prepared. */
export async function withWorkers(
  server: HttpServer,
  { app, content, sealingKey, telemetry }: Daemon,
  config: Config,
  { environment, storage, workers }: Resources,
): Promise<HttpServer> {
  if (workers === undefined) return server;
  const { connect } = storage;
  if (connect === undefined) throw new TypeError('workers need a database that threads can share');
  const { dataFolder } = config;
  return await workers.start(
    server,
    {
      config: { ...config },
      env: { ...environment.env },
      dataKey: sealingKey.key,
      databaseFile: databaseFile(dataFolder),
      connect,
      hostWorkspace: { ...app.hostWorkspace },
      hasSpans: telemetry.parent !== undefined,
    },
    {
      observed: createObserved(app.observing),
      content: relayedContentTaker(content),
      contentDropped: (calls) => content.countDropped(calls),
    },
  );
}

/** Opens the listeners, and writes the file by which commands find them. Returns the local providers, which may be found later. */
export async function listen(
  server: Awaited<ReturnType<typeof createServer>>,
  { address, app, startedAt }: Daemon,
  config: Config,
  { logFile, storage, world }: Resources,
) {
  const { dataFolder, host, port, socketFile } = config;
  ({ url: address.url } = await server.listen({ host, port, socketFile }));
  await app.startPaywalls();
  await storage.daemons.setAddress(address.url);
  const facts = await writeDaemonFile(dataFolder, { ...address, startedAt });
  noteInFile(logFile, world.now(), { ...facts }, 'daemon started');
  return { found: app.findLocalServers() };
}
