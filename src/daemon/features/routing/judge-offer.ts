import { isKnownProvider } from '../../../shared/known-providers.ts';
import {
  dearestOutput,
  type Prices,
  soundPrice,
  type TokenPrices,
  withMargin,
} from '../../../shared/money/money.ts';
import type { Offer, Resolution } from '../catalog/index.ts';
import { type ContentPart, type Inference, partsOf } from '../upstreams/neutral.ts';
import type { Subscription } from '../upstreams/subscription.ts';
import { inKeyOrder } from './affinity.ts';
import type { PriceCap, ProviderRoute, RouteCaps, RoutePreferences } from './contract.ts';
import { accountOf, type HealthReader } from './health.ts';

/** What an answer depends on: a model without it would answer something else. */
export type Need = 'tools' | 'images' | 'files' | 'audio';

/** The requirements of a request on a model. */
export interface Requirements {
  embeddings: boolean;
  tools: boolean;
  images: boolean;
  files: boolean;
  audio: boolean;
  structuredOutput: boolean;
  reasoning: boolean;
  /** Upper bound of the input's tokens. */
  inputTokensMax: number;
  /** The maximum that the caller asked for. */
  outputTokensMax: number | undefined;
  /** The path of what needs something, in the request. */
  paramOf(need: Need): string;
}

export function requirementsOf(inference: Inference, inputTokensMax: number): Requirements {
  const has = (type: ContentPart['type']) =>
    inference.items.some((item) => partsOf(item).some((part) => part.type === type));
  const { tools, toolChoice, format, reasoning } = inference;
  return {
    embeddings: inference.embedding !== undefined,
    tools: tools.some((tool) => tool.type !== 'opaque') && toolChoice?.mode !== 'none',
    images: has('image'),
    files: has('file'),
    audio: has('audio'),
    structuredOutput: format?.type === 'json_schema',
    reasoning: reasoning !== undefined && reasoning.effort !== 'none',
    inputTokensMax,
    outputTokensMax: inference.outputTokensMax,
    paramOf: (need) => paramOf(inference, need),
  };
}

const sentences: Readonly<Record<Need, string>> = {
  tools: 'does not support tools',
  images: 'does not accept images',
  files: 'does not accept files',
  audio: 'does not accept audio',
};

/** What of a request's needs a model is known to lack, and a sentence that says so after the model's name. */
export function lackedNeed({ capabilities }: Offer, required: Requirements) {
  const { tools, inputModalities: accepted } = capabilities;
  const lacks = (kind: 'image' | 'file' | 'audio') => accepted !== null && !accepted.includes(kind);
  const need: Need | undefined =
    required.tools && tools === false
      ? 'tools'
      : required.images && lacks('image')
        ? 'images'
        : required.files && lacks('file')
          ? 'files'
          : required.audio && lacks('audio')
            ? 'audio'
            : undefined;
  return need && { need, sentence: sentences[need] };
}

/** Whether a model is known to lack an option of a request, which is then left out or emulated. */
export function lacksOption({ capabilities }: Offer, required: Requirements): boolean {
  if (required.structuredOutput && capabilities.structuredOutput === false) return true;
  return required.reasoning && capabilities.reasoning === false;
}

/** The types of content parts in the three formats. */
const partTypes: Readonly<Record<Exclude<Need, 'tools'>, ReadonlySet<unknown>>> = {
  images: new Set(['input_image', 'image_url', 'image']),
  files: new Set(['input_file', 'file', 'document']),
  audio: new Set(['input_audio']),
};

function paramOf({ wire, body }: Inference, need: Need): string {
  if (need === 'tools')
    return body.tools === undefined && body.functions !== undefined ? 'functions' : 'tools';
  const list = wire === 'responses' ? 'input' : 'messages';
  // Parts of earlier turns are not in the body.
  return pathIn(body[list], list, partTypes[need]) ?? list;
}

/** The path of the first part of some types, in messages, items and results of tools. */
function pathIn(parts: unknown, path: string, types: ReadonlySet<unknown>): string | undefined {
  if (!Array.isArray(parts)) return undefined;
  for (const [index, part] of parts.entries()) {
    if (typeof part !== 'object' || part === null) continue;
    const at = `${path}[${index}]`;
    if (types.has(part.type)) return at;
    const found =
      pathIn(part.content, `${at}.content`, types) ??
      pathIn(part.output, `${at}.output`, types) ??
      pathIn(part.source?.content, `${at}.source.content`, types);
    if (found !== undefined) return found;
  }
  return undefined;
}

