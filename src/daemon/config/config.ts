import { dirname, resolve } from 'node:path';
import type { ConfigWarning } from '../../shared/contract/configuration.ts';
import type { ConfigFault } from '../../shared/daemon-module.ts';
import { foldersOf } from '../../shared/folders.ts';
import { type KnownProvider, knownProviders, providerFacts } from '../../shared/known-providers.ts';
import { parseUsd } from '../../shared/money/money.ts';
import type { LightningNetwork, WalletBackend } from '../../shared/payments/wallet-backends.ts';
import { type Proxies, proxiesIn } from '../../shared/proxies.ts';
import { trimEnd } from '../../shared/text/trim-text.ts';
import { type CaptureConfig, captureOf } from './capture.ts';
import { type DatabaseConfig, databaseOf } from './database.ts';
import { type ConfiguredHeaders, headersOf } from './headers.ts';
import { readConfigFile } from './read-config-file.ts';
import type { AliasConfig, ConfigFile, UpstreamConfig } from './schema.ts';
import { type ReadSetting, settingsIn } from './settings-in.ts';
import { type OtlpConfig, otlpOf } from './telemetry.ts';
import { type TypedCommand, typedCommand } from './typed-command.ts';
import { levelOf, portOf } from './variables.ts';
import { workersFaults } from './workers-faults.ts';

export interface ProviderAccount {
  name: KnownProvider;
  baseUrl: string | undefined;
  /** The operator's key; undefined without one. */
  key: string | undefined;
  /** The variable to set to provide one. */
  keyName: string;
  headers: ConfiguredHeaders;
}

export interface ConfiguredUpstream extends Omit<UpstreamConfig, 'headers'> {
  key: string | undefined;
  headers: ConfiguredHeaders;
}

/**
 * The effective configuration: flags override the environment, which overrides the file, which overrides the defaults.
 */
export interface Config {
  host: string;
  port: number;
  /** How many threads serve model calls; 1: the main thread alone. */
  workers: number;
  /** An additional Unix socket to listen on, and who may connect to it. */
  socketFile: { path: string; access: 'owner' | 'group' } | undefined;
  allowedHosts: string[];
  trustedProxies: string[];
  /** Where clients reach this host, if not at the addresses it listens on: behind a reverse proxy with TLS. */
  publicUrls: { api: string | undefined; paywalls: string | undefined };
  corsOrigins: string[];
  dataFolder: string;
  configFile: string;
  /** The text of the file; empty without one. */
  configText: string;
  typed: TypedCommand;
  /** In millionths. */
  marginPpm: number;
  /** Whether the owner's workspace is prepaid, like all others. */
  allPrepaid: boolean;
  providers: ProviderAccount[];
  upstreams: ConfiguredUpstream[];
  findsLocalServers: boolean;
  /** Whether new work is rejected under overload. */
  shedsLoad: boolean;
  /** The model of calls that name none. */
  defaultModel: string | undefined;
  /** Other names for models, or for groups of them. */
  aliases: Record<string, AliasConfig>;
  /** Models to try after another one, by the name of that one. */
  fallbacks: Record<string, string[]>;
  /** For what the next route of a call is tried, besides failures of providers. */
  fallbackOn: ('context_length' | 'content_filter' | 'empty')[];
  timeouts: {
    connectMs: number;
    headersMs: number;
    firstEventMs: number;
    idleMs: number;
    outputMs: number;
    totalMs: number;
    closingMs: number;
  };
  /** How long a provider may be silent before a stream starts without its answer; 0: as long as it likes. */
  silentStartMs: number;
  /** The PostgreSQL database, by its address or by the file with it; undefined for SQLite in the data folder. */
  database: DatabaseConfig | undefined;
  /** Whether responses are stored by default. */
  storesResponses: boolean;
  responsesKeptMs: number;
  /** Maximum number of background responses in progress, over all callers. */
  backgroundRunsMax: number;
  /** The response cache. */
  cache: CacheConfig;
  /** Whether agents may sign up, and what they may use for free. */
  signUps: SignUpConfig;
  freeTier: FreeTierConfig;
  /** Typed decisions. */
  decisions: DecisionsConfig;
  /** The embedded engine: bytes, tokens and milliseconds. */
  engine: { memoryBytes: number; contextTokens: number; idleMs: number };
  /** Where the vault may store its master key. */
  vault: VaultConfig;
  /** How wallets reach others. */
  lightning: LightningConfig;
  /** Hosts of which each payment has to declare one; empty for any. */
  paymentHosts: string[];
  /** Limits on what models may pay with tools, per wallet. */
  toolSpending: { perPaymentMsat: number; perDayMsat: number };
  /** The reverse proxy of paywalls. */
  paywalls: {
    host: string;
    port: number;
    /** Addresses and networks of proxies that name their clients truthfully. */
    trustedProxies: string[] | undefined;
    /** Other proxies that it keeps configured. */
    caddy: { admin: string; server: string } | undefined;
    nginx: { file: string; command: string[] } | undefined;
  };
  /** Upstreams of paywalls that are allowed whatever their address is. */
  allowedUpstreams: string[];
  /** Whether invoices are offered for calls that credit does not cover. */
  acceptsPayments: boolean;
  /** The exchange rate of bitcoin. */
  rate: RateConfig;
  simulatorScript: string | undefined;
  /** Where spans are sent; undefined: nowhere. */
  otlp: OtlpConfig | undefined;
  /** Proxies for outgoing calls; undefined: none. */
  proxies: Proxies | undefined;
  recordings: RecordingsConfig;
  logLevel: string;
  capture: CaptureConfig;
  /** Settings in the file that no longer exist, and what replaces them. */
  removedSettings: readonly ConfigWarning[];
}

