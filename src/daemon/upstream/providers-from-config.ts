import type { MakeId } from '../../shared/ids.ts';
import { pricesFromDecimals } from '../../shared/money/exact-price.ts';
import type { Prices } from '../../shared/money/money.ts';
import type { World } from '../base/world.ts';
import { type Config, ConfigInvalid } from '../config/config.ts';
import type { ConfiguredHeaders } from '../config/headers.ts';
import { noteHostSecrets } from '../config/host-secrets.ts';
import {
  type ConfiguredPrices,
  type ConfiguredUpstream,
  type HostKeys,
  isOnePrice,
  type KeySource,
  type ProviderAccount,
} from '../config/settings/calls.ts';
import type { Provider } from '../features/providers/index.ts';
import type { Wire } from '../features/upstreams/neutral.ts';
import type { Upstream } from '../features/upstreams/upstream.ts';
import { FileUnreadable, readNamedFile } from '../runtime/read-named-file.ts';
import type { Adapter, EmbeddingsAdapter } from './adapter.ts';
import { checkKey } from './check-key.ts';
import { checkProvider } from './check-provider.ts';
import { providerDecisions } from './decisions/provider-decisions.ts';
import { withEdits, withEmbeddingEdits } from './edited-requests.ts';
import { withEmbeddings } from './embeddings/with-embeddings.ts';
import { httpUpstream } from './http-upstream.ts';
import { listModels } from './list-models.ts';
import { findLocalServers, type LocalServer, localServerPlaces } from './local-servers.ts';
import { anthropic } from './providers/anthropic/index.ts';
import { openAiCompatible } from './providers/openai.ts';
import { chatAdapter } from './providers/openai-chat/adapter.ts';
import { openAiEmbeddings } from './providers/openai-embeddings.ts';
import { providerApis } from './providers/registry.ts';
import { simulatedDecisions } from './simulator/decisions.ts';
import { modelPrefix, modelsWithScript, simulatorModels } from './simulator/models.ts';
import type { SimulatorScript } from './simulator/script/script-file.ts';
import { simulator } from './simulator/simulator.ts';

export interface ProviderDeps {
  world: World;
  timeouts: Config['timeouts'];
  makeCallId: () => string;
}

/** What a provider with several keys has besides the first, and the order of keys, also those of workspaces. */
function severalKeys({ keys, keyOrder }: HostKeys) {
  const order = keyOrder === 'first_free' ? { keyOrder } : {};
  if (keys === undefined) return { described: order, keys: {} };
  const names = keys.map(({ name }) => name);
  return {
    described: { keys: { names }, ...order },
    keys: { keys: new Map(keys.map(({ name, key }) => [name, key])) },
  };
}

/** A provider that is known by name. */
function knownProvider(account: ProviderAccount, given: ProviderDeps): Provider {
  const { name, key, keySource, headers } = account;
  const several = severalKeys(account);
  const api = providerApis[name];
  const address = account.baseUrl ?? api.baseUrl;
  const { baseUrl, query } = partsOf(address);
  const deps = withHeaders(headers, withQuery(query, given));
  const { send } = deps.world;
  const loginUrl = account.loginUrl ?? api.loginUrl;
  const adapterFor = (wire: Wire | undefined) => api.adapter({ name, baseUrl, loginUrl }, wire);
  const { failure } = adapterFor(api.wires?.[0]);
  const question = { name, url: api.keyCheckUrl(baseUrl), headers: api.keyHeaders, failure };
  return {
    description: {
      name,
      kind: name,
      ...availability({ lacksKey: key === undefined ? keySource : undefined, headers }),
      models: undefined,
      wires: api.wires,
      wiresOf: api.wiresOf,
      ...several.described,
    },
    upstream: embedding(
      byWire(name, api.wires ?? [], (wire) => makeUpstream(name, adapterFor(wire), deps)),
      api.embeddings?.({ name, baseUrl }),
      deps,
    ),
    key,
    ...several.keys,
    // Only providers with a format of OpenAI's may have its decision endpoint.
    ...(api.wires?.includes('chat') && {
      askNative: providerDecisions(deps.world, { name, kind: name, baseUrl }),
    }),
    access: { baseUrl: address, keyVariable: keySource.variable },
    withSealedKey: availability({ lacksKey: undefined, headers }),
    check: (asked = key) =>
      checkProvider(deps.world, {
        ...question,
        key: asked,
        keyVariable: keySource.variable,
        addressSetting: `providers.${name}.base_url`,
      }),
    checkKey: (asked) => checkKey(send, question, asked),
    listModels: (sealedKey) => listModels(send, { api, name, baseUrl, key: sealedKey ?? key }),
  };
}

