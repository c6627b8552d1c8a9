import { type Static, type TOptional, Type } from 'typebox';
import { workersMax } from '../../shared/constants/listen-defaults.ts';
import { type KnownProvider, knownProviders } from '../../shared/known-providers.ts';
import { redactionKinds } from '../../shared/masking/redaction-kinds.ts';
import { lightningNetworks, walletBackends } from '../../shared/payments/wallet-backends.ts';
import { WrittenHeaders } from './headers.ts';
import { logLevels } from './log-levels.ts';

/*
 * The schema of the config file. `description` states the expected value and is quoted in faults.
 */

const text = Type.String({ minLength: 1, description: 'text' });
const url = Type.String({
  pattern: '^https?://[^\\s/]+(/\\S*)?$',
  maxLength: 500,
  description: 'an address that starts with http:// or https://',
});
const origin = Type.String({
  pattern:
    '^(null|file://|https?://[^\\s/?#@*]+/?|(?!https?:)[A-Za-z][A-Za-z\\d+.-]*://([^\\s/?#@*]+/?|\\*))$',
  maxLength: 500,
  description: 'an origin like https://app.example, app://name or vscode-webview://*, or "null"',
});
const publicUrl = Type.String({
  pattern: '^https?://[^\\s/?#@]+/?$',
  maxLength: 500,
  description: 'an origin like https://gateway.example',
});
const variable = Type.String({ minLength: 1, description: 'text: the name of an environment variable' });
const flag = Type.Boolean({ description: 'true or false' });
const dollars = Type.String({
  pattern: '^\\d{1,7}(\\.\\d{1,9})?$',
  description: 'text: dollars like "0.59"',
});
const milliseconds = Type.Integer({
  minimum: 1,
  maximum: 3_600_000,
  description: 'milliseconds from 1 to 3600000',
});
const millisecondsOfDay = Type.Integer({
  minimum: 1,
  maximum: 86_400_000,
  description: 'milliseconds from 1 to 86400000',
});
const sats = Type.Integer({
  minimum: 0,
  maximum: 100_000_000_000,
  description: 'satoshis from 0 to 100000000000',
});
const map = { additionalProperties: false, description: 'a map' } as const;

const price = Type.String({
  pattern: '^(\\d{1,3}|[0-3]\\d{3})(\\.\\d{1,9})?$',
  description: 'text: dollars like "0.59", below 4000',
});

const ConfiguredPrices = Type.Object(
  {
    input: price,
    output: price,
    cached_input: Type.Optional(price),
    cache_write: Type.Optional(price),
  },
  { additionalProperties: false, description: 'a map of input and output' },
);

const ProviderConfig = Type.Object(
  {
    key_env: Type.Optional(variable),
    base_url: Type.Optional(url),
    headers: Type.Optional(WrittenHeaders),
  },
  { additionalProperties: false, description: 'a map of key_env, base_url and headers' },
);

/** Names with dots. */
export const memberPathPattern = '^(?!__)[A-Za-z_]\\w*(\\.(?!__)[A-Za-z_]\\w*)*$';

const memberPath = Type.String({
  pattern: memberPathPattern,
  maxLength: 200,
  description: 'the name of a member, or names with dots, such as tools.function.strict',
});

const UpstreamConfig = Type.Object(
  {
    name: Type.String({
      pattern: '^[a-z0-9][a-z0-9_-]{0,39}$',
      description: 'text of lowercase letters, digits, _ and -, at most 40',
    }),
    base_url: url,
    key_env: Type.Optional(variable),
    headers: Type.Optional(WrittenHeaders),
    /** `"*"` forwards any name. */
    models: Type.Array(text, { minItems: 1, description: 'a list of names, or ["*"]' }),
    wire: Type.Optional(
      Type.Enum(['chat', 'responses', 'messages'], { description: 'chat, responses or messages' }),
    ),
    /** One price for all models, or one per model. */
    prices: Type.Optional(Type.Union([ConfiguredPrices, Type.Record(Type.String(), ConfiguredPrices)])),
    /** Members of requests that are left out, and others that are sent under another name. */
    drop: Type.Optional(Type.Array(memberPath, { description: 'a list of members, such as stream_options' })),
    rename: Type.Optional(
      Type.Record(Type.String(), memberPath, { description: 'a map of members to their new names' }),
    ),
  },
  { additionalProperties: false, description: 'a map with a name, a base_url and models' },
);