export interface PlanRequest {
  /** The requested model, then its fallbacks. At least one. */
  candidates: readonly Resolution[];
  requirements: Requirements;
  preferences: RoutePreferences;
  caps: RouteCaps;
  /** Whether the caller's workspace pays in advance. */
  isPrepaid: boolean;
  /** Providers for which the workspace has its own keys. */
  ownKeys?: ReadonlySet<string>;
  /** The only account that may serve the call, if the client came with it. */
  subscription?: Subscription | undefined;
  /** The names of the workspace's own keys for a provider, if there are several; empty for the one without. */
  ownKeyNamesOf?: ((workspaceId: string, provider: string) => readonly string[] | undefined) | undefined;
  /** What tells the conversation of the call apart from others; asked for if a provider has several keys. */
  affinity?: () => string;
  workspaceId: string;
  /** In millionths. */
  marginPpm: number;
}

/** Why an offer cannot serve a request, with the remedy where there is one. */
export interface RejectedOffer {
  offer: Offer;
  reason: string;
  /** The price cap that forbids it. */
  param?: 'limits.max_price' | 'service.max_price';
  retryAfterMs?: number;
}

/** The names of the keys with which an offer is to be tried, best first; undefined for a provider with one key or none. */
export function keysFor(offer: Offer, request: PlanRequest): readonly string[] | undefined {
  const hosts = offer.keys;
  const own = request.ownKeys?.has(offer.provider)
    ? request.ownKeyNamesOf?.(request.workspaceId, offer.provider)
    : undefined;
  if ((hosts === undefined && own === undefined) || request.subscription) return undefined;
  const payment = choosePayment(offer, request);
  if (typeof payment === 'string') return undefined;
  const names = payment.ownKey ? own : hosts?.names;
  return names && inKeyOrder({ names, order: offer.keyOrder ?? 'spread' }, request.affinity?.() ?? '');
}

/** Decides whether one offer may serve a request: by preferences, payment, capabilities, price and health. */
export function judgeOffer(
  offer: Offer,
  request: PlanRequest,
  health: HealthReader,
  keyName?: string,
): ProviderRoute | RejectedOffer {
  const { preferences } = request;
  if (preferences.only != null && !preferences.only.includes(offer.provider)) {
    return { offer, reason: 'it is not in service.route.only' };
  }
  if (preferences.ignore?.includes(offer.provider)) {
    return { offer, reason: 'it is in service.route.ignore' };
  }
  const payment = choosePayment(offer, request);
  if (typeof payment === 'string') return { offer, reason: payment };
  const { requirements } = request;
  if (isOfOtherKind(offer, requirements)) {
    return {
      offer,
      reason: requirements.embeddings ? 'the model has no embeddings' : 'it is an embedding model',
    };
  }
  const lacked = lackedNeed(offer, requirements);
  if (lacked !== undefined) return { offer, reason: `the model ${lacked.sentence}` };
  const priceRejection = judgePrice(offer, request, payment);
  if (priceRejection !== undefined) return { offer, ...priceRejection };
  const route = routeOf(offer, request, { ...payment, keyName });
  if (isSimulated(route)) return route;
  const standing = health.standing(route);
  if (standing.state !== 'refused') return { ...route, isLastResort: standing.state === 'last-resort' };
  const ofKey = keyName === undefined ? 'the API key' : `the API key ${keyName}`;
  const key = payment.ownKey ? "the workspace's API key" : ofKey;
  const what = standing.reason === 'billing' ? 'its account is out of credit' : `it rejected ${key}`;
  return {
    offer,
    reason: `${what}; next attempt in ${Math.ceil(standing.retryAfterMs / 1000)} s`,
    retryAfterMs: standing.retryAfterMs,
  };
}

/** The simulator fails on request: what it does to one call must not affect the next. */
export function isSimulated({ offer }: { offer: Offer }): boolean {
  return offer.kind === 'simulator';
}

