import { costOf, type NanoUsd, type Prices, type Tokens } from '../../../shared/money.ts';
import type { ContentPart, Inference } from './neutral.ts';
import type { Route } from './router.ts';

/** No image is read as more tokens than this by any provider in the catalog. */
const imageTokensMax = 8192;
/** A page of a document is read as text and as a picture; three bytes of base64 hold more than it yields. */
const fileTokensMin = 8192;
/** What a message, an item or a tool takes beside its text. */
const itemTokensMax = 16;
/** Text a token holds on average; used for estimates, never for bounds. */
const charactersPerToken = 4;
/** What a model without a known maximum is assumed to write at most. */
const outputTokensUnknown = 32_768;

/** The most tokens that the input can be: no tokenizer makes more of a text than its UTF-8 bytes. */
export function inputTokensBound(inference: Inference): number {
  let bound = itemTokensMax + bytes(inference.instructions);
  for (const item of inference.items) {
    bound += itemTokensMax;
    if (item.type === 'message') bound += partsBound(item.content);
    else if (item.type === 'function_call')
      bound += bytes(item.name) + bytes(item.arguments) + bytes(item.callId);
    else if (item.type === 'function_call_output') bound += partsBound(item.output) + bytes(item.callId);
    else if (item.type === 'reasoning') bound += reasoningBound(item.summary, item.origin?.payload);
    else bound += JSON.stringify(item.json).length * 3;
  }
  for (const tool of inference.tools) bound += itemTokensMax + bytes(JSON.stringify(tool));
  if (inference.format) bound += bytes(JSON.stringify(inference.format));
  return bound;
}

function bytes(text: string | undefined): number {
  return text === undefined ? 0 : Buffer.byteLength(text);
}

function reasoningBound(summary: readonly string[], payload: unknown): number {
  const texts = summary.reduce((sum, text) => sum + bytes(text), 0);
  return texts + (payload === undefined ? 0 : bytes(JSON.stringify(payload)));
}

function partsBound(parts: readonly ContentPart[]): number {
  let bound = 0;
  for (const part of parts) {
    if (part.type === 'text') bound += bytes(part.text);
    else if (part.type === 'refusal') bound += bytes(part.refusal);
    else if (part.type === 'image') bound += imageTokensMax;
    else bound += Math.max(fileTokensMin, part.data?.length ?? 0);
  }
  return bound;
}

/** The most that the call can write on a route: what was asked, within what the model can. */
export function outputTokensOn(route: Route, asked: number | undefined): number | undefined {
  if (asked === undefined) return undefined;
  return Math.min(asked, route.offer.outputTokensMax ?? asked);
}

/** The most that the call can write on any of the routes, all its answers together. */
export function outputTokensBound(routes: readonly Route[], inference: Inference): number {
  return Math.max(0, ...routes.map((route) => outputBoundOn(route, inference)));
}

function outputBoundOn(route: Route, inference: Inference): number {
  const most = outputTokensOn(route, inference.outputTokensMax) ?? route.offer.outputTokensMax;
  return (most ?? outputTokensUnknown) * choicesOf(inference);
}

/** The most that the call can cost on any of the routes; 0 where no price is known. */
export function costBound(
  routes: readonly Route[],
  inference: Inference,
  bound: { inputTokens: number; marginPpm: number },
): NanoUsd {
  let most = 0;
  for (const route of routes) {
    const { prices, contextLength } = route.offer;
    if (!prices) continue;
    const input = Math.min(bound.inputTokens, contextLength ?? bound.inputTokens);
    const tokens: Tokens = {
      input,
      cachedInput: 0,
      cacheWrite: 0,
      output: outputBoundOn(route, inference),
      reasoning: 0,
    };
    most = Math.max(most, costOf(dearest(prices), tokens, bound.marginPpm).total);
  }
  return most;
}

/** How many answers the caller wants at once. */
export function choicesOf(inference: Inference): number {
  const n = inference.wire === 'chat' ? inference.body.n : undefined;
  return typeof n === 'number' ? n : 1;
}

/** Input at whichever price is highest: what will be cached is not known before the call. */
function dearest(prices: Prices): Prices {
  const input = Math.max(prices.input, prices.cacheWrite, prices.cachedInput);
  const tiers = prices.tiers?.map((tier) => ({
    ...tier,
    input: Math.max(tier.input, tier.cacheWrite, tier.cachedInput),
  }));
  return { ...prices, input, ...(tiers && { tiers }) };
}

/** A guess at the tokens of a text of that many characters, for answers whose usage was never told. */
export function estimateTokens(characters: number): number {
  return Math.ceil(characters / charactersPerToken);
}
