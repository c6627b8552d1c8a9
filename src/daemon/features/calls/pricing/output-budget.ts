import { type NanoUsd, outputTokensPaidBy } from '../../../../shared/money/money.ts';
import type { HeldRoute, LeftOnRoute } from '../../metering/index.ts';
import type { Route } from '../../routing/index.ts';
import type { Inference } from '../../upstreams/neutral.ts';
import {
  applicablePriceTiers,
  choicesOf,
  costBound,
  dearestOf,
  inputBoundOn,
  largestInput,
  outputTokensBound,
  outputTokensOn,
  outputTokensUnknown,
  tokensMax,
} from './cost-bound.ts';

/** A shorter answer is not worth its prompt. */
const outputTokensMin = 16;

/** The most that a call may cost, and how much output that pays for. */
export interface OutputBudget {
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

/** The budget that pays for the whole request. */
export function uncappedBudget(routes: Route[], inference: Inference, bound: Bound): OutputBudget {
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
  full: Pick<OutputBudget, 'routes'>,
  inference: Inference,
  bound: Bound & { affordable: NanoUsd; isWhole?: boolean; leftOn?: LeftOnRoute | undefined },
): OutputBudget | undefined {
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
  { routes, outputTokensOn: outputOn }: Pick<OutputBudget, 'routes' | 'outputTokensOn'>,
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
  { routes }: Pick<OutputBudget, 'routes'>,
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
