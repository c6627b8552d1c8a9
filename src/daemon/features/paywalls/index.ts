export { caddyRoute, caddyRouteId, nginxLocations } from './export.ts';
export { type Forwarding, PaywallGate } from './gate.ts';
export { upstreamFailed } from './gate-answers.ts';
export { paywallHandlers } from './handlers.ts';
export { createPaywalls } from './paywalls.ts';
export { keepPruned } from './prune.ts';
export { type ProxyConfig, type ProxyTarget, Reconciler } from './reconcile.ts';
export type { PaywallRecord } from './store.ts';
