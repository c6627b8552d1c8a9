import {
  type AdmittedCall,
  type AnsweringRoute,
  isFiltered,
} from '../../../../shared/calls/budget-filter.ts';
import type { NanoUsd } from '../../../../shared/money/money.ts';
import type { HeldRoute, HoldRecord } from '../store.ts';
import type { BudgetScope } from './budget-rule.ts';

type Hold = Pick<HoldRecord, 'amount' | 'routes'>;
/** A hold, and what filters of budgets look at. */
export type FilteredHold = Hold & AdmittedCall;

/** Whether calls belong to a scope by the route that answers them. */
export function isRouted({ kind }: Pick<BudgetScope, 'kind'>): boolean {
  return kind === 'model' || kind === 'provider' || kind === 'where';
}

/** Whether a scope counts a call by the route that answers it. */
export function isOnRoute({ kind, value }: BudgetScope, route: AnsweringRoute, call: AdmittedCall): boolean {
  if (kind === 'model') return route.model === value;
  if (kind === 'provider') return route.provider === value;
  return kind === 'where' && isFiltered(value, call, route);
}

/**
 * What a call holds of a model or provider: the most that it can cost on one of its routes. A call that started before the
 * workspace had such budgets may have any route.
 */
export function heldOnRoutes(hold: FilteredHold, scope: BudgetScope): NanoUsd {
  const { amount, routes } = hold;
  if (routes === undefined) return amount;
  let most = 0;
  for (const route of routes) if (isOnRoute(scope, route, hold)) most = Math.max(most, route.amount);
  // The call may have been shortened while no budget looked at its routes.
  return Math.min(most, amount);
}

/** The most that a call can be charged for a route; the provider of one that a dead daemon left behind may not be known. */
export function heldForRoute({ amount, routes }: Hold, { model, provider }: AnsweringRoute): NanoUsd {
  const held = routes?.find(
    (route) => route.model === model && (provider === null || route.provider === provider),
  );
  return held ? Math.min(held.amount, amount) : amount;
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
