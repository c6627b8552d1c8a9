import type {
  CapabilitiesView,
  LiveView,
  ModelEntry,
  ModelProvider,
  PricesView,
} from '../../../shared/contract/models.ts';
import type { Rate, RateCard, RateRow } from '../../../shared/contract/rates.ts';
import {
  formatUsd,
  type MediaPrices,
  type NanoUsd,
  type TokenPrices,
  type ToolFees,
  withMargin,
} from '../../../shared/money/money.ts';
import { isoTime } from '../../../shared/time/time.ts';
import type { Capabilities } from './model-traits.ts';
import type { Offer, ProviderDescription, Resolution } from './offer.ts';
import type { SpeedNumbers, SpeedReader } from './speed.ts';

/** Settings of the host and the caller's workspace for a model. */
export interface ModelContext {
  speed: SpeedReader;
  /** The providers for which the workspace has its own keys. */
  ownKeys: ReadonlySet<string>;
  /** When the host was set up, in Unix seconds. */
  hostCreatedAt: number;
}

/** A model in `/v1/models`. Prices for long inputs are not among the four shown. */
export function toModelEntry(
  { id, offers: hostOffers }: Resolution,
  { speed, ownKeys, hostCreatedAt }: ModelContext,
): ModelEntry {
  const offers = hostOffers.map((offer) =>
    ownKeys.has(offer.provider) ? { ...offer, available: true, reason: null } : offer,
  );
  const measured = offers.map((offer) => speed.read(offer.provider, offer.model));
  const slash = id.indexOf('/');
  const best = cheapest(offers);
  const context_length = most(offers.map((offer) => offer.contextLength));
  const max_output_tokens = most(offers.map((offer) => offer.outputTokensMax));
  return {
    id,
    object: 'model',
    created: offers.find((offer) => offer.createdAt !== null)?.createdAt ?? hostCreatedAt,
    owned_by: slash > 0 ? id.slice(0, slash) : (offers[0]?.provider ?? id),
    // Agents that find no limit assume a small one, and shorten conversations long before it is reached.
    ...(context_length !== null && { context_length }),
    ...(max_output_tokens !== null && { max_output_tokens }),
    service: {
      name: offers[0]?.title ?? id,
      description: offers.find((offer) => offer.description !== null)?.description ?? null,
      context_length,
      max_output_tokens,
      capabilities: toCapabilitiesView(offers[0]?.capabilities),
      providers: offers.map((offer, index) => toModelProvider(offer, measured[index] ?? null)),
      prices: best?.prices ? pricesView(best.prices) : null,
      live: toLiveView(quickest(measured)),
    },
  };
}

/** An alias in `/v1/models`: what all of its models offer. */
export function toAliasEntry(
  { id, models }: { id: string; models: readonly Resolution[] },
  context: ModelContext,
): ModelEntry {
  const entry = toModelEntry({ id, offers: models.flatMap(({ offers }) => offers) }, context);
  const names = models.map((model) => model.id).join(', ');
  return { ...entry, service: { ...entry.service, name: id, description: `Alias of ${names}` } };
}

function toModelProvider(offer: Offer, measured: SpeedNumbers | null): ModelProvider {
  return {
    provider: offer.provider,
    model: offer.providerModel,
    available: offer.available,
    reason: offer.reason,
    prices: offer.prices ? pricesView(offer.prices) : null,
    live: toLiveView(measured),
  };
}

/** Cached, since the list is public and long, and prices rarely change. */
const shownPrices = new WeakMap<TokenPrices, PricesView>();

/** The API's form of prices, in dollars. */
export function pricesView(prices: TokenPrices): PricesView {
  const known = shownPrices.get(prices);
  if (known !== undefined) return known;
  const view = {
    input: formatUsd(prices.input),
    cached_input: formatUsd(prices.cachedInput),
    cache_write: formatUsd(prices.cacheWrite),
    output: formatUsd(prices.output),
    ...mediaView(prices.media, formatUsd),
    ...(prices.fees && { fees: feesView(prices.fees) }),
  };
  shownPrices.set(prices, view);
  return view;
}

function toLiveView(numbers: SpeedNumbers | null): LiveView | null {
  if (numbers === null) return null;
  return {
    window: '1h',
    attempts: numbers.attempts,
    uptime: numbers.uptime,
    ttft_ms_p50: numbers.ttftMsP50,
    ttft_ms_p90: numbers.ttftMsP90,
    tokens_per_second_p50: numbers.tokensPerSecondP50,
  };
}

