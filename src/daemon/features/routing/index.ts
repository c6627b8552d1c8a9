export {
  type Attempt,
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
export { accountOwner, type Bench, type BenchPeriod, Health, ownAccount } from './health.ts';
export { createRouter } from './router.ts';
export { unreachableLogger } from './unreachable-logger.ts';
export { isUsable } from './usable-models.ts';
