export { fingerprintOf } from './fingerprint.ts';
export { Idempotency, type OnceCall } from './idempotency.ts';
export type { Claimed, IdempotencyStore, KeptAnswer, KeyClaim } from './idempotency-store.ts';