/** An upstream from the configuration, compatible with OpenAI's APIs or Anthropic's. */
function configuredProvider(upstream: ConfiguredUpstream, given: ProviderDeps): Provider {
  const { name, key, keySource, headers } = upstream;
  const { variable } = keySource;
  const several = severalKeys(upstream);
  const { baseUrl, query } = partsOf(upstream.base_url);
  const deps = withHeaders(headers, withQuery(query, given));
  const wire = upstream.wire ?? 'chat';
  const api = wire === 'messages' ? anthropic : openAiCompatible;
  const edits = { drop: upstream.drop, rename: upstream.rename };
  const adapter = withEdits(api.adapter({ name, baseUrl }, wire), edits);
  const embeddings =
    wire === 'messages' ? undefined : withEmbeddingEdits(openAiEmbeddings({ name, baseUrl }), edits);
  return {
    description: {
      name,
      kind: 'compatible',
      ...availability({ lacksKey: key === undefined ? keySource : undefined, headers }),
      models: upstream.models.includes('*') ? '*' : upstream.models,
      prices: upstream.prices && pricesOf(upstream.prices),
      wires: [wire],
      baseUrl,
      ...several.described,
    },
    upstream: embedding(makeUpstream(name, adapter, deps), embeddings, deps),
    key,
    ...several.keys,
    askNative: providerDecisions(deps.world, { name, kind: 'compatible', baseUrl }),
    access: { baseUrl: upstream.base_url, keyVariable: variable },
    withSealedKey: availability({ lacksKey: undefined, headers }),
    edits,
    check: (asked = key) =>
      checkProvider(deps.world, {
        name,
        url: api.keyCheckUrl(baseUrl),
        headers: api.keyHeaders,
        failure: adapter.failure,
        key: asked,
        keyVariable: variable,
        addressSetting: `the base_url of ${name}`,
      }),
    ...(upstream.models.includes('*') && {
      listModels: (sealedKey) => listModels(deps.world.send, { api, name, baseUrl, key: sealedKey ?? key }),
    }),
  };
}

/** A local server that was detected; it is free. */
export function localProvider(server: LocalServer, deps: ProviderDeps): Provider {
  const { name, baseUrl, models } = server;
  const adapter = chatAdapter({ name, baseUrl });
  const details = models.map((model) => {
    const { contextLength, kind } = model;
    return [model.name, { contextLength, capabilities: kind && { kind } }] as const;
  });
  return {
    description: {
      name,
      kind: 'local',
      available: true,
      reason: null,
      models: models.map((model) => model.name),
      details: Object.fromEntries(details),
      wires: ['chat'],
      baseUrl,
    },
    upstream: embedding(makeUpstream(name, adapter, deps), openAiEmbeddings({ name, baseUrl }), deps),
    key: undefined,
    askNative: providerDecisions(deps.world, { name, kind: 'local', baseUrl }),
    access: { baseUrl, keyVariable: undefined },
    check: () =>
      checkProvider(deps.world, {
        name,
        url: openAiCompatible.keyCheckUrl(baseUrl),
        headers: openAiCompatible.keyHeaders,
        failure: adapter.failure,
        key: undefined,
        keyVariable: undefined,
        addressSetting: 'its port',
      }),
  };
}

/** The built-in simulator; it needs no key and is free. */
function simulatorProvider(deps: ProviderDeps, script: SimulatorScript | undefined): Provider {
  const models = script ? modelsWithScript(script) : simulatorModels;
  const upstream = simulator({ world: deps.world, makeCallId: deps.makeCallId, script });
  const details = models.map(({ id, title, description, contextLength, outputTokensMax, capabilities }) => [
    nameOf(id),
    { title, description, contextLength, outputTokensMax, capabilities },
  ]);
  return {
    description: {
      name: upstream.name,
      kind: 'simulator',
      available: true,
      reason: null,
      models: models.map(({ id }) => nameOf(id)),
      details: Object.fromEntries(details),
      wires: undefined,
    },
    upstream,
    key: undefined,
    askNative: simulatedDecisions(deps.world),
  };
}

/** An address without the parameters that every request there has. */
function partsOf(address: string) {
  const [baseUrl = '', query = ''] = address.split(/\?(.*)/s);
  return { baseUrl, query };
}

/** Adds the parameters of an address to every request there. */
function withQuery(query: string, deps: ProviderDeps): ProviderDeps {
  if (query === '') return deps;
  const { world } = deps;
  const urlOf = (url: string) => `${url}${url.includes('?') ? '&' : '?'}${query}`;
  return {
    ...deps,
    world: { ...world, send: (request) => world.send({ ...request, url: urlOf(request.url) }) },
  };
}

/** Adds the configured headers to every request to a provider. */
function withHeaders({ values }: ConfiguredHeaders, deps: ProviderDeps): ProviderDeps {
  if (Object.keys(values).length === 0) return deps;
  const { world } = deps;
  return {
    ...deps,
    world: { ...world, send: (request) => world.send({ ...request, addedHeaders: values }) },
  };
}

