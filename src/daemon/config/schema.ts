import { type Static, Type } from 'typebox';

const Url = Type.String({ pattern: '^https?://[^\\s/]+(/\\S*)?$', maxLength: 500 });
const Name = Type.String({ pattern: '^[a-z0-9][a-z0-9_-]{0,39}$' });
const Dollars = Type.String({ pattern: '^\\d{1,7}(\\.\\d{1,9})?$' });
const Milliseconds = Type.Integer({ minimum: 1, maximum: 3_600_000 });
const closed = { additionalProperties: false } as const;

/** Dollars per million tokens, as decimal strings. */
const ConfiguredPrices = Type.Object(
  {
    input: Dollars,
    output: Dollars,
    cached_input: Type.Optional(Dollars),
    cache_write: Type.Optional(Dollars),
  },
  closed,
);

const ProviderConfig = Type.Object(
  {
    key_env: Type.Optional(
      Type.String({ description: 'Name of the environment variable that holds the key.' }),
    ),
    base_url: Type.Optional(Url),
  },
  closed,
);

const UpstreamConfig = Type.Object(
  {
    name: Name,
    base_url: Url,
    key_env: Type.Optional(Type.String()),
    models: Type.Array(Type.String({ minLength: 1 }), { minItems: 1, description: '"*" forwards any name.' }),
    wire: Type.Optional(Type.Union([Type.Literal('chat'), Type.Literal('responses')])),
    prices: Type.Optional(
      Type.Union([ConfiguredPrices, Type.Record(Type.String(), ConfiguredPrices)], {
        description: 'One price for all models, or one a model.',
      }),
    ),
  },
  closed,
);

/** The file `config.yaml`. Everything is optional. */
export const ConfigFile = Type.Object(
  {
    listen: Type.Optional(
      Type.Object(
        {
          host: Type.Optional(Type.String({ minLength: 1 })),
          port: Type.Optional(Type.Integer({ minimum: 0, maximum: 65_535 })),
          allowed_hosts: Type.Optional(Type.Array(Type.String({ minLength: 1 }))),
        },
        closed,
      ),
    ),
    cors: Type.Optional(Type.Object({ origins: Type.Array(Url) }, closed)),
    margin_percent: Type.Optional(Type.Number({ minimum: 0, maximum: 1000, multipleOf: 0.0001 })),
    providers: Type.Optional(
      Type.Object(
        {
          openai: Type.Optional(ProviderConfig),
          anthropic: Type.Optional(ProviderConfig),
          google: Type.Optional(ProviderConfig),
          openrouter: Type.Optional(ProviderConfig),
          vercel: Type.Optional(ProviderConfig),
        },
        closed,
      ),
    ),
    upstreams: Type.Optional(Type.Array(UpstreamConfig)),
    local_servers: Type.Optional(
      Type.Boolean({ description: 'Whether to look for Ollama, LM Studio, llama.cpp and vLLM at start.' }),
    ),
    aliases: Type.Optional(Type.Record(Type.String(), Type.String())),
    timeouts: Type.Optional(
      Type.Object(
        {
          connect_ms: Type.Optional(Milliseconds),
          headers_ms: Type.Optional(Milliseconds),
          first_event_ms: Type.Optional(Milliseconds),
          idle_ms: Type.Optional(Milliseconds),
        },
        closed,
      ),
    ),
    storage: Type.Optional(
      Type.Object({ responses_days: Type.Optional(Type.Integer({ minimum: 1, maximum: 3650 })) }, closed),
    ),
    simulate: Type.Optional(Type.String({ description: 'A script for the simulator.' })),
    log: Type.Optional(
      Type.Object(
        {
          level: Type.Optional(
            Type.Union(
              (['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const).map((level) =>
                Type.Literal(level),
              ),
            ),
          ),
        },
        closed,
      ),
    ),
  },
  closed,
);

export type ConfigFile = Static<typeof ConfigFile>;
export type ConfiguredPrices = Static<typeof ConfiguredPrices>;
export type UpstreamConfig = Static<typeof UpstreamConfig>;

/** Whether prices of an upstream hold for all its models. */
export function isOnePrice(prices: NonNullable<UpstreamConfig['prices']>): prices is ConfiguredPrices {
  return typeof prices.input === 'string';
}
