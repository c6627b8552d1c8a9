import type { MakeId } from '../../shared/ids.ts';
import type { Proxies } from '../../shared/proxies.ts';
import type { Log } from '../base/log.ts';
import type { World } from '../base/world.ts';
import type { Config, ReloadableSettings } from '../config/config.ts';
import type { ProcessFacts } from '../features/about/index.ts';
import type { BackupFile } from '../features/backups/index.ts';
import type { ContentStore } from '../features/capture/index.ts';
import type { ProviderDescription } from '../features/catalog/index.ts';
import type { Provider } from '../features/providers/index.ts';
import type { ConfigFilePort } from '../process/config-file.ts';
import type { VaultSettings } from '../process/master-key-stores.ts';
import type { Reloader } from '../process/reloader.ts';
import type { CallLog } from '../process/request-logger.ts';
import type { CallStorage, Storage } from '../storage/storage.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { Workers } from './workers.ts';

/** What the thread provides to the features of model calls: the main thread, or a worker. */
export interface CallAppDeps {
  storage: CallStorage;
  world: World;
  makeId: MakeId;
  providers: readonly Provider[];
  /** Settings that a reload changes while calls run. */
  settings: ReloadableSettings;
  /** Seals reasoning, and data with secrets; 32 bytes. */
  dataKey: Uint8Array;
  vault: VaultSettings;
  log: Pick<Log, 'warn'>;
  /** Stores the model lists that providers returned, for the next start. */
  keepListings: (listings: string) => Promise<void>;
  /** Finds the model servers of this machine; undefined where another thread does. */
  findLocalProviders?: () => Promise<Provider[]>;
  /** Called with the providers that can be called now, when they change. */
  onProviders?: ((descriptions: readonly ProviderDescription[]) => void) | undefined;
}

/** What the process provides to the features. */
export interface AppDeps extends CallAppDeps {
  storage: Storage;
  /** Keeps the content of calls. */
  content: ContentStore & { close(): Promise<void> };
  /** How the Lightning back end is reached, and how often open payments and invoices are followed there. */
  connecting: { connectTimeoutMs: number; proxies: Proxies | undefined; followUpMs: number };
  paywalls: Config['paywalls'];
  timeouts: Config['timeouts'];
  /** Whether only this machine reaches the host. */
  isLocalHost: boolean;
  /** Gets finished and rejected calls. */
  callLog: CallLog;
  telemetry: Telemetry;
  reloader: Pick<Reloader, 'describe' | 'reload'>;
  /** The configuration file, for changes by the API. */
  configFile: ConfigFilePort;
  process: ProcessFacts;
  /** How commands are typed on this machine: `gateway` or `npx gateway`. */
  command: string;
  /** The name of the login in the data folder. */
  loginName: string;
  /** The files that belong in a backup alongside the database. */
  backupFiles: () => Promise<BackupFile[]>;
  /** The threads that serve model calls besides this one; undefined without. */
  workers: Workers | undefined;
  /** Stores the models of the embedded engine, for the next start. */
  keepEngineModels: (models: string) => Promise<void>;
  /** Starts a graceful stop and returns immediately. */
  stop: () => void;
}