/** Whether a provider can be called, and which variable to set if not. */
function availability({
  lacksKey,
  headers,
}: {
  lacksKey: KeySource | undefined;
  headers: ConfiguredHeaders;
}) {
  const { lacking } = headers;
  if (lacksKey?.variable !== undefined) {
    const { variable, problem } = lacksKey;
    return { available: false, reason: `no key: ${problem ?? `set ${variable}`}` };
  }
  if (lacking !== undefined) return { available: false, reason: `no header: set ${lacking}` };
  return { available: true, reason: null };
}

/** `sim/assistant` → `assistant`; the catalog adds the prefix again. */
function nameOf(id: string): string {
  return id.slice(modelPrefix.length);
}

function makeUpstream(name: string, adapter: Adapter, { world, timeouts }: ProviderDeps): Upstream {
  return httpUpstream({ name, adapter, send: world.send, timeouts });
}

/** Adds embeddings to an upstream; a provider without them rejects such calls. */
function embedding(
  upstream: Upstream,
  adapter: EmbeddingsAdapter | undefined,
  { world, timeouts }: ProviderDeps,
): Upstream {
  return withEmbeddings(upstream, { name: upstream.name, adapter, send: world.send, timeouts });
}

/** One upstream per wire format, chosen for each call. */
function byWire(
  name: string,
  wires: readonly Wire[],
  upstreamFor: (wire: Wire | undefined) => Upstream,
): Upstream {
  const [first, ...others] = wires;
  const usual = upstreamFor(first);
  if (others.length === 0) return usual;
  const special = new Map(others.map((wire) => [wire, upstreamFor(wire)]));
  const upstreamOf = (wire: Wire | undefined) => (wire && special.get(wire)) ?? usual;
  return {
    name,
    open: (call, signal) => upstreamOf(call.wire).open(call, signal),
    countInput: async (call, signal) => upstreamOf(call.wire).countInput?.(call, signal),
  };
}

/** The schema of the file guarantees decimals. */
function pricesOf(configured: NonNullable<ConfiguredUpstream['prices']>): Record<string, Prices> {
  const byModel: Record<string, ConfiguredPrices> = isOnePrice(configured) ? { '*': configured } : configured;
  const prices: Record<string, Prices> = {};
  for (const [model, written] of Object.entries(byModel)) {
    const read = pricesFromDecimals({
      input: written.input,
      output: written.output,
      cachedInput: written.cached_input,
      cacheWrite: written.cache_write,
    });
    if (read) prices[model] = read;
  }
  return prices;
}

/** A server on this machine responds within this time, or is not running. */
const localTimeoutMs = 400;

interface FindDeps {
  world: World;
  makeId: MakeId;
}

/** The providers of the configuration and the environment, and the simulator. */
export async function configuredProviders(config: Config, { world, makeId }: FindDeps): Promise<Provider[]> {
  noteHostSecrets(config);
  const deps = { world, timeouts: config.timeouts, makeCallId: () => makeId('call') };
  const script = config.simulatorScript === undefined ? undefined : await readScript(config.simulatorScript);
  return [
    ...config.providers.map((account) => knownProvider(account, deps)),
    ...config.upstreams.map((upstream) => configuredProvider(upstream, deps)),
    simulatorProvider(deps, script),
  ];
}

/** Detects Ollama, LM Studio, llama.cpp and vLLM, unless the configuration turns that off. */
export async function detectLocalProviders(config: Config, { world, makeId }: FindDeps): Promise<Provider[]> {
  if (!config.findsLocalServers) return [];
  const deps = { world, timeouts: config.timeouts, makeCallId: () => makeId('call') };
  const places = localServerPlaces(config.ollamaHost);
  const servers = await findLocalServers(world.send, { timeoutMs: localTimeoutMs, places });
  const configured = new Set(config.upstreams.map((upstream) => upstream.name));
  return servers.filter(({ name }) => !configured.has(name)).map((server) => localProvider(server, deps));
}

const scriptBytesMax = 64 * 1024 ** 2;

async function readScript(path: string): Promise<SimulatorScript> {
  const text = await readNamedFile(path, { bytesMax: scriptBytesMax }).catch((error: unknown) => {
    if (!(error instanceof FileUnreadable)) throw error;
    throw new ConfigInvalid([{ place: path, message: error.sentence }]);
  });
  const { parseSimulatorScript } = await import('./simulator/script/parse-script.ts');
  const parsed = parseSimulatorScript(text.toString(), path);
  if ('script' in parsed) return parsed.script;
  throw new ConfigInvalid(
    parsed.faults.map(({ file, line, column, message }) => ({ place: `${file}:${line}:${column}`, message })),
  );
}
