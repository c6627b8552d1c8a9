import { homedir } from 'node:os';
import type { Worker } from 'node:worker_threads';
import type { ConfigTools, ServeOptions } from '../shared/daemon-module.ts';
import { type ExitCode, exitCodes } from '../shared/errors.ts';
import { logFiles } from '../shared/folders.ts';
import type { CopyStorageOptions, CopyStorageOutcome } from '../shared/storage/copy-storage.ts';
import type { RestoreOptions, RestoreOutcome } from '../shared/storage/restore.ts';
import { within } from './base/world.ts';
import {
  type App,
  buildDaemon,
  type Daemon,
  type Environment,
  listen,
  openServer,
  type Resources,
  type StartedBefore,
  type Times,
  withWorkers,
} from './build-daemon.ts';
import { type Config, loadConfig } from './config/config.ts';
import { settledEvent } from './features/metering/index.ts';
import type { HttpServer } from './http/server.ts';
import { bootstrapSecrets } from './process/bootstrap-secrets.ts';
import { checkAfterStart } from './process/check-after-start.ts';
import { createLog, noteInFile } from './process/create-log.ts';
import { type dataFileIn, prepareDataFolder, readSecretFile, removeFile } from './process/data-folder.ts';
import { type Drainable, defaultDrain, drain } from './process/drain.ts';
import { openLogFile } from './process/log-file.ts';
import { openStorage } from './process/open-storage.ts';
import { outliveFaults } from './process/outlive-faults.ts';
import { stopRequests } from './process/signals.ts';
import { explainFailure } from './process/start-failures.ts';
import { unlockAtStart } from './process/unlock-at-start.ts';
import { watchConfig } from './process/watch-config.ts';
import { defaultHangLimits, watchTurns } from './process/watch-turns.ts';
import { welcome } from './process/welcome.ts';
import { machineClock, worldOfProcess } from './process/world-of-process.ts';
import { SharedChanges } from './storage/shared-changes.ts';
import { DataFileUnusable, DataMoved } from './storage/sqlite/engine/errors.ts';
import { createProviderNetwork } from './upstream/provider-network.ts';
import { aroundThreadStarts } from './worker-threads/thread-starts.ts';
import { CallWorkers } from './workers/call-workers.ts';

/** How often open payments and invoices are followed at the Lightning back end. */
const defaultFollowUpMs = 5_000;
/** What does not respond must not delay the exit. */
const [backgroundStopMs, telemetryFlushMs] = [2_000, 1_500];

/** Serves until asked to stop; resolves to the exit code. A failed start is explained on stderr. */
export async function serve(options: ServeOptions & StartedBefore & Partial<Times>): Promise<number> {
  try {
    const { drain = defaultDrain, followUpMs = defaultFollowUpMs, clock = machineClock, ...given } = options;
    const { env, stdout, stderr, askSecret, showCall, heap, writerThread, ...rest } = given;
    const { hang = defaultHangLimits, ...flags } = rest;
    const config = await loadConfig({ flags, env, platform: process.platform, home: homedir() });
    const environment = { env, stdout, stderr, askSecret, showCall, heap, writerThread };
    return await run(config, { ...environment, drain, followUpMs, hang, clock, flags });
  } catch (error) {
    const { text, exit } = await explainFailure(error);
    options.stderr.write(`${text}\n`);
    return exit;
  }
}

/** Replaces the data with a backup, while no daemon runs. */
export async function restore(options: RestoreOptions): Promise<RestoreOutcome> {
  return (await import('./process/restore.ts')).restore(options);
}

/** Copies the database between a data folder and a server, while no daemon runs. */
export async function copyStorage(options: CopyStorageOptions): Promise<CopyStorageOutcome> {
  return (await import('./process/copy-storage.ts')).copyStorage(options);
}

/** What commands do with the configuration without asking a daemon. */
export async function loadConfigTools(): Promise<ConfigTools> {
  return (await import('./wiring/config-tools.ts')).configTools;
}

/** What a worker runs in a build. */
export async function loadCallWorker() {
  return await import('./workers/serve-calls.ts');
}

/** Opens the resources, runs the daemon and closes them again. */
async function run(config: Config, environment: Environment): Promise<ExitCode> {
  await prepareDataFolder(config.dataFolder);
  const logFile = openLogFile({ folder: config.dataFolder });
  const log = createLog(config.logLevel, { stderr: environment.stderr, file: logFile });
  const { clock, stderr } = environment;
  const network = await createProviderNetwork(config, { elapsed: clock.elapsed, log, stderr });
  const world = worldOfProcess(network.send, clock);
  const hasWorkers = config.workers > 1;
  const changes = hasWorkers ? new SharedChanges<Worker>() : undefined;
  const storage = await openStorage(config, {
    now: world.now,
    elapsed: world.elapsed,
    sleep: world.sleep,
    log,
    settledEvent,
    ...(changes && { changes }),
    ...(environment.writerThread && { writerThread: environment.writerThread }),
  });
  const logPath = logFiles(config.dataFolder)[0] as string;
  const endWatch = watchTurns(storage, { ...environment.hang, logFile: logPath });
  const stop = new AbortController();
  const failure = new AbortController();
  let exit: ExitCode = exitCodes.done;
  const fail = (reason: Error, message: string): void => {
    log.error({ err: reason }, message);
    exit = reason instanceof DataMoved ? exitCodes.dataNeedsRepair : exitCodes.workerDied;
    failure.abort('storage');
    stop.abort('storage');
  };
  storage.onFatal((reason) => fail(reason, 'storage failed; stopping'));
  const workers = changes && {
    count: config.workers,
    changes,
    log,
    onDeath: (reason: Error) => fail(reason, 'a worker failed; stopping'),
  };
  const endFaults = outliveFaults(log);
  try {
    const resources = {
      environment,
      log,
      logFile,
      network,
      storage,
      world,
      stop,
      workers: workers && new CallWorkers(workers),
    };
    await runUntilStopped(network.config, { ...resources, storageFailed: failure.signal });
  } finally {
    await storage.close();
    endWatch();
    await network.close();
    endFaults();
  }
  noteInFile(logFile, world.now(), { pid: process.pid, exit }, 'daemon stopped');
  logFile.close();
  return exit;
}

