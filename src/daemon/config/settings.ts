import { knownProviders, providerFacts } from '../../shared/known-providers.ts';
import { databaseUrlVariable } from '../../shared/storage/database-url.ts';
import type { ConfigFlags } from './config.ts';
import { defaults } from './defaults.ts';
import { ConfigFile } from './schema.ts';

/** A setting of the file and its other sources. */
export interface Setting {
  /** `listen.port`; maps with free keys and lists are one setting. */
  name: string;
  /** The default; null for none. */
  usual: unknown;
  /** Environment variables; the first one set applies. */
  env?: readonly string[];
  flag?: keyof typeof settingFlags;
  /** Whether it can change at run time; others need a restart. */
  isLive: boolean;
}

/** The flags of `gateway serve` that set a setting, with their names on the command line. */
export const settingFlags = {
  '--host': 'host',
  '--port': 'port',
  '--workers': 'workers',
  '--socket': 'socket',
  '--simulate': 'simulate',
  '--log-level': 'logLevel',
} as const satisfies Record<string, keyof ConfigFlags>;

type Known = Pick<Setting, 'env' | 'flag'> & { needsRestart?: true };

const restart = { needsRestart: true } as const;

/** All settings except those of the known providers. */
export const knownSettings: Readonly<Record<string, Known>> = {
  'listen.host': { flag: '--host', ...restart },
  'listen.port': { env: ['GATEWAY_PORT'], flag: '--port', ...restart },
  'listen.socket': { env: ['GATEWAY_SOCKET'], flag: '--socket', ...restart },
  'listen.socket_access': restart,
  'listen.allowed_hosts': restart,
  'listen.trusted_proxies': restart,
  'listen.public_url': {},
  'cors.origins': restart,
  workers: { flag: '--workers', ...restart },
  upstreams: {},
  local_servers: restart,
  shed_load: restart,
  default_model: {},
  aliases: {},
  fallbacks: {},
  fallback_on: {},
  margin_percent: {},
  'billing.mode': {},
  'timeouts.connect_ms': restart,
  'timeouts.headers_ms': {},
  'timeouts.first_event_ms': {},
  'timeouts.silent_start_ms': {},
  'timeouts.idle_ms': {},
  'timeouts.output_ms': {},
  'timeouts.total_ms': {},
  'timeouts.closing_ms': {},
  'storage.url': { env: [databaseUrlVariable], ...restart },
  'storage.url_file': restart,
  'storage.store_responses': {},
  'storage.responses_days': {},
  'background.max_running': {},
  'agents.sign_ups': {},
  'agents.sign_ups_per_address': {},
  'agents.difficulty': {},
  'agents.free_models': {},
  'agents.free_requests': {},
  'agents.free_budget_usd': {},
  'agents.free_pool_usd': {},
  'agents.free_input_tokens': {},
  'decisions.models': {},
  'decisions.daily_budget_usd': {},
  'decisions.max_questions': {},
  'decisions.max_concurrent': {},
  'decisions.default_order': {},
  'decisions.peer_agreement_share': {},
  'decisions.engine.url': {},
  'decisions.engine.key_env': {},
  'decisions.engine.model': {},
  'decisions.engine.flash_model': {},
  'engine.memory_mb': {},
  'engine.context_tokens': {},
  'engine.idle_seconds': {},
  'cache.default': {},
  'cache.ttl_seconds': {},
  'cache.max_entries': {},
  'cache.max_mb': {},
  'vault.store': restart,
  'vault.master_key_file': { env: ['GATEWAY_MASTER_KEY_FILE'], ...restart },
  'vault.passphrase_file': { env: ['GATEWAY_VAULT_PASSPHRASE_FILE'], ...restart },
  'vault.keychain': restart,
  'vault.insecure_plain_file': restart,
  'wallet.backend': {},
  'wallet.url': {},
  'wallet.certificate_file': {},
  'wallet.network': {},
  'wallet.secret_env': {},
  'wallet.secret_file': {},
  'wallet.declared_hosts': {},
  'mcp.max_payment_sats': {},
  'mcp.max_daily_sats': {},
  'paywalls.host': restart,
  'paywalls.port': { env: ['GATEWAY_PAYWALLS_PORT'], ...restart },
  'paywalls.public_url': {},
  'paywalls.allowed_upstreams': {},
  'paywalls.trusted_proxies': restart,
  'paywalls.caddy.admin': restart,
  'paywalls.caddy.server': restart,
  'paywalls.nginx.file': restart,
  'paywalls.nginx.command': restart,
  'payments.accept': {},
  'payments.usd_per_btc': {},
  'payments.rate_url': {},
  'payments.rate_pointer': {},
  'payments.rate_max_age_seconds': {},
  simulate: { flag: '--simulate' },
  'telemetry.otlp.endpoint': {
    env: ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'],
    ...restart,
  },
  'capture.content': {},
  'capture.memory_mb': {},
  'capture.disk_days': {},
  'capture.disk_mb': {},
  'capture.redact': {},
  'capture.redact_patterns': {},
  'capture.honour_store_false': {},
  'log.level': { env: ['GATEWAY_LOG_LEVEL'], flag: '--log-level' },
};

const usual: Readonly<Record<string, unknown>> = {
  ...defaults,
  ...Object.fromEntries(
    knownProviders.map((name) => [`providers.${name}.key_env`, providerFacts[name].keyVariables[0]]),
  ),
};

interface Shape {
  properties?: Record<string, Shape>;
}

/** The names of all settings, in schema order. */
function namesOf({ properties }: Shape, name = ''): string[] {
  if (properties === undefined) return [name];
  return Object.entries(properties).flatMap(([key, shape]) => namesOf(shape, name ? `${name}.${key}` : key));
}

/** All settings of the file. */
export const settings: readonly Setting[] = namesOf(ConfigFile as Shape).map((name) => {
  const { needsRestart = false, ...elsewhere } = knownSettings[name] ?? {};
  return { name, usual: usual[name] ?? null, isLive: !needsRestart, ...elsewhere };
});