/** A model; models in the order in which to try them; or models with the weights by which calls are distributed. */
const AliasConfig = Type.Union([
  text,
  Type.Array(text, { minItems: 1, description: 'a list of models' }),
  Type.Record(
    Type.String(),
    Type.Number({ minimum: 0.001, maximum: 1000, description: 'a weight from 0.001 to 1000' }),
    { minProperties: 1, description: 'a map of models to weights' },
  ),
]);

const logLevel = Type.Enum([...logLevels], { description: `one of ${logLevels.join(', ')}` });

/** The file `config.yaml`; `docs/configuration.md` describes each setting. All are optional. */
export const ConfigFile = Type.Object(
  {
    listen: Type.Optional(
      Type.Object(
        {
          host: Type.Optional(text),
          port: Type.Optional(
            Type.Integer({ minimum: 0, maximum: 65_535, description: 'a port from 0 to 65535' }),
          ),
          socket: Type.Optional(Type.String({ minLength: 1, description: 'the path of a socket' })),
          socket_access: Type.Optional(
            Type.Enum(['owner', 'group'], { description: 'owner or group: who may connect to the socket' }),
          ),
          allowed_hosts: Type.Optional(Type.Array(text, { description: 'a list of names' })),
          trusted_proxies: Type.Optional(
            Type.Array(text, {
              description: 'a list of addresses and networks: 10.0.0.7, 10.1.0.0/16, unix',
            }),
          ),
          public_url: Type.Optional(publicUrl),
        },
        map,
      ),
    ),
    cors: Type.Optional(
      Type.Object({ origins: Type.Array(origin, { description: 'a list of origins' }) }, map),
    ),
    margin_percent: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1000,
        multipleOf: 0.0001,
        description: 'a number from 0 to 1000 with at most 4 decimals',
      }),
    ),
    billing: Type.Optional(
      Type.Object(
        { mode: Type.Optional(Type.Enum(['postpaid', 'prepaid'], { description: 'postpaid or prepaid' })) },
        map,
      ),
    ),
    providers: Type.Optional(
      Type.Object(
        Object.fromEntries(knownProviders.map((name) => [name, Type.Optional(ProviderConfig)])) as Record<
          KnownProvider,
          TOptional<typeof ProviderConfig>
        >,
        map,
      ),
    ),
    workers: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: workersMax,
        description: `a number of threads from 1 to ${workersMax}`,
      }),
    ),
    upstreams: Type.Optional(Type.Array(UpstreamConfig, { description: 'a list of upstreams' })),
    local_servers: Type.Optional(flag),
    shed_load: Type.Optional(flag),
    default_model: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: 'a model id such as openai/gpt-5' }),
    ),
    aliases: Type.Optional(Type.Record(Type.String(), AliasConfig, { description: 'a map of names' })),
    fallbacks: Type.Optional(
      Type.Record(Type.String(), Type.Array(text, { minItems: 1, description: 'a list of models' }), {
        description: 'a map of models to lists of models',
      }),
    ),
    fallback_on: Type.Optional(
      Type.Array(Type.Enum(['context_length', 'content_filter', 'empty']), {
        description: 'a list of context_length, content_filter and empty',
      }),
    ),
    timeouts: Type.Optional(
      Type.Object(
        {
          connect_ms: Type.Optional(milliseconds),
          headers_ms: Type.Optional(milliseconds),
          first_event_ms: Type.Optional(milliseconds),
          silent_start_ms: Type.Optional(
            Type.Integer({ minimum: 0, maximum: 3_600_000, description: 'milliseconds from 0 to 3600000' }),
          ),
          idle_ms: Type.Optional(milliseconds),
          output_ms: Type.Optional(millisecondsOfDay),
          total_ms: Type.Optional(millisecondsOfDay),
          closing_ms: Type.Optional(milliseconds),
        },
        map,
      ),
    ),
    storage: Type.Optional(
      Type.Object(
        {
          url: Type.Optional(
            Type.String({
              minLength: 1,
              maxLength: 2000,
              description: 'an address like postgres://USER@HOST/DATABASE, without a password',
            }),
          ),
          url_file: Type.Optional(text),
          store_responses: Type.Optional(flag),
          responses_days: Type.Optional(
            Type.Integer({ minimum: 1, maximum: 3650, description: 'a number of days from 1 to 3650' }),
          ),
        },
        map,
      ),
    ),
    agents: Type.Optional(
      Type.Object(
        {
          sign_ups: Type.Optional(flag),
          sign_ups_per_address: Type.Optional(
            Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'a number from 1 to 1000000' }),
          ),
          difficulty: Type.Optional(
            Type.Integer({ minimum: 0, maximum: 40, description: 'a number of bits from 0 to 40' }),
          ),
          free_models: Type.Optional(
            Type.Array(text, { description: 'a list of models, with * as a wildcard' }),
          ),
          free_requests: Type.Optional(
            Type.Integer({ minimum: 0, maximum: 1_000_000, description: 'a number from 0 to 1000000' }),
          ),
          free_budget_usd: Type.Optional(dollars),
          free_pool_usd: Type.Optional(dollars),
          free_input_tokens: Type.Optional(
            Type.Integer({ minimum: 0, maximum: 10_000_000, description: 'a number from 0 to 10000000' }),
          ),
        },
        map,
      ),
    ),
    decisions: Type.Optional(
      Type.Object(
        {
          models: Type.Optional(Type.Array(text, { description: 'a list of models, with * as a wildcard' })),
          daily_budget_usd: Type.Optional(dollars),
          max_questions: Type.Optional(
            Type.Integer({ minimum: 1, maximum: 1000, description: 'a number from 1 to 1000' }),
          ),
          max_concurrent: Type.Optional(
            Type.Integer({ minimum: 1, maximum: 10_000, description: 'a number from 1 to 10000' }),
          ),
          default_order: Type.Optional(
            Type.Enum(['engine', 'peer', 'hosted'], { description: 'engine, peer or hosted' }),
          ),
          peer_agreement_share: Type.Optional(
            Type.Number({ minimum: 0, maximum: 1, description: 'a share from 0 to 1' }),
          ),
          engine: Type.Optional(
            Type.Object(
              {
                url: Type.Optional(url),
                key_env: Type.Optional(variable),
                model: Type.Optional(text),
                flash_model: Type.Optional(text),
              },
              map,
            ),
          ),
        },
        map,
      ),
    ),
    engine: Type.Optional(
      Type.Object(
        {
          memory_mb: Type.Optional(
            Type.Integer({ minimum: 64, maximum: 10_000_000, description: 'megabytes from 64 to 10000000' }),
          ),
          context_tokens: Type.Optional(
            Type.Integer({ minimum: 256, maximum: 10_000_000, description: 'a number from 256 to 10000000' }),
          ),
          idle_seconds: Type.Optional(
            Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'seconds from 1 to 1000000' }),
          ),
        },
        map,
      ),
    ),
    background: Type.Optional(
      Type.Object(
        {
          max_running: Type.Optional(
            Type.Integer({ minimum: 1, maximum: 10_000, description: 'a number from 1 to 10000' }),
          ),
        },
        map,
      ),
    ),
    cache: Type.Optional(
      Type.Object(
        {
          default: Type.Optional(
            Type.Enum(['off', 'read-only', 'read-write'], { description: 'off, read-only or read-write' }),
          ),
          ttl_seconds: Type.Optional(
            Type.Integer({ minimum: 1, maximum: 31_536_000, description: 'seconds from 1 to 31536000' }),
          ),
          max_entries: Type.Optional(
            Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'a number from 1 to 1000000' }),
          ),
          max_mb: Type.Optional(
            Type.Integer({ minimum: 1, maximum: 10_000, description: 'megabytes from 1 to 10000' }),
          ),
        },
        map,
      ),
    ),
    vault: Type.Optional(
      Type.Object(
        {
          store: Type.Optional(
            Type.Enum(['file', 'keychain', 'passphrase', 'plain'], {
              description: 'file, keychain, passphrase or plain',
            }),
          ),
          master_key_file: Type.Optional(text),
          passphrase_file: Type.Optional(text),
          keychain: Type.Optional(flag),
          insecure_plain_file: Type.Optional(flag),
        },
        map,
      ),
    ),
    wallet: Type.Optional(
      Type.Object(
        {
          backend: Type.Optional(
            Type.Enum([...walletBackends], { description: `one of ${walletBackends.join(', ')}` }),
          ),
          url: Type.Optional(url),
          certificate_file: Type.Optional(text),
          network: Type.Optional(
            Type.Enum([...lightningNetworks], { description: `one of ${lightningNetworks.join(', ')}` }),
          ),
          secret_env: Type.Optional(variable),
          secret_file: Type.Optional(text),
          declared_hosts: Type.Optional(Type.Array(text, { description: 'a list of names' })),
        },
        map,
      ),
    ),
    mcp: Type.Optional(
      Type.Object({ max_payment_sats: Type.Optional(sats), max_daily_sats: Type.Optional(sats) }, map),
    ),
    paywalls: Type.Optional(
      Type.Object(
        {
          host: Type.Optional(text),
          port: Type.Optional(
            Type.Integer({ minimum: 0, maximum: 65_535, description: 'a port from 0 to 65535' }),
          ),
          public_url: Type.Optional(publicUrl),
          allowed_upstreams: Type.Optional(
            Type.Array(text, { description: 'a list of host names and addresses' }),
          ),
          trusted_proxies: Type.Optional(
            Type.Array(text, { description: 'a list of addresses and networks: 10.0.0.7, 10.1.0.0/16' }),
          ),
          caddy: Type.Optional(Type.Object({ admin: Type.Optional(url), server: Type.Optional(text) }, map)),
          nginx: Type.Optional(
            Type.Object(
              {
                file: Type.Optional(text),
                command: Type.Optional(
                  Type.Array(text, { minItems: 1, description: 'a list: a program and its arguments' }),
                ),
              },
              map,
            ),
          ),
        },
        map,
      ),
    ),
    payments: Type.Optional(
      Type.Object(
        {
          accept: Type.Optional(flag),
          usd_per_btc: Type.Optional(
            Type.String({
              pattern: '^([1-9]\\d{3,5}|[1-8]\\d{6})(\\.\\d{1,9})?$|^9000000(\\.0{1,9})?$',
              description: 'text: dollars from "1000" to "9000000"',
            }),
          ),
          rate_url: Type.Optional(url),
          rate_pointer: Type.Optional(
            Type.String({
              pattern: '^(/[^/]*)*$',
              maxLength: 200,
              description: 'a JSON pointer like /bitcoin/usd',
            }),
          ),
          rate_max_age_seconds: Type.Optional(
            Type.Integer({ minimum: 1, maximum: 86_400, description: 'seconds from 1 to 86400' }),
          ),
        },
        map,
      ),
    ),
    simulate: Type.Optional(text),
    telemetry: Type.Optional(
      Type.Object({ otlp: Type.Optional(Type.Object({ endpoint: Type.Optional(url) }, map)) }, map),
    ),
    capture: Type.Optional(
      Type.Object(
        {
          content: Type.Optional(
            Type.Enum(['off', 'memory', 'disk'], { description: 'off, memory or disk' }),
          ),
          memory_mb: Type.Optional(
            Type.Integer({ minimum: 1, maximum: 4_096, description: 'megabytes from 1 to 4096' }),
          ),
          disk_days: Type.Optional(
            Type.Integer({ minimum: 1, maximum: 3_650, description: 'days from 1 to 3650' }),
          ),
          disk_mb: Type.Optional(
            Type.Integer({ minimum: 16, maximum: 1_048_576, description: 'megabytes from 16 to 1048576' }),
          ),
          redact: Type.Optional(
            Type.Array(Type.Enum([...redactionKinds], { description: redactionKinds.join(', ') }), {
              maxItems: redactionKinds.length,
              description: `a list of ${redactionKinds.join(', ')}`,
            }),
          ),
          redact_patterns: Type.Optional(
            Type.Array(Type.String({ minLength: 1, maxLength: 500, description: 'a regular expression' }), {
              maxItems: 32,
              description: 'a list of up to 32 regular expressions',
            }),
          ),
          honour_store_false: Type.Optional(flag),
        },
        map,
      ),
    ),
    log: Type.Optional(Type.Object({ level: Type.Optional(logLevel) }, map)),
  },
  { additionalProperties: false, description: 'a map of settings' },
);

export type ConfigFile = Static<typeof ConfigFile>;
export type ConfiguredPrices = Static<typeof ConfiguredPrices>;
export type AliasConfig = Static<typeof AliasConfig>;
export type UpstreamConfig = Static<typeof UpstreamConfig>;

/** Whether an upstream's prices apply to all of its models. */
export function isOnePrice(prices: NonNullable<UpstreamConfig['prices']>): prices is ConfiguredPrices {
  return typeof prices.input === 'string';
}