function routeOf(
  offer: Offer,
  { workspaceId, subscription }: PlanRequest,
  { ownKey, keyName }: { ownKey: boolean; keyName: string | undefined },
): ProviderRoute {
  const { provider, providerModel } = offer;
  // The one without a name keeps its bench when others are added.
  const key = keyName === '' ? undefined : keyName;
  const account =
    ownKey || key !== undefined
      ? accountOf(provider, {
          workspaceId: ownKey ? workspaceId : undefined,
          key,
          login: subscription?.fingerprint,
        })
      : provider;
  return {
    kind: 'provider',
    offer,
    account,
    provider,
    providerModel,
    workspaceId,
    ownKey,
    ...(subscription && { subscription }),
    ...(keyName !== undefined && { key: keyName }),
    isLastResort: false,
  };
}

/** Whose key pays: the host's where it has one, else the workspace's, unless the caller chooses. */
function choosePayment(offer: Offer, request: PlanRequest): { ownKey: boolean } | string {
  const { subscription } = request;
  if (subscription !== undefined) {
    // An upstream of the same name is another server.
    const isIts = offer.provider === subscription.provider && offer.kind === subscription.provider;
    return isIts ? { ownKey: true } : `the client's login is for ${subscription.provider} only`;
  }
  const hasOwnKey = request.ownKeys?.has(offer.provider) ?? false;
  const takesOwnKeys = isKnownProvider(offer.kind);
  if (request.preferences.pay === 'mine') {
    if (hasOwnKey) return { ownKey: true };
    if (!takesOwnKeys) return 'workspaces cannot set their own keys for it';
    return `the workspace has no key for it: gateway provider-keys set ${offer.provider}`;
  }
  if (offer.available) return { ownKey: false };
  if (hasOwnKey && request.preferences.pay !== 'ours') return { ownKey: true };
  const reason = offer.reason ?? 'it is not available';
  if (!takesOwnKeys || request.preferences.pay === 'ours') return reason;
  return `${reason}, or set a key for the workspace: gateway provider-keys set ${offer.provider}`;
}

/** Whether the model is known to serve the other kind of call. */
export function isOfOtherKind({ capabilities }: Offer, { embeddings }: Requirements): boolean {
  return capabilities.kind === (embeddings ? 'chat' : 'embedding');
}

function judgePrice(
  offer: Offer,
  request: PlanRequest,
  payment: { ownKey: boolean },
): Pick<RejectedOffer, 'reason' | 'param'> | undefined {
  if (request.subscription !== undefined) return undefined;
  const { prices } = offer;
  const limits = [
    { param: 'limits.max_price', cap: request.caps.maxPrice },
    { param: 'service.max_price', cap: request.preferences.maxPrice },
  ] as const;
  const caps = limits.filter(({ cap }) => cap?.input != null || cap?.output != null);
  if (prices === null) {
    const { isSpendCapped, isSpendCappedOn } = request.caps;
    const isCharged =
      !payment.ownKey && (request.isPrepaid || isSpendCapped || isSpendCappedOn?.(offer) === true);
    if (caps.length === 0 && !isCharged) return undefined;
    return {
      reason: 'its price is unknown: set it under prices in the configuration',
      param: caps[0]?.param,
    };
  }
  const marginPpm = payment.ownKey ? 0 : request.marginPpm;
  for (const { param, cap } of caps) {
    if (cap && exceeds(prices, cap, marginPpm, request.requirements)) {
      return { reason: `it costs more than ${param} allows`, param };
    }
  }
  return undefined;
}

/** Whether any price tier that may apply to this input exceeds the cap, whatever the estimate of its length. */
function exceeds(prices: Prices, cap: PriceCap, marginPpm: number, required: Requirements): boolean {
  const mayHaveAudio = required.audio || required.files;
  const inputPrice = (tier: TokenPrices) => Math.max(tier.input, mayHaveAudio ? soundPrice(tier) : 0);
  const isAbove = (tier: TokenPrices) =>
    (cap.input != null && withMargin(inputPrice(tier), marginPpm) > cap.input) ||
    (cap.output != null && withMargin(dearestOutput(tier), marginPpm) > cap.output);
  if (isAbove(prices)) return true;
  return (prices.tiers ?? []).some(
    (tier) => required.inputTokensMax > tier.aboveInputTokens && isAbove(tier),
  );
}
