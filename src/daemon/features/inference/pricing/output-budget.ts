import { type NanoUsd, outputTokensPaidBy } from '../../../../shared/money.ts';
import type { Route } from '../../routing/index.ts';
import type { Inference } from '../neutral.ts';
import {
  applicablePriceTiers,
  choicesOf,
  costBound,
  outputTokensBound,
  outputTokensOn,
  outputTokensUnknown,
  spentOnInput,
  tokensMax,
} from './cost-bound.ts';

/** An answer that may be no longer than that is not worth its prompt. */
const outputTokensWorth = 16;

/** How much a call may cost, and how much it may write for that. */
export interface OutputBudget {
  routes: Route[];
  /** The most that any of the routes can cost. */
  amount: NanoUsd;
  /** What a route is told to write at most, each answer by itself; undefined leaves it to the model. */
  outputTokensOn: (route: Route) => number | undefined;
  /** The most on any of the routes, all answers together. */
  outputTokensBound: number;
  /** Whether money, and not the caller or the model, sets the bound. */
  isCut: boolean;
}

interface Bound {
  /** The most that the input can be. */
  inputTokens: number;
  marginPpm: number;
}

/** What a call asks for, whatever it costs. */
export function uncappedBudget(routes: Route[], inference: Inference, bound: Bound): OutputBudget {
  return {
    routes,
    amount: costBound(routes, inference, bound),
    outputTokensOn: (route) => outputTokensOn(route, inference.outputTokensMax),
    outputTokensBound: outputTokensBound(routes, inference),
    isCut: false,
  };
}

/**
 * What a call can do with so much money: the routes that can still write something with it, and how much each may write.
 * Undefined when there is none.
 */
export function capOutputToBudget(
  full: Pick<OutputBudget, 'routes'>,
  inference: Inference,
  bound: Bound & { affordable: NanoUsd },
): OutputBudget | undefined {
  const outputOn = (route: Route) =>
    Math.min(wholeOutputOn(route, inference), affordableOn(route, inference, bound));
  const routes = full.routes.filter((route) => {
    const output = outputOn(route);
    return output >= outputTokensWorth || output >= wholeOutputOn(route, inference);
  });
  if (routes.length === 0) return undefined;
  const amounts = routes.map((route) =>
    costBound([route], { ...inference, outputTokensMax: outputOn(route) }, bound),
  );
  return {
    routes,
    amount: Math.max(...amounts),
    outputTokensOn: outputOn,
    outputTokensBound: Math.max(...routes.map(outputOn)) * choicesOf(inference),
    isCut: true,
  };
}

/** What one answer may have on a route when nothing but the caller and the model bounds it. */
function wholeOutputOn(route: Route, inference: Inference): number {
  const most = outputTokensOn(route, inference.outputTokensMax) ?? route.offer.outputTokensMax;
  return Math.min(tokensMax, most ?? outputTokensUnknown);
}

/** How many tokens each answer may have for that money; below zero when it does not even pay for the prompt. */
function affordableOn(
  { offer, ownKey }: Route,
  inference: Inference,
  { inputTokens, marginPpm, affordable }: Bound & { affordable: NanoUsd },
): number {
  if (!offer.prices || ownKey) return Number.POSITIVE_INFINITY;
  const input = Math.min(inputTokens, offer.contextLength ?? tokensMax, tokensMax);
  const spent = spentOnInput(inference, input);
  const tokens = applicablePriceTiers(offer.prices, inference, input).map((prices) =>
    outputTokensPaidBy(affordable, prices, spent, marginPpm),
  );
  return Math.floor(Math.min(...tokens) / choicesOf(inference));
}
