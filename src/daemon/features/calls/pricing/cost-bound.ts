import { estimateTokens, imageTokensTypical } from '../../../../shared/formats/estimate-tokens.ts';
import { pictureIn } from '../../../../shared/formats/pictures.ts';
import {
  costOf,
  dearestOutput,
  longCacheWritePrice,
  type NanoUsd,
  outputTokensPaidBy,
  type Prices,
  soundPrice,
  type Tokens,
} from '../../../../shared/money/money.ts';
import type { Offer } from '../../catalog/index.ts';
import type { HeldRoute, LeftOnRoute } from '../../metering/index.ts';
import type { Route } from '../../routing/index.ts';
import { type ContentPart, type EmbeddingInput, type Inference, partsOf } from '../../upstreams/neutral.ts';
import { asksForLongCache } from './long-cache.ts';
import { countedTools, readsBeyondRequest, requestedTier, unparsedInputBytes } from './provider-extras.ts';
import { dearestPrices } from './service-tiers.ts';

/** An image of eight tiles on the most expensive tiled model: 2,833 tokens, and 5,667 per tile. */
const imageTokensMax = 48_169;
/** A page of a document is read as text and as an image, which together take fewer tokens than its base64 bytes. */
const fileTokensMin = 8192;
/** More than any model's context: the bound for input that only the provider sees. */
const inputTokensUnknown = 2_000_000;
/** Overhead of a message, item or tool. */
const itemTokensMax = 16;
/** Assumed for models without a known maximum. */
const outputTokensUnknown = 32_768;
/** Uses of each provider tool that the hold covers, unless the request sets `max_tool_calls`. */
const toolUsesDefault = 32;
const toolUsesMax = 10_000;
/** More than any model reads or writes in one call; it keeps prices within exact integers. */
export const tokensMax = 100_000_000;

export const noTokens: Tokens = { input: 0, cachedInput: 0, cacheWrite: 0, output: 0, reasoning: 0 };

/** Tokens of an input, before the provider counts them. */
export interface InputTokens {
  /** Upper bound: a text never has more tokens than UTF-8 bytes. */
  most: number;
  /** Estimate, for answers without a reported usage. */
  likely: number;
  /** Estimate of what is text for sure. */
  text: number;
}

type MediaTokens = Pick<InputTokens, 'most' | 'likely'>;

export function inputTokens(inference: Inference): InputTokens {
  if (inference.embedding) return embeddingTokens(inference, inference.embedding.inputs);
  const media: MediaTokens = { most: 0, likely: 0 };
  let text = itemTokensMax + bytes(inference.instructions);
  for (const item of inference.items) {
    text += itemTokensMax;
    if (item.type === 'message') text += addParts(item.content, media);
    else if (item.type === 'function_call')
      text += bytes(item.name) + bytes(item.arguments) + bytes(item.callId);
    else if (item.type === 'function_call_output') text += addParts(item.output, media) + bytes(item.callId);
    else if (item.type === 'reasoning') text += reasoningBytes(item.summary, item.origin?.payload);
    else if (pictureIn(item.json)) addPicture(media);
    else text += bytes(JSON.stringify(item.json));
  }
  for (const tool of inference.tools) {
    // The others are counted with their item.
    if (!tool.isInItem) text += itemTokensMax + bytes(JSON.stringify(tool));
  }
  if (inference.format) text += bytes(JSON.stringify(inference.format));
  // The provider may or may not read unparsed members, so they count for the bound but not for the estimate.
  const passed = unparsedInputBytes(inference) + (readsBeyondRequest(inference) ? inputTokensUnknown : 0);
  const textTokens = estimateTokens(text);
  return { most: text + media.most + passed, likely: textTokens + media.likely, text: textTokens };
}

function embeddingTokens(inference: Inference, inputs: readonly EmbeddingInput[]): InputTokens {
  let most = unparsedInputBytes(inference);
  let likely = 0;
  for (const input of inputs) {
    const size = typeof input === 'string' ? bytes(input) : input.length;
    most += itemTokensMax + size;
    likely += typeof input === 'string' ? estimateTokens(size) : size;
  }
  // Each input has a context of its own.
  return { most, likely, text: 0 };
}

/** Upper bound of the input on an offer: its context holds all of a conversation, but each input of its own. */
function inputBoundOn(offer: Offer, { embedding }: Inference, inputTokens: number): number {
  const { contextLength, isContextUnsure = false } = offer;
  const isUnknown = contextLength === null || isContextUnsure;
  const most = isUnknown ? tokensMax : contextLength * (embedding?.inputs.length ?? 1);
  return Math.min(inputTokens, most, tokensMax);
}

function bytes(text: string | undefined): number {
  return text === undefined ? 0 : Buffer.byteLength(text);
}

function reasoningBytes(summary: readonly string[], payload: unknown): number {
  const texts = summary.reduce((sum, text) => sum + bytes(text), 0);
  return texts + (payload === undefined ? 0 : bytes(JSON.stringify(payload)));
}

