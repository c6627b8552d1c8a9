export { fingerprintOf } from './fingerprint.ts';
export { Idempotency, type OnceCall } from './idempotency.ts';
export { IdempotencySlot } from './idempotency-slot.ts';
export { secretOnce } from './secret-once.ts';
export type { Claimed, IdempotencyStore, KeyClaim, SlotAnswer, StoredAnswer } from './store.ts';
