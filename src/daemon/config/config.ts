import { dirname, resolve } from 'node:path';
import type { ConfigFault } from '../../shared/daemon-module.ts';
import { foldersOf, fromHome } from '../../shared/folders.ts';
import { proxiesIn } from '../../shared/proxies.ts';
import { databaseOf } from './database.ts';
import { readConfigFile } from './read-config-file.ts';
import { readSecretFiles, type SecretFile } from './secret-files.ts';
import { agentConfig } from './settings/agents.ts';
import { billingConfig } from './settings/billing.ts';
import { cacheConfig } from './settings/cache.ts';
import { callConfig, routeConfig } from './settings/calls.ts';
import { guardrailConfig } from './settings/guardrails.ts';
import { listenConfig } from './settings/listen.ts';
import { captureConfig } from './settings/observation.ts';
import { paymentConfig, paywallConfig } from './settings/payments.ts';
import { readSettings } from './settings/read-settings.ts';
import type { ConfigFlags, Environment } from './settings/setting.ts';
import { storageConfig } from './settings/storage.ts';
import { table } from './settings/table.ts';
import { vaultConfig } from './settings/vault.ts';
import { otlpOf } from './telemetry.ts';
import { typedCommand } from './typed-command.ts';
import { workersFaults } from './workers-faults.ts';

interface Sources {
  flags: ConfigFlags;
  env: Environment;
  platform: string;
  home: string;
  /** Used in place of the text of the file. */
  text?: string | undefined;
  /** Whether there must be a file, as there was one before. */
  hasFile?: boolean;
  /** The files with secrets as they were read before. */
  secretFiles?: readonly SecretFile[];
}

export class ConfigInvalid extends Error {
  readonly faults: ConfigFault[];

  constructor(faults: ConfigFault[]) {
    super(faults.map((fault) => `${fault.place}: ${fault.message}`).join('\n'));
    this.name = 'ConfigInvalid';
    this.faults = faults;
  }
}

/** The effective configuration. */
export type Config = Awaited<ReturnType<typeof loadConfig>>;

/** Settings that are read on each call. A reload changes the members of these objects. */
export type ReloadableSettings = Config['live'];

/** Reads and checks the whole configuration; throws a ConfigInvalid with all faults. */
export async function loadConfig({
  flags,
  env: environment,
  platform,
  home,
  text: given,
  hasFile = false,
  secretFiles = [],
}: Sources) {
  const folders = foldersOf({ env: environment, platform, home });
  const named = (path: string) => resolve(fromHome(path, home));
  const configFile = fromHome(flags.configFile ?? `${folders.config}/config.yaml`, home);
  const required = hasFile || flags.configFile !== undefined;
  const { file, faults, text, removed } = await readConfigFile(configFile, { required, given });
  const { env, files } = await readSecretFiles(environment, file, { home, before: secretFiles });
  const values = readSettings(table, file, { flags, env, folder: dirname(configFile), home }, faults);
  const { workers, listen, paywalls } = values;
  const dataFolder = named(flags.dataFolder ?? folders.data);
  const otlp = otlpOf(file, env, faults);
  const proxies = proxiesIn(env, faults);
  const database = databaseOf(values, env, faults);
  if (workers > 1) faults.push(...workersFaults({ flags, platform, usesServer: database !== undefined }));
  if (faults.length > 0) throw new ConfigInvalid(faults);
  return Object.freeze({
    ...listenConfig(values),
    ...callConfig(values, { env, file, secretFiles: files }),
    /** Where secrets are read from, besides the environment. */
    secretFiles: files,
    /** How many threads serve model calls; 1: the main thread alone. */
    workers,
    dataFolder,
    configFile: resolve(configFile),
    /** The text of the file; empty without one. */
    configText: text,
    typed: typedCommand(dataFolder, { env, platform, home }),
    /** The PostgreSQL database, by its address or by the file with it; undefined for SQLite in the data folder. */
    database,
    vault: vaultConfig(values),
    paywalls: paywallConfig(values),
    simulatorScript: values.simulate,
    /** Folders of recorded provider calls: where to record, and what to replay. */
    recordings: {
      record: flags.record && named(flags.record),
      replay: flags.replay && named(flags.replay),
      replaySpeed: flags.replaySpeed ?? 'instant',
    },
    /** Where spans are sent; undefined: nowhere. */
    otlp,
    /** Proxies for outgoing calls; undefined: none. */
    proxies,
    logLevel: values.log.level,
    /** What a reload changes while calls run. */
    live: {
      ...billingConfig(values),
      ...routeConfig(values),
      ...guardrailConfig(values, { env }),
      ...storageConfig(values),
      ...agentConfig(values, { env }),
      ...cacheConfig(values),
      ...paymentConfig(values, { env }),
      ...captureConfig(values),
      /** Where clients reach this host, if not at the addresses it listens on: behind a reverse proxy with TLS. */
      publicUrls: { api: listen.public_url, paywalls: paywalls.public_url },
      /** Settings in the file that no longer exist, and what replaces them. */
      removedSettings: removed,
    },
  });
}