/** Returns the bytes of text parts, and adds the tokens of other parts to `media`. */
function addParts(parts: readonly ContentPart[], media: MediaTokens): number {
  let text = 0;
  for (const part of parts) {
    if (part.type === 'text') text += bytes(part.text);
    else if (part.type === 'refusal') text += bytes(part.refusal);
    else if (part.type === 'image') addPicture(media);
    else {
      const bytes = Math.max(fileTokensMin, part.data?.length ?? 0);
      media.most += part.data === undefined ? inputTokensUnknown : bytes;
      media.likely += estimateTokens(bytes);
    }
  }
  return text;
}

function addPicture(media: MediaTokens): void {
  media.most += imageTokensMax;
  media.likely += imageTokensTypical;
}

/** The requested output limit, capped at the model's maximum; undefined when none was requested. */
export function outputTokensOn(route: Route, requested: number | undefined): number | undefined {
  if (requested === undefined) return undefined;
  return Math.min(requested, route.offer.outputTokensMax ?? requested);
}

/** Upper bound of the call's output on any of the routes, all choices together. */
export function outputTokensBound(routes: readonly Route[], inference: Inference): number {
  return Math.max(0, ...routes.map((route) => outputBoundOn(route, inference)));
}

function outputBoundOn(route: Route, inference: Inference): number {
  const most = outputTokensOn(route, inference.outputTokensMax) ?? route.offer.outputTokensMax;
  return Math.min(tokensMax, (most ?? outputTokensUnknown) * choicesOf(inference));
}

/** Upper bound of the call's cost to the workspace on any of the routes; 0 when no price is known. */
export function costBound(
  routes: readonly Route[],
  inference: Inference,
  bound: { inputTokens: number; marginPpm: number },
): NanoUsd {
  let most = 0;
  for (const route of routes) {
    const { prices } = route.offer;
    if (!prices || route.ownKey) continue;
    const input = inputBoundOn(route.offer, inference, bound.inputTokens);
    const tokens = { ...largestInput(inference, input), output: outputBoundOn(route, inference) };
    const tiers = applicablePriceTiers(dearestOf(prices, route.offer, inference), inference, input);
    most = Math.max(most, ...tiers.map((tier) => costOf(tier, tokens, bound.marginPpm).total));
  }
  return most;
}

/** The prices of the dearest service tier that may serve the call. */
function dearestOf(prices: Prices, offer: Offer, inference: Inference): Prices {
  const requested = requestedTier(inference);
  return requested ? dearestPrices(prices, offer, requested.tier) : prices;
}

/** The largest input, and the most uses of the provider's tools. */
function largestInput({ wire, tools, body }: Inference, input: number): Tokens {
  if (wire !== 'responses' || tools.length === 0) return { ...noTokens, input };
  const { max_tool_calls: limit } = body;
  const most =
    typeof limit === 'number' && limit >= 0 ? Math.min(Math.ceil(limit), toolUsesMax) : toolUsesDefault;
  const has = (type: RegExp) =>
    tools.some((tool) => tool.type === 'opaque' && type.test(String(tool.json.type)));
  const webSearch = has(countedTools.webSearch) ? most : 0;
  const fileSearch = has(countedTools.fileSearch) ? most : 0;
  return { ...noTokens, input, ...(webSearch + fileSearch > 0 && { toolUses: { webSearch, fileSearch } }) };
}

/** The cost of tokens to the workspace on a route; 0 when no price is known. */
export function costOn({ offer, ownKey }: Route, tokens: Tokens, marginPpm: number): NanoUsd {
  return offer.prices && !ownKey ? costOf(offer.prices, tokens, marginPpm).total : 0;
}

/** How many choices the call requests. */
export function choicesOf(inference: Inference): number {
  const n = inference.wire === 'chat' ? inference.body.n : undefined;
  return typeof n === 'number' ? n : 1;
}

/**
 * The price tiers that may apply to an input of at most `inputTokens`. Each uses the highest price for input and output, as
 * the number of cached tokens, the exact input and the kind of output are unknown before the call.
 */
function applicablePriceTiers(prices: Prices, inference: Inference, inputTokens: number): Prices[] {
  const tiers = prices.tiers?.filter((tier) => inputTokens > tier.aboveInputTokens) ?? [];
  const all = [prices, ...tiers];
  const hasSound = all.some(({ media }) => media) && mayHaveSound(inference);
  const isLong = all.some(({ input, cacheWrite }) => cacheWrite > input) && asksForLongCache(inference);
  return all.map((tier) => {
    const { input, cachedInput, cacheWrite } = tier;
    const sound = hasSound ? soundPrice(tier) : 0;
    const longCache = isLong && cacheWrite > input ? longCacheWritePrice(tier) : 0;
    return {
      input: Math.max(input, cacheWrite, cachedInput, sound, longCache),
      cachedInput,
      cacheWrite,
      output: dearestOutput(tier),
      ...(tier.fees && { fees: tier.fees }),
    };
  });
}

function mayHaveSound({ items }: Inference): boolean {
  return items.some((item) => {
    if (item.type === 'opaque') return !pictureIn(item.json);
    return partsOf(item).some((part) => part.type === 'audio' || part.type === 'file');
  });
}

/** A shorter answer is not worth its prompt. */
const outputTokensMin = 16;