function toCapabilitiesView(capabilities: Capabilities | undefined): CapabilitiesView {
  return {
    kind: capabilities?.kind ?? null,
    input_modalities: [...(capabilities?.inputModalities ?? ['text'])],
    output_modalities: [...(capabilities?.outputModalities ?? ['text'])],
    tools: capabilities?.tools ?? null,
    parallel_tools: capabilities?.parallelTools ?? null,
    structured_output: capabilities?.structuredOutput ?? null,
    reasoning: capabilities?.reasoning ?? null,
    logprobs: capabilities?.logprobs ?? null,
  };
}

/** The cheapest available offer, or else the cheapest of all. */
function cheapest(offers: readonly Offer[]): Offer | undefined {
  const priced = offers.filter((offer) => offer.prices !== null);
  const callable = priced.filter((offer) => offer.available);
  const sum = (offer: Offer) => (offer.prices ? offer.prices.input + offer.prices.output : 0);
  return (callable.length > 0 ? callable : priced).toSorted((a, b) => sum(a) - sum(b))[0];
}

function quickest(measured: readonly (SpeedNumbers | null)[]): SpeedNumbers | null {
  const wait = (numbers: SpeedNumbers) => numbers.ttftMsP50 ?? Number.POSITIVE_INFINITY;
  const some = measured.filter((numbers) => numbers !== null);
  return some.toSorted((a, b) => wait(a) - wait(b) || b.uptime - a.uptime)[0] ?? null;
}

function most(numbers: readonly (number | null)[]): number | null {
  const known = numbers.filter((number) => number !== null);
  return known.length > 0 ? Math.max(...known) : null;
}

/** The rate card at `now`, with a margin in millionths (50 000 = 5 %). */
export function toRateCard(
  all: readonly Resolution[],
  providers: readonly ProviderDescription[],
  /** The host's own models, which cost nothing. */
  free: readonly string[],
  { marginPpm, now }: { marginPpm: number; now: number },
): RateCard {
  const listed = all.flatMap(({ offers }) => offers);
  // The price of every model that the provider does not list.
  const others = providers.flatMap(({ name, models, prices }) =>
    models === '*' && prices?.['*'] ? [{ model: `${name}/*`, provider: name, prices: prices['*'] }] : [],
  );
  return {
    object: 'list',
    unit: 'USD per million tokens',
    margin_percent: marginPpm / 10_000,
    as_of: isoTime(now),
    data: [
      ...[...listed, ...others].map((offer) => toRateRow(offer, marginPpm)),
      ...free.map((model) => toRateRow({ model, provider: model, prices: noPrices }, 0)),
    ],
  };
}

const noPrices = { input: 0, cachedInput: 0, cacheWrite: 0, output: 0 };

function toRateRow(
  { model, provider, prices }: Pick<Offer, 'model' | 'provider' | 'prices'>,
  marginPpm: number,
): RateRow {
  const rate = (price: NanoUsd | undefined) => (price === undefined ? null : toRate(price, marginPpm));
  return {
    model,
    provider,
    kind: 'list',
    input: rate(prices?.input),
    cached_input: rate(prices?.cachedInput),
    cache_write: rate(prices?.cacheWrite),
    output: rate(prices?.output),
    ...mediaView(prices?.media, (price) => toRate(price, marginPpm)),
  };
}

function feesView({ webSearch, fileSearch }: ToolFees) {
  return {
    ...(webSearch !== undefined && { web_search: formatUsd(webSearch) }),
    ...(fileSearch !== undefined && { file_search: formatUsd(fileSearch) }),
  };
}

function mediaView<T>(media: MediaPrices | undefined, show: (price: NanoUsd) => T) {
  const { audioInput, cachedAudio, audioOutput, imageOutput } = media ?? {};
  return {
    ...(audioInput !== undefined && { audio_input: show(audioInput) }),
    ...(cachedAudio !== undefined && { cached_audio: show(cachedAudio) }),
    ...(audioOutput !== undefined && { audio_output: show(audioOutput) }),
    ...(imageOutput !== undefined && { image_output: show(imageOutput) }),
  };
}

function toRate(price: NanoUsd, marginPpm: number): Rate {
  const total = withMargin(price, marginPpm);
  return {
    provider_usd: formatUsd(price),
    margin_usd: formatUsd(total - price),
    total_usd: formatUsd(total),
  };
}
