import { isKnownProvider } from '../../../shared/known-providers.ts';
import {
  dearestOutput,
  type Prices,
  soundPrice,
  type TokenPrices,
  withMargin,
} from '../../../shared/money.ts';
import type { Offer } from '../catalog/index.ts';
import type { Facts } from './facts.ts';
import type { HealthReader } from './health.ts';
import { isSimulated, ownAccount, type PlanRequest, type PriceCap, type Route } from './route.ts';

/** Why an offer cannot serve a request, with the remedy where there is one. */
export interface Refusal {
  offer: Offer;
  reason: string;
  /** The cap that forbids it. */
  param?: 'limits.max_price' | 'service.max_price';
  retryAfterMs?: number;
}

/** Decides whether one offer may serve a request: by payment, the caller's wishes, abilities, price and health. */
export function judgeOffer(offer: Offer, request: PlanRequest, health: HealthReader): Route | Refusal {
  const { preferences } = request;
  if (preferences.only != null && !preferences.only.includes(offer.provider)) {
    return { offer, reason: 'service.route.only does not name it' };
  }
  if (preferences.ignore?.includes(offer.provider)) {
    return { offer, reason: 'service.route.ignore names it' };
  }
  const payment = choosePayment(offer, request);
  if (typeof payment === 'string') return { offer, reason: payment };
  const missing = missingAbility(offer, request.facts);
  if (missing !== undefined) return { offer, reason: missing };
  const priceRefusal = judgePrice(offer, request, payment);
  if (priceRefusal !== undefined) return { offer, ...priceRefusal };
  const route = routeOf(offer, request, payment);
  if (isSimulated(route)) return route;
  const standing = health.standing(route);
  if (standing.state !== 'refused') return { ...route, isLastResort: standing.state === 'last-resort' };
  const what = standing.reason === 'billing' ? 'its account is out of money' : 'it did not accept the key';
  const whose = payment.ownKey ? ' of the workspace' : '';
  return {
    offer,
    reason: `${what}${whose}; it is tried again in ${Math.ceil(standing.retryAfterMs / 1000)} s`,
    retryAfterMs: standing.retryAfterMs,
  };
}

function routeOf(offer: Offer, { workspaceId }: PlanRequest, { ownKey }: { ownKey: boolean }): Route {
  const { provider, providerModel } = offer;
  const account = ownKey ? ownAccount(provider, workspaceId) : provider;
  return { offer, account, provider, providerModel, workspaceId, ownKey, isLastResort: false };
}

/** Whose key pays: the host's account where it has one, else the workspace's own, unless the caller says which. */
function choosePayment(offer: Offer, request: PlanRequest): { ownKey: boolean } | string {
  const hasOwnKey = request.ownKeys?.has(offer.provider) ?? false;
  const takesOwnKeys = isKnownProvider(offer.provider);
  if (request.preferences.pay === 'mine') {
    if (hasOwnKey) return { ownKey: true };
    if (!takesOwnKeys) return 'workspaces cannot have keys of their own for it';
    return `the workspace has no key of its own: gateway provider-keys set ${offer.provider}`;
  }
  if (offer.available) return { ownKey: false };
  if (hasOwnKey && request.preferences.pay !== 'ours') return { ownKey: true };
  const reason = offer.reason ?? 'it is not available';
  if (!takesOwnKeys || request.preferences.pay === 'ours') return reason;
  return `${reason}, or a key of the workspace: gateway provider-keys set ${offer.provider}`;
}

function missingAbility(offer: Offer, facts: Facts): string | undefined {
  const can = offer.capabilities;
  if (facts.needsTools && can.tools === false) return 'the model cannot call tools';
  if (facts.needsStructuredOutput && can.structuredOutput === false) {
    return 'the model cannot answer by a JSON schema';
  }
  if (facts.needsReasoning && can.reasoning === false) return 'the model does not reason';
  const takes = can.inputModalities;
  if (takes === null) return undefined;
  if (facts.needsImages && !takes.includes('image')) return 'the model takes no images';
  if (facts.needsFiles && !takes.includes('file')) return 'the model takes no files';
  if (facts.needsAudio && !takes.includes('audio')) return 'the model takes no audio';
  return undefined;
}

function judgePrice(
  offer: Offer,
  request: PlanRequest,
  payment: { ownKey: boolean },
): Pick<Refusal, 'reason' | 'param'> | undefined {
  const { prices } = offer;
  const limits = [
    { param: 'limits.max_price', cap: request.caps.maxPrice },
    { param: 'service.max_price', cap: request.preferences.maxPrice },
  ] as const;
  const caps = limits.filter(({ cap }) => cap?.input != null || cap?.output != null);
  if (prices === null) {
    const isCharged = !payment.ownKey && (request.isPrepaid || request.caps.isSpendCapped);
    if (caps.length === 0 && !isCharged) return undefined;
    return {
      reason: 'its price is unknown: set it under prices in the configuration',
      param: caps[0]?.param,
    };
  }
  const marginPpm = payment.ownKey ? 0 : request.marginPpm;
  for (const { param, cap } of caps) {
    if (cap && exceeds(prices, cap, marginPpm, request.facts)) {
      return { reason: `it costs more than ${param} allows`, param };
    }
  }
  return undefined;
}

/** Whether any price that may come to hold for this input is above the cap: an estimate must not slip under it. */
function exceeds(prices: Prices, cap: PriceCap, marginPpm: number, facts: Facts): boolean {
  const hasSound = facts.needsAudio || facts.needsFiles;
  const inputPrice = (level: TokenPrices) => Math.max(level.input, hasSound ? soundPrice(level) : 0);
  const isAbove = (level: TokenPrices) =>
    (cap.input != null && withMargin(inputPrice(level), marginPpm) > cap.input) ||
    (cap.output != null && withMargin(dearestOutput(level), marginPpm) > cap.output);
  if (isAbove(prices)) return true;
  if (prices.tiers === undefined || prices.tiers.length === 0) return false;
  const inputTokensMax = facts.inputTokensMax();
  return prices.tiers.some((tier) => inputTokensMax > tier.aboveInputTokens && isAbove(tier));
}