/** The most that a call may cost, and how much output that pays for. */
export interface OutputCap {
  routes: Route[];
  /** Upper bound of the cost on any of the routes. */
  amount: NanoUsd;
  /** The output limit sent to a route's provider, for each choice; undefined for the model's default. */
  outputTokensOn: (route: Route) => number | undefined;
  /** Upper bound of the output on any of the routes, all choices together. */
  outputTokensBound: number;
  /** Whether money, and not the caller or the model, sets the bound. */
  isCapped: boolean;
  /** Whether a route's output is shorter than what the caller and the model allow. */
  isShortenedOn: (route: Route) => boolean;
}

interface Bound {
  /** Upper bound of the input. */
  inputTokens: number;
  marginPpm: number;
}

/** The cap that pays for the whole request. */
export function wholeOutput(routes: Route[], inference: Inference, bound: Bound): OutputCap {
  return {
    routes,
    amount: costBound(routes, inference, bound),
    outputTokensOn: (route) => outputTokensOn(route, inference.outputTokensMax),
    outputTokensBound: outputTokensBound(routes, inference),
    isCapped: false,
    isShortenedOn: () => false,
  };
}

/**
 * Reduces routes and their output to what `affordable` pays for, or only the routes if it has to pay for the whole output;
 * undefined when no route remains.
 */
export function capOutputToBudget(
  full: Pick<OutputCap, 'routes'>,
  inference: Inference,
  bound: Bound & { affordable: NanoUsd; isWhole?: boolean; leftOn?: LeftOnRoute | undefined },
): OutputCap | undefined {
  const { affordable: most, leftOn } = bound;
  const outputFor = (route: Route, affordable: NanoUsd) =>
    Math.min(requestedOutputOn(route, inference), affordableOn(route, inference, { ...bound, affordable }));
  const outputOn = (route: Route) =>
    outputFor(route, leftOn ? Math.min(most, leftOn({ ...route, model: route.offer.model })) : most);
  const able = full.routes.filter((route) => {
    const output = outputOn(route);
    return (!bound.isWhole && output >= outputTokensMin) || output >= requestedOutputOn(route, inference);
  });
  // The rest of the budget of a model or provider is for calls that no other route can answer at length.
  const unreduced = leftOn ? able.filter((route) => outputOn(route) >= outputFor(route, most)) : able;
  const routes = unreduced.length > 0 ? unreduced : able;
  if (routes.length === 0) return undefined;
  const amounts = routes.map((route) =>
    costBound([route], { ...inference, outputTokensMax: outputOn(route) }, bound),
  );
  return {
    routes,
    amount: Math.max(...amounts),
    outputTokensOn: outputOn,
    outputTokensBound: Math.max(...routes.map(outputOn)) * choicesOf(inference),
    isCapped: true,
    isShortenedOn: (route) => outputOn(route) < requestedOutputOn(route, inference),
  };
}

/** What a call can cost at most on each of its routes. */
export function heldRoutes(
  { routes, outputTokensOn: outputOn }: Pick<OutputCap, 'routes' | 'outputTokensOn'>,
  inference: Inference,
  bound: Bound,
): HeldRoute[] {
  return routes.map((route) => ({
    model: route.offer.model,
    provider: route.provider,
    amount: costBound([route], { ...inference, outputTokensMax: outputOn(route) }, bound),
  }));
}

/** The output that an invoice pays for, unless the request limits it: an answer of usual length. */
const invoicedOutputTokens = 4096;

/** The amount to pay for a call in advance; undefined if `affordable` is too little for it. */
export function invoicedCost(
  { routes }: Pick<OutputCap, 'routes'>,
  inference: Inference,
  bound: Bound & { affordable: NanoUsd },
): NanoUsd | undefined {
  const { outputTokensMax = invoicedOutputTokens } = inference;
  const limited = { ...inference, outputTokensMax };
  const cost = costBound(routes, limited, bound);
  return cost <= bound.affordable ? cost : capOutputToBudget({ routes }, limited, bound)?.amount;
}

/** The output limit of one choice by the caller and the model alone. */
function requestedOutputOn(route: Route, inference: Inference): number {
  const most = outputTokensOn(route, inference.outputTokensMax) ?? route.offer.outputTokensMax;
  return Math.min(tokensMax, most ?? outputTokensUnknown);
}

/** The output tokens that the money pays for, for each choice; negative when it does not pay for the prompt. */
function affordableOn(
  { offer, ownKey }: Route,
  inference: Inference,
  { inputTokens, marginPpm, affordable }: Bound & { affordable: NanoUsd },
): number {
  if (!offer.prices || ownKey || affordable === Number.POSITIVE_INFINITY) return Number.POSITIVE_INFINITY;
  const input = inputBoundOn(offer, inference, inputTokens);
  const spent = largestInput(inference, input);
  const dearest = dearestOf(offer.prices, offer, inference);
  const tokens = applicablePriceTiers(dearest, inference, input).map((prices) =>
    outputTokensPaidBy(affordable, prices, spent, marginPpm),
  );
  return Math.floor(Math.min(...tokens) / choicesOf(inference));
}
