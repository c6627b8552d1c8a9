import type { NanoUsd } from '../../../../shared/money/money.ts';
import type { HeldRoute, HoldRecord } from '../store.ts';
import type { BudgetScope } from './budget-rule.ts';

type Hold = Pick<HoldRecord, 'amount' | 'routes'>;

/** Whether calls belong to a scope by the route that answers them. */
export function isRouted({ kind }: Pick<BudgetScope, 'kind'>): boolean {
  return kind === 'model' || kind === 'provider';
}

/** Whether a scope of models or providers counts the calls that a route answers. */
export function isOnRoute(
  { kind, value }: BudgetScope,
  { model, provider }: { model: string; provider: string | null },
): boolean {
  return kind === 'model' ? model === value : kind === 'provider' && provider === value;
}

/**
 * What a call holds of a model or provider: the most that it can cost on one of its routes. A call that started before the
 * workspace had such budgets may have any route.
 */
export function heldOnRoutes({ amount, routes }: Hold, scope: BudgetScope): NanoUsd {
  if (routes === undefined) return amount;
  let most = 0;
  for (const route of routes) if (isOnRoute(scope, route)) most = Math.max(most, route.amount);
  return most;
}

/** The most that a call can be charged for a route; the provider of one that a dead daemon left behind may not be known. */
export function heldForRoute(
  { amount, routes }: Hold,
  { model, provider }: { model: string; provider: string | null },
): NanoUsd {
  const held = routes?.find(
    (route) => route.model === model && (provider === null || route.provider === provider),
  );
  return held?.amount ?? amount;
}

/** What budgets of models and providers leave of each route of a call, infinite without one. */
export type LeftOnRoute = (route: Pick<HeldRoute, 'model' | 'provider'>) => NanoUsd;

/** The amounts that are left of routes, in their order; nothing is left of others. */
export function leftOnRoutes(
  routes: readonly Pick<HeldRoute, 'model' | 'provider'>[],
  amounts: readonly NanoUsd[],
): LeftOnRoute {
  return ({ model, provider }) =>
    amounts[routes.findIndex((route) => route.model === model && route.provider === provider)] ?? 0;
}
