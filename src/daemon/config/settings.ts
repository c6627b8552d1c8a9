import { ConfigFile } from './schema.ts';

/** One setting of the file, and where else it may come from. */
export interface Setting {
  /** `listen.port`; maps with free keys and lists are one setting. */
  name: string;
  /** What holds where nobody says anything; null for nothing. */
  usual: unknown;
  /** Variables of the environment, the first one that is set counts. */
  env?: readonly string[];
  /** As it is typed: `--port`. */
  flag?: string;
  /** Whether a running daemon takes a new value; the others need a restart. */
  isLive: boolean;
}

type Known = Omit<Setting, 'name' | 'isLive' | 'usual'> & { usual?: unknown; needsRestart?: true };

const restart = { needsRestart: true } as const;

const known: Record<string, Known> = {
  'listen.host': { usual: '127.0.0.1', flag: '--host', ...restart },
  'listen.port': { usual: 4100, env: ['GATEWAY_PORT'], flag: '--port', ...restart },
  'listen.socket': { env: ['GATEWAY_SOCKET'], flag: '--socket', ...restart },
  'listen.socket_access': { usual: 'owner', ...restart },
  'listen.allowed_hosts': { usual: [], ...restart },
  'cors.origins': { usual: [], ...restart },
  'providers.openai.key_env': { usual: 'OPENAI_API_KEY' },
  'providers.anthropic.key_env': { usual: 'ANTHROPIC_API_KEY' },
  'providers.google.key_env': { usual: 'GEMINI_API_KEY' },
  'providers.openrouter.key_env': { usual: 'OPENROUTER_API_KEY' },
  'providers.vercel.key_env': { usual: 'AI_GATEWAY_API_KEY' },
  upstreams: { usual: [] },
  local_servers: { usual: true, ...restart },
  shed_load: { usual: true, ...restart },
  aliases: { usual: {} },
  margin_percent: { usual: 0 },
  'billing.mode': { usual: 'postpaid' },
  'timeouts.connect_ms': { usual: 5_000, ...restart },
  'timeouts.headers_ms': { usual: 600_000 },
  'timeouts.first_event_ms': { usual: 300_000 },
  'timeouts.idle_ms': { usual: 120_000 },
  'storage.store_responses': { usual: true },
  'storage.responses_days': { usual: 30 },
  'background.max_running': { usual: 256 },
  'cache.default': { usual: 'off' },
  'cache.ttl_seconds': { usual: 3_600 },
  'cache.max_entries': { usual: 10_000 },
  'cache.max_mb': { usual: 256 },
  'vault.store': restart,
  'vault.master_key_file': { env: ['GATEWAY_MASTER_KEY_FILE'], ...restart },
  'vault.passphrase_file': { env: ['GATEWAY_VAULT_PASSPHRASE_FILE'], ...restart },
  'vault.keychain': { usual: true, ...restart },
  'vault.insecure_plain_file': { usual: false, ...restart },
  simulate: { flag: '--simulate' },
  'telemetry.otlp.endpoint': {
    env: ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'],
    ...restart,
  },
  'log.level': { usual: 'warn', env: ['GATEWAY_LOG_LEVEL'], flag: '--log-level' },
  'log.bodies': { usual: false, ...restart },
};

interface Shape {
  properties?: Record<string, Shape>;
}

/** The names of all settings, in the order of the schema. */
function namesOf({ properties }: Shape, name = ''): string[] {
  if (properties === undefined) return [name];
  return Object.entries(properties).flatMap(([key, shape]) => namesOf(shape, name ? `${name}.${key}` : key));
}

/** Every setting; one that is not listed here comes from the file alone and may be anything. */
export const settings: readonly Setting[] = namesOf(ConfigFile as Shape).map((name) => {
  const { usual = null, needsRestart, ...rest } = known[name] ?? {};
  const isLive = needsRestart === undefined && (name in known || name.startsWith('providers.'));
  return { name, usual, isLive, ...rest };
});