export interface SignUpConfig {
  isOpen: boolean;
  /** Bits of the proof of work. */
  difficulty: number;
  /** A day. */
  perAddress: number;
}

/** Amounts in nano-dollars, a day. */
export interface FreeTierConfig {
  /** Patterns of model names. */
  models: string[];
  requests: number;
  budget: number;
  sharedPool: number;
  /** Upper bound of a request's input. */
  inputTokens: number;
}

export interface DecisionsConfig {
  /** Patterns of the models that the host pays for. */
  models: string[];
  /** What they may cost per UTC day, in nano-dollars. */
  budget: number;
  /** Per request. */
  questionsMax: number;
  /** Decisions that run at a time. */
  concurrentMax: number;
  /** For calls without `X-Decision-Order`; undefined: the engine, then the models. */
  defaultOrder: 'peer' | 'hosted' | undefined;
  /** The share of the questions answered by peers that another source is also asked: 0 to 1. */
  agreementShare: number;
  /** A System One server. */
  engine: {
    url: string | undefined;
    key: string | undefined;
    /** The server's names of its models. */
    model: string | undefined;
    flashModel: string | undefined;
  };
}

export interface RateConfig {
  /** Nano-dollars. */
  perBitcoin: number | undefined;
  url: string | undefined;
  /** The place of the rate in the JSON there. */
  pointer: string;
  maxAgeMs: number;
}

export interface CacheConfig {
  /** The default for calls that do not set it. */
  defaultMode: 'off' | 'read-only' | 'read-write';
  ttlMs: number;
  entriesMax: number;
  bytesMax: number;
}

/** Folders of recorded provider calls. */
export interface RecordingsConfig {
  /** Where to record. */
  record: string | undefined;
  /** The recordings to replay. */
  replay: string | undefined;
  replaySpeed: 'real' | 'instant';
}

export interface VaultConfig {
  /** The store of the first master key; undefined: the first one that works. */
  store: 'file' | 'keychain' | 'passphrase' | 'plain' | undefined;
  masterKeyFile: string | undefined;
  passphraseFile: string | undefined;
  usesKeychain: boolean;
  allowsPlainFile: boolean;
}

/** How to reach the Lightning back end. */
export interface LightningConfig {
  backend: WalletBackend;
  /** Without a trailing slash; undefined for the default address. */
  url: string | undefined;
  /** The certificate to trust, in PEM, if no known authority signed it. */
  certificateFile: string | undefined;
  network: LightningNetwork;
  /** The environment variable with the secret, and its value. */
  secretVariable: string;
  secret: string | undefined;
  secretFile: string | undefined;
}

