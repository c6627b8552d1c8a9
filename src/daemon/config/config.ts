import { dirname, resolve } from 'node:path';
import type { ConfigFault } from '../../shared/daemon-module.ts';
import { foldersOf } from '../../shared/folders.ts';
import { type KnownProvider, knownProviders } from '../../shared/known-providers.ts';
import { defaults } from './defaults.ts';
import { keyVariables } from './key-variables.ts';
import { isLogLevel, logLevels } from './log-levels.ts';
import { readConfigFile } from './read-config-file.ts';
import type { ConfigFile, UpstreamConfig } from './schema.ts';
import { type OtlpConfig, otlpOf } from './telemetry.ts';
import { type TypedCommand, typedCommand } from './typed-command.ts';

export interface ProviderAccount {
  name: KnownProvider;
  baseUrl: string | undefined;
  /** The operator's key; undefined when there is none. */
  key: string | undefined;
  /** What to set to have one. */
  keyName: string;
}

export interface ConfiguredUpstream extends UpstreamConfig {
  key: string | undefined;
}

/** Everything that can be set, from flags, then the environment, then the file, then the defaults. */
export interface Config {
  host: string;
  port: number;
  /** A Unix socket to listen on as well, and who may connect to it. */
  socketFile: { path: string; access: 'owner' | 'group' } | undefined;
  allowedHosts: string[];
  corsOrigins: string[];
  dataFolder: string;
  configFile: string;
  /** What it says; empty where there is none. */
  configText: string;
  typed: TypedCommand;
  /** Millionths. */
  marginPpm: number;
  /** Whether the owner's workspace pays in advance, as all others do. */
  allPrepaid: boolean;
  providers: ProviderAccount[];
  upstreams: ConfiguredUpstream[];
  findsLocalServers: boolean;
  /** Whether new work is refused when there is more than can be done. */
  shedsLoad: boolean;
  aliases: Record<string, string>;
  timeouts: { connectMs: number; headersMs: number; firstEventMs: number; idleMs: number };
  /** Whether responses are stored whose call does not say. */
  storesResponses: boolean;
  responsesKeptMs: number;
  /** So many background responses are made at once, of all callers. */
  backgroundRunsMax: number;
  /** Answers that are given again. */
  cache: CacheConfig;
  /** Where the master key of the vault may be kept. */
  vault: VaultConfig;
  simulatorScript: string | undefined;
  /** Where spans are sent; nowhere when undefined. */
  otlp: OtlpConfig | undefined;
  recordings: RecordingsConfig;
  logLevel: string;
  /** Whether what is said in model calls is logged. */
  logsBodies: boolean;
}

export interface CacheConfig {
  /** For calls that do not say. */
  defaultMode: 'off' | 'read-only' | 'read-write';
  keptMs: number;
  entriesMax: number;
  bytesMax: number;
}

/** Folders of recorded calls. */
export interface RecordingsConfig {
  /** Where calls to providers are kept. */
  record: string | undefined;
  /** What they are answered from. */
  replay: string | undefined;
  replaySpeed: 'real' | 'instant';
}

export interface VaultConfig {
  /** Where the first master key is made; the first place that works when undefined. */
  store: 'file' | 'keychain' | 'passphrase' | 'plain' | undefined;
  masterKeyFile: string | undefined;
  passphraseFile: string | undefined;
  usesKeychain: boolean;
  allowsPlainFile: boolean;
}

/** What the command line says; what it leaves out comes from elsewhere. */
export interface ConfigFlags {
  port?: number | undefined;
  host?: string | undefined;
  socket?: string | undefined;
  dataFolder?: string | undefined;
  configFile?: string | undefined;
  simulate?: string | undefined;
  record?: string | undefined;
  replay?: string | undefined;
  replaySpeed?: 'real' | 'instant' | undefined;
  logLevel?: string | undefined;
}

interface Sources {
  flags: ConfigFlags;
  env: Record<string, string | undefined>;
  platform: string;
  home: string;
}

export class ConfigInvalid extends Error {
  readonly faults: ConfigFault[];

  constructor(faults: ConfigFault[]) {
    super(faults.map((fault) => `${fault.place}: ${fault.message}`).join('\n'));
    this.name = 'ConfigInvalid';
    this.faults = faults;
  }
}

const dayMs = 24 * 60 * 60 * 1000;

