import type { NanoUsd } from '../../../shared/money/money.ts';
import type { Billed } from '../../features/upstreams/neutral.ts';
import { isObject, type Json } from '../json.ts';

const nanoPerUsd = 1e9;
/** xAI's unit: ten thousand million are a dollar. */
const ticksPerNano = 10;
/** No call costs more; what does is not a number of dollars. */
const usdMax = 100_000;

/**
 * What a provider says of the cost of an answer: the service tier, beside its usage or in it, and in its usage dollars in `cost` (OpenRouter), `cost.total_cost`
 * (Perplexity), `estimated_cost` (DeepInfra), `cost_usd` (a gateway like this) or `cost_in_usd_ticks` (xAI). Source: their API
 * references.
 */
export function billedIn(usage: Json | undefined, stated?: unknown): { billed?: Billed } {
  const cost = usage && statedCost(usage);
  const tier = tierOf(stated) ?? (usage && tierIn(usage));
  if (cost === undefined && tier === undefined) return {};
  return { billed: { ...(cost !== undefined && { cost }), ...(tier !== undefined && { tier }) } };
}

/**
 * What the headers of a whole answer say besides its body: LiteLLM has the cost there. Its zero is a price that it does not know.
 * Source: its documentation, "Response headers".
 */
export function withHeaders(
  billed: Billed | undefined,
  headers: Readonly<Record<string, string>>,
): Billed | undefined {
  const text = headers['x-litellm-response-cost'];
  if (text === undefined || billed?.cost !== undefined) return billed;
  const stated = dollars(Number(text));
  const cost = stated && amount(stated * nanoPerUsd);
  return cost ? { ...billed, cost } : billed;
}

/**
 * The tier in a usage: Anthropic's `speed` and `service_tier`, Gemini's `serviceTier`, and Vertex's `trafficType`, which its
 * endpoint in OpenAI's format has in `extra_properties`. Source: their API references; vercel/ai#15488, QuantumNous/new-api#3283.
 */
function tierIn(usage: Json): string | undefined {
  const { google } = isObject(usage.extra_properties) ? usage.extra_properties : {};
  const ofGoogle = isObject(google) ? google.traffic_type : undefined;
  const names = [usage.speed, usage.service_tier, usage.serviceTier];
  for (const name of [...names, usage.trafficType, usage.traffic_type, ofGoogle]) {
    const tier = tierOf(name);
    if (tier !== undefined) return tier;
  }
  return undefined;
}

const standardTiers = new Set(['default', 'standard', 'auto', 'on_demand', 'unspecified']);
const tierCharactersMax = 64;

/** The name that a tier has in all formats; undefined for the standard one: `ON_DEMAND_FLEX` is `flex`. */
function tierOf(name: unknown): string | undefined {
  if (typeof name !== 'string' || name === '') return undefined;
  const tier = name
    .slice(0, tierCharactersMax)
    .toLowerCase()
    .replace(/^(service_tier|traffic_type|on_demand)_/, '');
  return standardTiers.has(tier) ? undefined : tier;
}

function statedCost(usage: Json): NanoUsd | undefined {
  const { cost, estimated_cost, cost_usd, cost_in_usd_ticks: ticks } = usage;
  if (typeof ticks === 'number') return amount(ticks / ticksPerNano);
  const stated =
    dollars(isObject(cost) ? cost.total_cost : cost) ?? dollars(estimated_cost) ?? dollars(cost_usd);
  return stated === undefined ? undefined : amount((stated + paidElsewhere(usage)) * nanoPerUsd);
}

/** With a key of ours at the provider behind it, OpenRouter charges a fee, and the provider the rest. */
function paidElsewhere({ is_byok: isOwnKey, cost_details: details }: Json): number {
  return isOwnKey === true && isObject(details) ? (dollars(details.upstream_inference_cost) ?? 0) : 0;
}

function dollars(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d{1,6}(\.\d{1,20})?$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && number >= 0 && number <= usdMax ? number : undefined;
}

/** Rounded up, but for what doubles cannot express. */
function amount(nano: number): NanoUsd | undefined {
  const cost = Math.ceil(Number(nano.toFixed(3)));
  return Number.isSafeInteger(cost) && cost >= 0 && cost <= usdMax * nanoPerUsd ? cost : undefined;
}