/** Serves until the first request to stop, and ends what runs. */
async function runUntilStopped(config: Config, resources: Resources): Promise<void> {
  const { environment, stop, world } = resources;
  const daemon = await buildDaemon(config, resources);
  const { app, file, reloader, telemetry } = daemon;
  const preparing = prepareApp(daemon, resources);
  // It is awaited once the server is open.
  preparing.catch(() => {});
  let server = await openServer(daemon, config, resources);
  const requests = stopRequests(stop.signal, environment.env);
  const unwatch = watchConfig({
    file: config.configFile,
    followSecretFiles: reloader.followSecretFiles,
    reload: reloader.reloadUnattended,
    onHangUp: () => stop.abort('asked'),
    isOnTerminal: environment.stdout.isTty === true,
  });
  try {
    const { isFresh } = await preparing;
    server = await withWorkers(server, daemon, config, resources);
    telemetry.watch(server.running);
    const { found } = await listen(server, daemon, config, resources);
    const { address, providers } = daemon;
    environment.stdout.write(
      await welcome({
        ...address,
        config: { ...config, ...config.live },
        isFresh,
        providers,
        found,
      }),
    );
    const background = startBackgroundWork(config, app, resources);
    const endServing = environment.heap?.apply();
    aroundThreadStarts(environment.heap?.hold);
    await requests.first;
    endServing?.();
    background.stopAsking();
    app.endStreams();
    await drain([leaving(server, [server, app])], {
      times: environment.drain,
      askedAgain: requests.second,
      storageFailed: resources.storageFailed,
      stderr: environment.stderr,
    });
    await background.stop();
  } finally {
    requests.ignore();
    unwatch();
    await server.close();
    await app.close();
    await removeFile(file('daemon'));
    await within(world, telemetry.close(), telemetryFlushMs);
  }
}

/** Parts that are drained once proxies send their calls elsewhere: those that are on their way need all of them. */
function leaving(server: Pick<HttpServer, 'leave'>, parts: Drainable[]): Drainable {
  return {
    async drain(deadlineMs) {
      const until = machineClock.elapsed() + deadlineMs;
      await server.leave(deadlineMs);
      await Promise.all(parts.map((part) => part.drain(Math.max(0, until - machineClock.elapsed()))));
    },
  };
}

/** Completes what the last process left, before the first request. */
async function prepareApp({ app, file, hasNewKey }: Daemon, { environment, log }: Resources) {
  await restoreModels(app, file);
  const secrets = await bootstrapSecrets(app, file);
  if (hasNewKey && !secrets.isFresh) {
    const message = `${file('dataKey')} was missing and has been created. Stored reasoning and proofs of payments cannot \
be decrypted with the new key. If you have the old file, stop the daemon and put it back.`;
    log.warn({}, message);
    environment.stderr.write(`Warning: ${message}\n`);
  }
  await app.prepare();
  return secrets;
}

/** Restores the models that providers and the embedded engine had at the last stop. */
async function restoreModels(app: App, file: ReturnType<typeof dataFileIn>): Promise<void> {
  const listings = await readSecretFile(file('listings'));
  if (listings !== undefined) app.providers.listings.restore(listings);
  const engineModels = await readSecretFile(file('engineModels'));
  if (engineModels === undefined) return;
  try {
    app.engine.restore(engineModels);
  } catch (cause) {
    const remedy = 'Delete it, and add the models again with gateway engine add.';
    throw new DataFileUnusable(file('engineModels'), 'is not a list of models', remedy, { cause });
  }
}

/** Starts what runs alongside requests: periodic work, the passphrase prompt, and slow checks of the start. */
function startBackgroundWork(config: Config, app: App, { environment, log, storage, world }: Resources) {
  const [background, asking] = [new AbortController(), new AbortController()];
  const working = app.runBackground(background.signal);
  if (config.vault.passphraseFile === undefined) {
    const { askSecret: ask, stderr } = environment;
    void unlockAtStart({ vault: app.vault, ask, stderr, log }, asking.signal);
  }
  void checkAfterStart(app, { storage, log, stderr: environment.stderr, world }, background.signal);
  return {
    stopAsking: () => asking.abort(),
    async stop(): Promise<void> {
      background.abort();
      await within(world, working, backgroundStopMs);
    },
  };
}
