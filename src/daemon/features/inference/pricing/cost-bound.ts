import {
  costOf,
  dearestOutput,
  type NanoUsd,
  type Prices,
  soundPrice,
  type Tokens,
} from '../../../../shared/money.ts';
import { pictureIn } from '../../../../shared/pictures.ts';
import type { Route } from '../../routing/index.ts';
import type { ContentPart, Inference } from '../neutral.ts';
import { readsElsewhere, unparsedInputBytes } from './provider-extras.ts';
import { countedTools } from './tool-fees.ts';

/** A picture of eight tiles on the dearest model that counts by tiles: 2,833 tokens, and 5,667 a tile. */
const imageTokensMax = 48_169;
/** A picture of ordinary size on most models. */
const imageTokensUsual = 1_000;
/** A page of a document is read as text and as a picture; three bytes of base64 hold more than it yields. */
const fileTokensMin = 8192;
/** No model reads more at once: the bound of what only its provider will see. */
const inputTokensUnknown = 2_000_000;
/** What a message, an item or a tool takes beside its text. */
const itemTokensMax = 16;
/** Text a token holds on average; used for estimates, never for bounds. */
const charactersPerToken = 4;
/** What a model without a known maximum is assumed to write at most. */
export const outputTokensUnknown = 32_768;
/** How often a tool of the provider's own is held for, where the caller sets no `max_tool_calls`. */
const toolUsesUsual = 32;
/** More than any answer has ever needed. */
const toolUsesMax = 10_000;
/** More than any model reads or writes in one call, however much is asked for: a count past it could not be priced. */
export const tokensMax = 100_000_000;

export const noTokens: Tokens = { input: 0, cachedInput: 0, cacheWrite: 0, output: 0, reasoning: 0 };

/** Tokens of an input, which nobody can count before its provider does. */
export interface InputTokens {
  /** The most that they can be: no tokenizer makes more of a text than its UTF-8 bytes. */
  most: number;
  /** A guess, for answers whose usage is never told. */
  likely: number;
}

export function inputTokens(inference: Inference): InputTokens {
  const media: InputTokens = { most: 0, likely: 0 };
  let text = itemTokensMax + bytes(inference.instructions);
  for (const item of inference.items) {
    text += itemTokensMax;
    if (item.type === 'message') text += addParts(item.content, media);
    else if (item.type === 'function_call')
      text += bytes(item.name) + bytes(item.arguments) + bytes(item.callId);
    else if (item.type === 'function_call_output') text += addParts(item.output, media) + bytes(item.callId);
    else if (item.type === 'reasoning') text += reasoningBytes(item.summary, item.origin?.payload);
    else if (pictureIn(item.json)) addPicture(media);
    else text += JSON.stringify(item.json).length * 3;
  }
  for (const tool of inference.tools) text += itemTokensMax + bytes(JSON.stringify(tool));
  if (inference.format) text += bytes(JSON.stringify(inference.format));
  // What nobody here understands may be read or not: it is held for, and never guessed to have been.
  const passed = unparsedInputBytes(inference) + (readsElsewhere(inference) ? inputTokensUnknown : 0);
  return { most: text + media.most + passed, likely: estimateTokens(text) + media.likely };
}

function bytes(text: string | undefined): number {
  return text === undefined ? 0 : Buffer.byteLength(text);
}

function reasoningBytes(summary: readonly string[], payload: unknown): number {
  const texts = summary.reduce((sum, text) => sum + bytes(text), 0);
  return texts + (payload === undefined ? 0 : bytes(JSON.stringify(payload)));
}

/** The bytes of the parts that are text; what the others are read as is added to `media`. */
function addParts(parts: readonly ContentPart[], media: InputTokens): number {
  let text = 0;
  for (const part of parts) {
    if (part.type === 'text') text += bytes(part.text);
    else if (part.type === 'refusal') text += bytes(part.refusal);
    else if (part.type === 'image') addPicture(media);
    else {
      const told = Math.max(fileTokensMin, part.data?.length ?? 0);
      media.most += part.data === undefined ? inputTokensUnknown : told;
      media.likely += estimateTokens(told);
    }
  }
  return text;
}

