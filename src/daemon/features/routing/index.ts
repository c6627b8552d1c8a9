export type { Attempt } from './all-failed.ts';
export { type Facts, factsOf } from './facts.ts';
export {
  type Bench,
  type BenchReason,
  Health,
  type HealthReader,
  type Standing,
  type Target,
} from './health.ts';
export {
  type AnswerEnd,
  attemptsMax,
  type Opened,
  type Openers,
  type OpenRequest,
  openRoute,
} from './open-route.ts';
export { matchesPattern, planRoutes } from './plan-routes.ts';
export { RetryBudget } from './retry-budget.ts';
export {
  accountOwner,
  ownAccount,
  type PlanRequest,
  type PriceCap,
  type Route,
  type RouteCaps,
  type RoutePreferences,
} from './route.ts';
export { createRouter, type RouterNeeds } from './router.ts';
export { tellUnreachable } from './tell-unreachable.ts';
