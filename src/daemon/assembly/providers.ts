import type { Prices } from '../../shared/money.ts';
import type { Config, ConfiguredUpstream, ProviderAccount } from '../config/config.ts';
import { type ConfiguredPrices, isOnePrice } from '../config/schema.ts';
import { type ListedModel, type ProviderDescription, pricesFromDecimals } from '../features/catalog/index.ts';
import type { Upstream, UpstreamCall } from '../features/inference/index.ts';
import type { Adapter } from '../upstream/adapter.ts';
import { checkKey, type KeyVerdict } from '../upstream/check-key.ts';
import { httpUpstream } from '../upstream/http-upstream.ts';
import { keyQuestion } from '../upstream/key-questions.ts';
import type { LocalServer } from '../upstream/local-servers.ts';
import { listModels } from '../upstream/model-listing.ts';
import { anthropicAdapter, anthropicBaseUrl } from '../upstream/providers/anthropic/index.ts';
import { googleAdapter, googleBaseUrl } from '../upstream/providers/google/index.ts';
import { chatAdapter } from '../upstream/providers/openai-chat/index.ts';
import { responsesAdapter } from '../upstream/providers/openai-responses/index.ts';
import { modelPrefix, simulatorModels, simulatorModelsWith } from '../upstream/simulator/models.ts';
import type { SimulatorScript } from '../upstream/simulator/script/script.ts';
import { simulator } from '../upstream/simulator/simulator.ts';
import type { World } from '../world.ts';

/** One provider as the rest of the daemon sees it. */
export interface Provider {
  description: ProviderDescription;
  upstream: Upstream;
  /** The host's key; undefined for none. */
  key: string | undefined;
  /** Asks whether a key is taken; only providers that workspaces may have keys of their own for. */
  checkKey?: (key: string) => Promise<KeyVerdict>;
  /** Asks for its models with the host's key; undefined where the configuration names them all. */
  listModels?: () => Promise<ListedModel[]>;
}

export interface ProviderNeeds {
  world: World;
  timeouts: Config['timeouts'];
  makeCallId: () => string;
}

/** The five providers that are known by name, each with its formats and the place it is reached at. */
export function knownProvider(account: ProviderAccount, needs: ProviderNeeds): Provider {
  const { name, key, keyName } = account;
  const settings = (baseUrl: string) => ({ name, baseUrl: account.baseUrl ?? baseUrl });
  const overHttp = (adapter: Adapter) => makeUpstream(name, adapter, needs);
  const { send } = needs.world;
  const askedAt = ({ failure }: Adapter, { baseUrl }: { baseUrl: string }) => ({
    checkKey: (asked: string) => checkKey(name, keyQuestion(name, baseUrl), { key: asked, send, failure }),
    listModels: () => listModels(send, { kind: name, name, baseUrl, key }),
  });
  const description: Omit<ProviderDescription, 'wires'> = {
    name,
    kind: name,
    available: key !== undefined,
    reason: key === undefined ? `no key: set ${keyName}` : null,
    models: undefined,
  };
  switch (name) {
    case 'openai': {
      const at = settings('https://api.openai.com/v1');
      const chat = chatAdapter(at);
      const upstream = byWire(name, { chat: overHttp(chat), responses: overHttp(responsesAdapter(at)) });
      return {
        description: { ...description, wires: ['responses', 'chat'] },
        upstream,
        key,
        ...askedAt(chat, at),
      };
    }
    case 'anthropic': {
      const at = settings(anthropicBaseUrl);
      const adapter = anthropicAdapter(at);
      const described = { ...description, wires: undefined };
      return { description: described, upstream: overHttp(adapter), key, ...askedAt(adapter, at) };
    }
    case 'google': {
      const at = settings(googleBaseUrl);
      const adapter = googleAdapter(at, { makeCallId: needs.makeCallId });
      const described = { ...description, wires: undefined };
      return { description: described, upstream: overHttp(adapter), key, ...askedAt(adapter, at) };
    }
    case 'openrouter':
    case 'vercel': {
      const at = settings(resellers[name]);
      const adapter = chatAdapter(at);
      const described: ProviderDescription = { ...description, wires: ['chat'] };
      return { description: described, upstream: overHttp(adapter), key, ...askedAt(adapter, at) };
    }
  }
}

const resellers = {
  openrouter: 'https://openrouter.ai/api/v1',
  vercel: 'https://ai-gateway.vercel.sh/v1',
} as const;

/** An OpenAI-compatible upstream of the configuration. */
export function configuredProvider(upstream: ConfiguredUpstream, needs: ProviderNeeds): Provider {
  const { name, key, key_env: keyEnv } = upstream;
  const baseUrl = upstream.base_url.replace(/\/+$/, '');
  const wire = upstream.wire ?? 'chat';
  const adapter = wire === 'chat' ? chatAdapter({ name, baseUrl }) : responsesAdapter({ name, baseUrl });
  const lacksKey = keyEnv !== undefined && key === undefined;
  return {
    description: {
      name,
      kind: 'compatible',
      available: !lacksKey,
      reason: lacksKey ? `no key: set ${keyEnv}` : null,
      models: upstream.models.includes('*') ? '*' : upstream.models,
      prices: upstream.prices && pricesOf(upstream.prices),
      wires: [wire],
      baseUrl,
    },
    upstream: makeUpstream(name, adapter, needs),
    key,
    ...(upstream.models.includes('*') && {
      listModels: () => listModels(needs.world.send, { kind: 'compatible', name, baseUrl, key }),
    }),
  };
}

/** A server that was found on this machine; it costs nothing. */
export function localProvider(server: LocalServer, needs: ProviderNeeds): Provider {
  const { name, baseUrl, models } = server;
  return {
    description: { name, kind: 'local', available: true, reason: null, models, wires: ['chat'], baseUrl },
    upstream: makeUpstream(name, chatAdapter({ name, baseUrl }), needs),
    key: undefined,
  };
}

/** The built-in provider, which needs nothing and costs nothing. */
export function simulatorProvider(needs: ProviderNeeds, script: SimulatorScript | undefined): Provider {
  const models = script ? simulatorModelsWith(script) : simulatorModels;
  const upstream = simulator({ world: needs.world, makeCallId: needs.makeCallId, script });
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
  };
}

/** `sim/assistant` → `assistant`: the catalog puts the prefix before it. */
function nameOf(id: string): string {
  return id.slice(modelPrefix.length);
}

function makeUpstream(name: string, adapter: Adapter, { world, timeouts }: ProviderNeeds): Upstream {
  const { headersMs, firstEventMs, idleMs } = timeouts;
  const { send, sleep } = world;
  return httpUpstream({ name, adapter, send, sleep, timeouts: { headersMs, firstEventMs, idleMs } });
}

/** One provider that speaks both formats. */
function byWire(name: string, of: { chat: Upstream; responses: Upstream }): Upstream {
  return {
    name,
    open: (call: UpstreamCall, signal) => of[call.wire ?? 'responses'].open(call, signal),
  };
}

/** The file's schema has checked that each is a decimal. */
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