function addPicture(media: InputTokens): void {
  media.most += imageTokensMax;
  media.likely += imageTokensUsual;
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
  return Math.min(tokensMax, (most ?? outputTokensUnknown) * choicesOf(inference));
}

/** The most that the call can cost the workspace on any of the routes; 0 where no price is known. */
export function costBound(
  routes: readonly Route[],
  inference: Inference,
  bound: { inputTokens: number; marginPpm: number },
): NanoUsd {
  let most = 0;
  for (const route of routes) {
    const { prices, contextLength } = route.offer;
    if (!prices || route.ownKey) continue;
    const input = Math.min(bound.inputTokens, contextLength ?? tokensMax, tokensMax);
    const tokens = { ...spentOnInput(inference, input), output: outputBoundOn(route, inference) };
    const levels = applicablePriceTiers(prices, inference, input);
    most = Math.max(most, ...levels.map((at) => costOf(at, tokens, bound.marginPpm).total));
  }
  return most;
}

/** The input at its longest, and the tools of the provider's own that may be used before an answer. */
export function spentOnInput({ wire, tools, body }: Inference, input: number): Tokens {
  if (wire !== 'responses' || tools.length === 0) return { ...noTokens, input };
  const { max_tool_calls: told } = body;
  const most = typeof told === 'number' && told >= 0 ? Math.min(Math.ceil(told), toolUsesMax) : toolUsesUsual;
  const has = (type: RegExp) =>
    tools.some((tool) => tool.type === 'opaque' && type.test(String(tool.json.type)));
  const webSearch = has(countedTools.webSearch) ? most : 0;
  const fileSearch = has(countedTools.fileSearch) ? most : 0;
  return { ...noTokens, input, ...(webSearch + fileSearch > 0 && { toolUses: { webSearch, fileSearch } }) };
}

/** What tokens cost the workspace on a route; 0 where no price is known. */
export function costOn({ offer, ownKey }: Route, tokens: Tokens, marginPpm: number): NanoUsd {
  return offer.prices && !ownKey ? costOf(offer.prices, tokens, marginPpm).total : 0;
}

/** How many answers the caller wants at once. */
export function choicesOf(inference: Inference): number {
  const n = inference.wire === 'chat' ? inference.body.n : undefined;
  return typeof n === 'number' ? n : 1;
}

/**
 * The prices that may come to hold for an input of at most that many tokens, each with input and output at whichever
 * price is highest: what will be cached, how long the input is and what it is answered with is not known before the call.
 */
export function applicablePriceTiers(prices: Prices, inference: Inference, inputTokens: number): Prices[] {
  const tiers = prices.tiers?.filter((tier) => inputTokens > tier.aboveInputTokens) ?? [];
  return [prices, ...tiers].map((level) => {
    const { input, cachedInput, cacheWrite } = level;
    const sound = level.media && mayHaveSound(inference) ? soundPrice(level) : 0;
    return {
      input: Math.max(input, cacheWrite, cachedInput, sound),
      cachedInput,
      cacheWrite,
      output: dearestOutput(level),
      ...(level.fees && { fees: level.fees }),
    };
  });
}

function mayHaveSound({ items }: Inference): boolean {
  return items.some((item) => {
    if (item.type === 'opaque') return !pictureIn(item.json);
    const parts =
      item.type === 'message' ? item.content : item.type === 'function_call_output' ? item.output : [];
    return parts.some((part) => part.type === 'audio' || part.type === 'file');
  });
}

/** A guess at the tokens of a text of that many characters, for answers whose usage was never told. */
export function estimateTokens(characters: number): number {
  return Math.ceil(characters / charactersPerToken);
}
