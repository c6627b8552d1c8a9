export { fingerprintOf } from './fingerprint.ts';
export { Idempotency, type OnceCall, onceSealed } from './idempotency.ts';
export { IdempotencySlot } from './idempotency-slot.ts';
export type { Claimed, IdempotencyStore, SlotAnswer, StoredAnswer } from './store.ts';
