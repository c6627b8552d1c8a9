import { type Static, Type } from 'typebox';
import { fallbackReasons } from '../../../shared/constants/fallback-reasons.ts';
import { queueDefaults } from '../../../shared/constants/queue-defaults.ts';
import { type KnownProvider, knownProviders, providerFacts } from '../../../shared/known-providers.ts';
import { bareKey, isSendableKey } from '../../../shared/text/bare-value.ts';
import { inWords } from '../../../shared/text/in-words.ts';
import { trimEnd } from '../../../shared/text/trim-text.ts';
import { durationMs, durationPattern } from '../durations.ts';
import { type ConfiguredHeaders, headersOf, WrittenHeaders } from '../headers.ts';
import { fileOf, type SecretFile } from '../secret-files.ts';
import { flag, integer, text, url, variable } from './schemas.ts';
import { type Environment, type FileOf, setting, type Values } from './setting.ts';

const milliseconds = integer(1, 3_600_000, 'milliseconds');
const millisecondsOfDay = integer(1, 86_400_000, 'milliseconds');

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

/** One key, or several of the same provider. */
const keyVariables = Type.Union([variable, Type.Array(variable, { minItems: 1, maxItems: 64 })], {
  description: 'the name of an environment variable, or a list of names',
});

const keyOrder = Type.Enum(['spread', 'first_free'], { description: 'spread or first_free' });

/** Names with dots. */
export const memberPathPattern = '^(?!__)[A-Za-z_]\\w*(\\.(?!__)[A-Za-z_]\\w*)*$';

const memberPath = Type.String({
  pattern: memberPathPattern,
  maxLength: 200,
  description: 'the name of a member, or names with dots, such as tools.function.strict',
});

const slots = integer(1, 10_000, 'a number of calls');
const queue = Type.String({
  pattern: durationPattern,
  description: 'a time of at most 999 minutes, like 500ms, 30s or 2m',
});
const queueMax = integer(1, 10_000, 'a number of calls');

/** Calls that run at a time, alone or with how others wait. */
const ConcurrencyConfig = Type.Union(
  [
    slots,
    Type.Object(
      { calls: slots, queue: Type.Optional(queue), queue_max: Type.Optional(queueMax) },
      { additionalProperties: false, description: 'a map of calls, queue and queue_max' },
    ),
  ],
  { description: 'a number of calls from 1 to 10000, or a map of calls, queue and queue_max' },
);