/** Reads and checks all of it; throws a ConfigInvalid with every fault at once. */
export async function loadConfig({ flags, env, platform, home }: Sources): Promise<Readonly<Config>> {
  const folders = foldersOf({ env, platform, home });
  const configFile = flags.configFile ?? `${folders.config}/config.yaml`;
  const { file, faults, text } = await readConfigFile(configFile, {
    required: flags.configFile !== undefined,
  });
  const port = flags.port ?? portOf(env.GATEWAY_PORT, faults) ?? file.listen?.port ?? defaults['listen.port'];
  const logLevel =
    flags.logLevel ??
    levelOf(env.GATEWAY_LOG_LEVEL, faults) ??
    file.log?.level ??
    (file.log?.bodies ? 'info' : defaults['log.level']);
  const dataFolder = resolve(flags.dataFolder ?? folders.data);
  const otlp = otlpOf(file, env, faults);
  if (faults.length > 0) throw new ConfigInvalid(faults);
  const { timeouts } = file;
  return Object.freeze({
    host: flags.host ?? file.listen?.host ?? defaults['listen.host'],
    port,
    socketFile: socketFileOf({ flags, env, file, folder: dirname(configFile) }),
    allowedHosts: file.listen?.allowed_hosts ?? [...defaults['listen.allowed_hosts']],
    corsOrigins: file.cors?.origins ?? [...defaults['cors.origins']],
    dataFolder,
    configFile,
    configText: text,
    typed: typedCommand(dataFolder, { env, platform, home }),
    marginPpm: Math.round((file.margin_percent ?? defaults.margin_percent) * 10_000),
    allPrepaid: (file.billing?.mode ?? defaults['billing.mode']) === 'prepaid',
    providers: knownProviders.map((name) => accountOf(name, file, env)),
    upstreams: (file.upstreams ?? defaults.upstreams).map((upstream) => ({
      ...upstream,
      key: upstream.key_env === undefined ? undefined : env[upstream.key_env]?.trim() || undefined,
    })),
    findsLocalServers: file.local_servers ?? defaults.local_servers,
    shedsLoad: file.shed_load ?? defaults.shed_load,
    aliases: file.aliases ?? defaults.aliases,
    timeouts: {
      connectMs: timeouts?.connect_ms ?? defaults['timeouts.connect_ms'],
      headersMs: timeouts?.headers_ms ?? defaults['timeouts.headers_ms'],
      firstEventMs: timeouts?.first_event_ms ?? defaults['timeouts.first_event_ms'],
      idleMs: timeouts?.idle_ms ?? defaults['timeouts.idle_ms'],
    },
    storesResponses: file.storage?.store_responses ?? defaults['storage.store_responses'],
    responsesKeptMs: (file.storage?.responses_days ?? defaults['storage.responses_days']) * dayMs,
    backgroundRunsMax: file.background?.max_running ?? defaults['background.max_running'],
    cache: cacheOf(file),
    vault: vaultOf(file, env, dirname(configFile)),
    simulatorScript: flags.simulate ?? (file.simulate && resolve(dirname(configFile), file.simulate)),
    recordings: {
      record: flags.record && resolve(flags.record),
      replay: flags.replay && resolve(flags.replay),
      replaySpeed: flags.replaySpeed ?? 'instant',
    },
    otlp,
    logLevel,
    logsBodies: file.log?.bodies ?? defaults['log.bodies'],
  });
}

/** What the file names lies beside it; what is typed, or set where the daemon starts, lies there. */
function socketFileOf({
  flags,
  env,
  file,
  folder,
}: Pick<Sources, 'flags' | 'env'> & { file: ConfigFile; folder: string }) {
  const { socket, socket_access: access = defaults['listen.socket_access'] } = file.listen ?? {};
  const here = flags.socket ?? (env.GATEWAY_SOCKET || undefined);
  const path = here === undefined ? socket && resolve(folder, socket) : resolve(here);
  return path === undefined ? undefined : { path, access };
}

function cacheOf({ cache }: ConfigFile): CacheConfig {
  return {
    defaultMode: cache?.default ?? defaults['cache.default'],
    keptMs: (cache?.ttl_seconds ?? defaults['cache.ttl_seconds']) * 1000,
    entriesMax: cache?.max_entries ?? defaults['cache.max_entries'],
    bytesMax: (cache?.max_mb ?? defaults['cache.max_mb']) * 1024 * 1024,
  };
}

function vaultOf({ vault }: ConfigFile, env: Sources['env'], folder: string): VaultConfig {
  const beside = (named: string | undefined) => (named === undefined ? undefined : resolve(folder, named));
  return {
    store: vault?.store,
    masterKeyFile: env.GATEWAY_MASTER_KEY_FILE || beside(vault?.master_key_file),
    passphraseFile: env.GATEWAY_VAULT_PASSPHRASE_FILE || beside(vault?.passphrase_file),
    usesKeychain: vault?.keychain ?? defaults['vault.keychain'],
    allowsPlainFile: vault?.insecure_plain_file ?? defaults['vault.insecure_plain_file'],
  };
}

function accountOf(name: KnownProvider, file: ConfigFile, env: Sources['env']): ProviderAccount {
  const settings = file.providers?.[name];
  const names = settings?.key_env === undefined ? keyVariables[name] : [settings.key_env];
  const found = names.find((candidate) => env[candidate]?.trim());
  return {
    name,
    baseUrl: settings?.base_url?.replace(/\/+$/, ''),
    key: found === undefined ? undefined : env[found]?.trim(),
    keyName: names[0] as string,
  };
}

function portOf(text: string | undefined, faults: ConfigFault[]): number | undefined {
  if (text === undefined || text === '') return undefined;
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  faults.push({ place: 'GATEWAY_PORT', message: 'This must be a port from 0 to 65535.' });
  return undefined;
}

function levelOf(text: string | undefined, faults: ConfigFault[]): string | undefined {
  if (text === undefined || text === '') return undefined;
  if (isLogLevel(text)) return text;
  faults.push({ place: 'GATEWAY_LOG_LEVEL', message: `This must be one of ${logLevels.join(', ')}.` });
  return undefined;
}