/** Command-line values; undefined ones come from elsewhere. */
export interface ConfigFlags {
  port?: number | undefined;
  workers?: number | undefined;
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
  /** Used in place of the text of the file. */
  text?: string | undefined;
  /** Whether there must be a file, as there was one before. */
  hasFile?: boolean;
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

/** Reads and checks the whole configuration; throws a ConfigInvalid with all faults. */
export async function loadConfig({
  flags,
  env,
  platform,
  home,
  text: given,
  hasFile = false,
}: Sources): Promise<Readonly<Config>> {
  const folders = foldersOf({ env, platform, home });
  const configFile = flags.configFile ?? `${folders.config}/config.yaml`;
  const required = hasFile || flags.configFile !== undefined;
  const { file, faults, text, removed } = await readConfigFile(configFile, { required, given, home });
  const setting = settingsIn(file);
  const port = flags.port ?? portOf('GATEWAY_PORT', env, faults) ?? setting('listen.port');
  const paywallsPort = portOf('GATEWAY_PAYWALLS_PORT', env, faults);
  const logLevel = flags.logLevel ?? levelOf(env.GATEWAY_LOG_LEVEL, faults) ?? setting('log.level');
  const dataFolder = resolve(flags.dataFolder ?? folders.data);
  const otlp = otlpOf(file, env, faults);
  const proxies = proxiesIn(env, faults);
  const database = databaseOf(file, { env, configFile }, faults);
  const workers = flags.workers ?? setting('workers');
  if (workers > 1) faults.push(...workersFaults({ flags, platform, usesServer: database !== undefined }));
  if (faults.length > 0) throw new ConfigInvalid(faults);
  return Object.freeze({
    host: flags.host ?? setting('listen.host'),
    port,
    workers,
    socketFile: socketFileOf({ flags, env, file, setting, folder: dirname(configFile) }),
    allowedHosts: setting('listen.allowed_hosts'),
    trustedProxies: setting('listen.trusted_proxies'),
    publicUrls: { api: file.listen?.public_url, paywalls: file.paywalls?.public_url },
    corsOrigins: setting('cors.origins'),
    dataFolder,
    configFile: resolve(configFile),
    configText: text,
    typed: typedCommand(dataFolder, { env, platform, home }),
    marginPpm: Math.round(setting('margin_percent') * 10_000),
    allPrepaid: setting('billing.mode') === 'prepaid',
    providers: builtInProviders(file).map((name) => accountOf(name, file, env)),
    upstreams: setting('upstreams').map((upstream) => ({
      ...upstream,
      headers: headersOf(upstream.headers, env),
      key: upstream.key_env === undefined ? undefined : env[upstream.key_env]?.trim() || undefined,
    })),
    findsLocalServers: setting('local_servers'),
    shedsLoad: setting('shed_load'),
    defaultModel: file.default_model,
    aliases: setting('aliases'),
    fallbacks: setting('fallbacks'),
    fallbackOn: setting('fallback_on'),
    timeouts: {
      connectMs: setting('timeouts.connect_ms'),
      headersMs: setting('timeouts.headers_ms'),
      firstEventMs: setting('timeouts.first_event_ms'),
      idleMs: setting('timeouts.idle_ms'),
      outputMs: setting('timeouts.output_ms'),
      totalMs: setting('timeouts.total_ms'),
      closingMs: setting('timeouts.closing_ms'),
    },
    silentStartMs: setting('timeouts.silent_start_ms'),
    database,
    storesResponses: setting('storage.store_responses'),
    responsesKeptMs: setting('storage.responses_days') * dayMs,
    backgroundRunsMax: setting('background.max_running'),
    cache: cacheOf(setting),
    signUps: {
      isOpen: setting('agents.sign_ups'),
      difficulty: setting('agents.difficulty'),
      perAddress: setting('agents.sign_ups_per_address'),
    },
    freeTier: freeTierOf(setting),
    decisions: decisionsOf(file, setting, env),
    engine: {
      memoryBytes: setting('engine.memory_mb') * 1024 ** 2,
      contextTokens: setting('engine.context_tokens'),
      idleMs: setting('engine.idle_seconds') * 1000,
    },
    vault: vaultOf(file, { setting, env, folder: dirname(configFile) }),
    lightning: lightningOf(file, { setting, env, folder: dirname(configFile) }),
    paymentHosts: setting('wallet.declared_hosts'),
    toolSpending: {
      perPaymentMsat: setting('mcp.max_payment_sats') * 1000,
      perDayMsat: setting('mcp.max_daily_sats') * 1000,
    },
    paywalls: {
      host: setting('paywalls.host'),
      port: paywallsPort ?? setting('paywalls.port'),
      trustedProxies: file.paywalls?.trusted_proxies,
      caddy:
        file.paywalls?.caddy?.admin === undefined
          ? undefined
          : {
              admin: file.paywalls.caddy.admin,
              server: setting('paywalls.caddy.server'),
            },
      nginx:
        file.paywalls?.nginx?.file === undefined
          ? undefined
          : {
              file: resolve(dirname(configFile), file.paywalls.nginx.file),
              command: setting('paywalls.nginx.command'),
            },
    },
    allowedUpstreams: setting('paywalls.allowed_upstreams'),
    acceptsPayments: setting('payments.accept'),
    rate: rateOf(file, setting),
    simulatorScript: flags.simulate ?? (file.simulate && resolve(dirname(configFile), file.simulate)),
    recordings: {
      record: flags.record && resolve(flags.record),
      replay: flags.replay && resolve(flags.replay),
      replaySpeed: flags.replaySpeed ?? 'instant',
    },
    otlp,
    proxies,
    logLevel,
    removedSettings: removed,
    capture: captureOf(setting),
  });
}

/** Paths in the file are relative to it; paths in flags and variables to the working directory. */
function socketFileOf({
  flags,
  env,
  file,
  setting,
  folder,
}: Pick<Sources, 'flags' | 'env'> & { file: ConfigFile; setting: ReadSetting; folder: string }) {
  const { socket } = file.listen ?? {};
  const here = flags.socket ?? (env.GATEWAY_SOCKET || undefined);
  const path = here === undefined ? socket && resolve(folder, socket) : resolve(here);
  return path === undefined ? undefined : { path, access: setting('listen.socket_access') };
}

function freeTierOf(setting: ReadSetting): FreeTierConfig {
  return {
    models: setting('agents.free_models'),
    requests: setting('agents.free_requests'),
    budget: parseUsd(setting('agents.free_budget_usd')) ?? 0,
    sharedPool: parseUsd(setting('agents.free_pool_usd')) ?? 0,
    inputTokens: setting('agents.free_input_tokens'),
  };
}

function decisionsOf(
  { decisions: { engine } = {} }: ConfigFile,
  setting: ReadSetting,
  env: Sources['env'],
): DecisionsConfig {
  const defaultOrder = setting('decisions.default_order');
  return {
    models: setting('decisions.models'),
    budget: parseUsd(setting('decisions.daily_budget_usd')) ?? 0,
    questionsMax: setting('decisions.max_questions'),
    concurrentMax: setting('decisions.max_concurrent'),
    defaultOrder: defaultOrder === 'engine' ? undefined : defaultOrder,
    agreementShare: setting('decisions.peer_agreement_share'),
    engine: {
      url: engine?.url,
      key: engine?.key_env === undefined ? undefined : env[engine.key_env]?.trim() || undefined,
      model: engine?.model,
      flashModel: engine?.flash_model,
    },
  };
}

function rateOf({ payments }: ConfigFile, setting: ReadSetting): RateConfig {
  const perBitcoin = payments?.usd_per_btc === undefined ? undefined : parseUsd(payments.usd_per_btc);
  return {
    // A rate of zero is none.
    perBitcoin: perBitcoin || undefined,
    url: payments?.rate_url,
    pointer: payments?.rate_pointer ?? '',
    maxAgeMs: setting('payments.rate_max_age_seconds') * 1000,
  };
}

function cacheOf(setting: ReadSetting): CacheConfig {
  return {
    defaultMode: setting('cache.default'),
    ttlMs: setting('cache.ttl_seconds') * 1000,
    entriesMax: setting('cache.max_entries'),
    bytesMax: setting('cache.max_mb') * 1024 * 1024,
  };
}

function vaultOf(
  { vault }: ConfigFile,
  { setting, env, folder }: { setting: ReadSetting; env: Sources['env']; folder: string },
): VaultConfig {
  return {
    store: vault?.store,
    masterKeyFile: env.GATEWAY_MASTER_KEY_FILE || fileIn(folder, vault?.master_key_file),
    passphraseFile: env.GATEWAY_VAULT_PASSPHRASE_FILE || fileIn(folder, vault?.passphrase_file),
    usesKeychain: setting('vault.keychain'),
    allowsPlainFile: setting('vault.insecure_plain_file'),
  };
}

function lightningOf(
  { wallet }: ConfigFile,
  { setting, env, folder }: { setting: ReadSetting; env: Sources['env']; folder: string },
): LightningConfig {
  const secretVariable = setting('wallet.secret_env');
  return {
    backend: setting('wallet.backend'),
    url: wallet?.url && trimEnd(wallet.url, '/'),
    certificateFile: fileIn(folder, wallet?.certificate_file),
    network: setting('wallet.network'),
    secretVariable,
    secret: env[secretVariable]?.trim() || undefined,
    secretFile: fileIn(folder, wallet?.secret_file),
  };
}

function fileIn(folder: string, name: string | undefined): string | undefined {
  return name === undefined ? undefined : resolve(folder, name);
}

/** The known providers; an upstream of the same name takes the place of one. */
function builtInProviders({ upstreams = [] }: ConfigFile): KnownProvider[] {
  const replaced = new Set(upstreams.map(({ name }) => name));
  return knownProviders.filter((name) => !replaced.has(name));
}

function accountOf(name: KnownProvider, file: ConfigFile, env: Sources['env']): ProviderAccount {
  const settings = file.providers?.[name];
  const names = settings?.key_env === undefined ? providerFacts[name].keyVariables : [settings.key_env];
  const found = names.find((candidate) => env[candidate]?.trim());
  return {
    name,
    baseUrl: settings?.base_url && trimEnd(settings.base_url, '/'),
    key: found === undefined ? undefined : env[found]?.trim(),
    keyName: found ?? (names[0] as string),
    headers: headersOf(settings?.headers, env),
  };
}
