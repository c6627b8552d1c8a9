import type { DaemonStatus } from '../../shared/contract/daemon.ts';
import type { Feature } from '../base/feature.ts';
import { aboutHandlers, statusReaders } from '../features/about/index.ts';
import { backupHandlers } from '../features/backups/index.ts';
import type { Concurrency } from '../features/concurrency/index.ts';
import { configurationHandlers, createConfigurationChanges } from '../features/configuration/index.ts';
import { metricsHandlers } from '../features/metrics/index.ts';
import { referenceHandlers } from '../features/reference/index.ts';
import type { Workspaces } from '../features/workspaces/index.ts';
import type { Endpoints } from '../http/inner-calls.ts';
import { readPageAssets } from '../http/pages/assets.ts';
import { webApp } from '../http/web-assets.ts';
import type { Accounts } from './accounts.ts';
import type { AppDeps } from './app-deps.ts';
import { readMetrics } from './metrics.ts';
import type { Models } from './models.ts';

interface AdminFeatures {
  accounts: Accounts;
  endpoints: Pick<Endpoints, 'describe'>;
  /** The number of readers of events. */
  eventFollowers: () => number;
  models: Models & { concurrency: Concurrency };
  workspaces: Pick<Workspaces, 'requireDaemonOwner'>;
  /** The last known state of the Lightning back end. */
  backendState: () => Promise<DaemonStatus['wallet']>;
}

/** The endpoints that operate and describe the daemon: status, stop, metrics, backups, configuration and its pages. */
export function createAdminFeature(deps: AppDeps, features: AdminFeatures): Feature {
  const { storage, telemetry, process, settings, world } = deps;
  const { accounts, endpoints, models, workspaces, backendState } = features;
  const openApiDocument = () => endpoints.describe();
  return {
    handlers: [
      ...backupHandlers({
        store: storage.backups,
        files: deps.backupFiles,
        version: process.version,
        now: () => world.now(),
      }),
      ...configurationHandlers({
        describe: deps.reloader.describe,
        reload: deps.reloader.reload,
        sealedKeys: () =>
          [...models.providers.byName.values()]
            .filter(({ description }) => description.hasSealedKey)
            .map(({ description }) => description.name),
        changes: createConfigurationChanges({
          file: deps.configFile,
          hostKeys: models.ownKeys.hostKeys,
          isKnownModel: async (model) => {
            const found = await models.catalog.find(model).catch(() => undefined);
            return found !== undefined && models.catalog.isKnown(found);
          },
          otherDaemons: async () =>
            (await storage.daemons.list()).filter(
              ({ isRunning, number }) => isRunning && number !== storage.daemons.own,
            ).length,
          reload: deps.reloader.reload,
        }),
      }),
      ...metricsHandlers({
        read: () => readMetrics(deps, features),
        write: telemetry.writeMetrics,
        hostWorkspace: accounts.hostWorkspace,
        requireDaemonOwner: workspaces.requireDaemonOwner,
      }),
      ...aboutHandlers({
        ...statusReaders({
          storage,
          process,
          settings,
          catalog: models.catalog,
          health: models.health,
          providers: models.providers.byName,
          vault: models.ownKeys.vault,
          backendState,
          spansStatus: telemetry.spansStatus,
          elapsed: world.elapsed,
        }),
        checkCollector: telemetry.checkCollector,
        collector: () => telemetry.spansStatus()?.collector ?? null,
        stop: deps.stop,
        pid: process.pid,
        storageState: storage.state,
        sinceRenewal: () => storage.members.sinceRenewal(),
        openApiDocument,
      }),
      ...referenceHandlers({ openApiDocument, readAssets: readPageAssets, webApp, command: deps.command }),
    ],
  };
}
