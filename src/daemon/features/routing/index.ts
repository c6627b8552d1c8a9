export {
  type Attempt,
  askedModelOf,
  attemptView,
  type CachedRoute,
  type OpenedRoute,
  type ProviderRoute,
  type Route,
  type RouteCaps,
  type RouteOpenRequest,
  type RoutePlanRequest,
  type RoutePreferences,
  type Router,
} from './contract.ts';
export {
  accountKey,
  accountOf,
  accountOwner,
  type Bench,
  type BenchPeriod,
  Health,
  type KeyUses,
} from './health.ts';
export { recordBench } from './record-bench.ts';
export { createRouter } from './router.ts';
export { unreachableLogger } from './unreachable-logger.ts';
export { isUsable } from './usable-models.ts';