const UpstreamConfig = Type.Object(
  {
    name: Type.String({
      pattern: '^[a-z0-9][a-z0-9_-]{0,39}$',
      description: 'text of lowercase letters, digits, _ and -, at most 40',
    }),
    base_url: url,
    key_env: Type.Optional(keyVariables),
    key_order: Type.Optional(keyOrder),
    headers: Type.Optional(WrittenHeaders),
    /** `"*"` forwards any name. */
    models: Type.Array(text, { minItems: 1, description: 'a list of names, or ["*"]' }),
    /** Calls that run there at a time, how long others wait, and how many. */
    concurrency: Type.Optional(slots),
    queue: Type.Optional(queue),
    queue_max: Type.Optional(queueMax),
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

export type ConfiguredPrices = Static<typeof ConfiguredPrices>;
type UpstreamConfig = Static<typeof UpstreamConfig>;

const settingsOfProvider = (name: KnownProvider) => ({
  key_env: setting(keyVariables, { default: providerFacts[name].keyVariables[0] as string }),
  key_order: setting(keyOrder, { default: 'spread' }),
  base_url: setting(url),
  headers: setting(WrittenHeaders, { isFileOnly: true }),
  // Who changes it gets the logins of all clients.
  login_url: setting(url, { isFileOnly: true }),
});

export const providerSettings = {
  providers: Object.fromEntries(knownProviders.map((name) => [name, settingsOfProvider(name)])) as Record<
    KnownProvider,
    ReturnType<typeof settingsOfProvider>
  >,
};

export const routeSettings = {
  upstreams: setting(Type.Array(UpstreamConfig, { description: 'a list of upstreams' }), { default: [] }),
  local_servers: setting(flag, { default: true, live: false }),
  shed_load: setting(flag, { default: true, live: false }),
  default_model: setting(
    Type.String({ minLength: 1, maxLength: 200, description: 'a model id such as openai/gpt-5' }),
  ),
  aliases: setting(Type.Record(Type.String(), AliasConfig, { description: 'a map of names' }), {
    default: {},
  }),
  fallbacks: setting(
    Type.Record(Type.String(), Type.Array(text, { minItems: 1, description: 'a list of models' }), {
      description: 'a map of models to lists of models',
    }),
    { default: {} },
  ),
  fallback_on: setting(
    Type.Array(Type.Enum([...fallbackReasons]), {
      description: 'a list of context_length, content_filter and empty',
    }),
    { default: [] },
  ),
  concurrency: setting(
    Type.Record(Type.String(), ConcurrencyConfig, {
      description: 'a map of providers and models to numbers of calls',
    }),
    { default: {} },
  ),
  timeouts: {
    connect_ms: setting(milliseconds, { default: 5_000, live: false }),
    headers_ms: setting(milliseconds, { default: 600_000 }),
    first_event_ms: setting(milliseconds, { default: 300_000 }),
    // Proxies cut connections that are silent for a minute, some for half of one.
    silent_start_ms: setting(integer(0, 3_600_000, 'milliseconds'), { default: 30_000 }),
    idle_ms: setting(milliseconds, { default: 120_000 }),
    // Models may think for ten minutes, during which their providers send only signs of life.
    output_ms: setting(millisecondsOfDay, { default: 900_000 }),
    total_ms: setting(millisecondsOfDay, { default: 3_600_000 }),
    closing_ms: setting(milliseconds, { default: 5_000 }),
  },
};

/** Where requests go; people give it as the address of an API. */
const endpoint = /\/(chat\/completions|responses|messages|embeddings)$/;

/** The address of an API as it was meant: before the endpoint, with the parameters that every request has, such as Azure's. */
function apiAddress(written: string): string {
  const [place = '', ...query] = written.split('#', 1)[0]?.split('?') ?? [];
  const base = trimEnd(trimEnd(place, '/').replace(endpoint, ''), '/');
  return [base, ...query].join('?');
}

/** Where a key comes from, or would. */
export interface KeySource {
  /** The variable that has it or names its file; undefined where none is needed. */
  variable: string | undefined;
  /** Why its file could not be read, or what it has is no key. */
  problem: string | undefined;
}

/** How calls are distributed to several keys. */
export type KeyOrder = Static<typeof keyOrder>;

/** A key by the variable that it comes from. */
export interface NamedKey {
  name: string;
  key: string;
}

export interface HostKeys {
  /** The operator's key, the first of several; undefined without one. */
  key: string | undefined;
  /** All keys, where there are several. */
  keys: readonly NamedKey[] | undefined;
  keyOrder: KeyOrder;
  keySource: KeySource;
}

export interface ProviderAccount extends HostKeys {
  name: KnownProvider;
  baseUrl: string | undefined;
  headers: ConfiguredHeaders;
  /** Where calls with a client's own login go, if not to the usual address. */
  loginUrl: string | undefined;
}

export interface ConfiguredUpstream extends Omit<UpstreamConfig, 'headers'>, HostKeys {
  headers: ConfiguredHeaders;
}

type RouteValues = Values<typeof routeSettings>;

export function callConfig(
  { upstreams, local_servers, shed_load, timeouts }: RouteValues,
  { env, file, secretFiles }: CallSources,
) {
  const replaced = new Set(upstreams.map(({ name }) => name));
  return {
    /** The known providers; an upstream of the same name takes the place of one. */
    providers: knownProviders
      .filter((name) => !replaced.has(name))
      .map((name) => accountOf(name, file.providers?.[name], { env, secretFiles })),
    upstreams: upstreams.map(
      (upstream): ConfiguredUpstream => ({
        ...upstream,
        base_url: apiAddress(upstream.base_url),
        headers: headersOf(upstream.headers, env),
        ...keysOf(upstream.key_env === undefined ? [] : [upstream.key_env].flat(), {
          order: upstream.key_order,
          env,
          secretFiles,
        }),
      }),
    ),
    findsLocalServers: local_servers,
    /** Where Ollama is, as its own programs read it. */
    ollamaHost: env.OLLAMA_HOST,
    /** Whether new work is rejected under overload. */
    shedsLoad: shed_load,
    timeouts: {
      connectMs: timeouts.connect_ms,
      headersMs: timeouts.headers_ms,
      firstEventMs: timeouts.first_event_ms,
      idleMs: timeouts.idle_ms,
      outputMs: timeouts.output_ms,
      totalMs: timeouts.total_ms,
      closingMs: timeouts.closing_ms,
    },
  };
}

export function routeConfig(values: RouteValues) {
  const { default_model, aliases, fallbacks, fallback_on, timeouts } = values;
  const concurrency = concurrencyIn(values);
  return {
    /** How many calls run at a time, by the name of a provider or the id of a model. */
    concurrency,
    hasConcurrency: Object.keys(concurrency).length > 0,
    /** The model of calls that name none. */
    defaultModel: default_model,
    /** Other names for models, or for groups of them. */
    aliases,
    /** Models to try after another one, by the name of that one. */
    fallbacks,
    /** For what the next route of a call is tried, besides failures of providers. */
    fallbackOn: fallback_on,
    /** How long a provider may be silent before a stream starts without its answer; 0: as long as it likes. */
    silentStartMs: timeouts.silent_start_ms,
  };
}

/** The limits of upstreams, and those that are set by name, which take precedence. */
function concurrencyIn({ upstreams, concurrency }: Pick<RouteValues, 'upstreams' | 'concurrency'>) {
  const limits: Record<string, { calls: number; queueMs: number; queueMax: number }> = {};
  const add = (name: string, written: { calls: number; queue?: string; queue_max?: number }) => {
    limits[name] = {
      calls: written.calls,
      queueMs: written.queue === undefined ? queueDefaults.queueMs : durationMs(written.queue),
      queueMax: written.queue_max ?? queueDefaults.queueMax,
    };
  };
  for (const { name, concurrency: calls, ...waiting } of upstreams)
    if (calls !== undefined) add(name, { calls, ...waiting });
  for (const [name, written] of Object.entries(concurrency))
    add(name, typeof written === 'number' ? { calls: written } : written);
  return limits;
}

interface CallSources {
  env: Environment;
  secretFiles: readonly SecretFile[];
  file: FileOf<typeof providerSettings>;
}

function accountOf(
  name: KnownProvider,
  written: NonNullable<CallSources['file']['providers']>[KnownProvider],
  { env, secretFiles }: Pick<CallSources, 'env' | 'secretFiles'>,
): ProviderAccount {
  const sources = { order: written?.key_order, env, secretFiles };
  return {
    name,
    baseUrl: written?.base_url && apiAddress(written.base_url),
    ...(written?.key_env === undefined
      ? firstKeyOf(providerFacts[name].keyVariables, sources)
      : keysOf([written.key_env].flat(), sources)),
    headers: headersOf(written?.headers, env),
    loginUrl: written?.login_url && trimEnd(written.login_url, '/'),
  };
}

interface KeySources extends Pick<CallSources, 'env' | 'secretFiles'> {
  order: KeyOrder | undefined;
}

/** The key in the first of the variables that is set. */
function firstKeyOf(variables: readonly string[], sources: KeySources): HostKeys {
  const { env, secretFiles } = sources;
  const used =
    variables.find((name) => env[name]?.trim()) ??
    variables.find((name) => fileOf(secretFiles, name)) ??
    variables[0];
  return keysOf(used === undefined ? [] : [used], sources);
}

/** The keys in all of the variables that are set; the same key twice is one. */
function keysOf(variables: readonly string[], { order = 'spread', env, secretFiles }: KeySources): HostKeys {
  const keys: NamedKey[] = [];
  let unusable: string | undefined;
  for (const name of variables) {
    const key = bareKey(env[name] ?? '');
    if (!isSendableKey(key)) unusable ??= name;
    else if (key !== '' && !keys.some((known) => known.key === key)) keys.push({ name, key });
  }
  const [first] = keys;
  return {
    key: first?.key,
    keys: keys.length > 1 ? keys : undefined,
    keyOrder: order,
    keySource:
      first === undefined
        ? { ...sourceOf(variables, secretFiles), ...(unusable && noKeyIn(unusable, secretFiles)) }
        : sourceOf([first.name], secretFiles),
  };
}

function sourceOf(variables: readonly string[], secretFiles: readonly SecretFile[]): KeySource {
  const files = variables.flatMap((name) => fileOf(secretFiles, name) ?? []);
  const names = variables.map((name) => fileOf(secretFiles, name)?.variable ?? name);
  const failed = files.find(({ problem }) => problem !== undefined);
  return {
    variable: names.length === 0 ? undefined : inWords(names),
    problem: failed && `${failed.path} ${failed.problem}`,
  };
}

function noKeyIn(variable: string, secretFiles: readonly SecretFile[]) {
  const place = fileOf(secretFiles, variable)?.path ?? variable;
  return { problem: `${place} has a line end or characters that no key has` };
}

/** Whether an upstream's prices apply to all of its models. */
export function isOnePrice(prices: NonNullable<UpstreamConfig['prices']>): prices is ConfiguredPrices {
  return typeof prices.input === 'string';
}
