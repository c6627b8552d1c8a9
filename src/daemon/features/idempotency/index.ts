export { AnswerPlace } from './answer-place.ts';
export { fingerprintOf } from './fingerprint.ts';
export { Idempotency, type OnceCall } from './idempotency.ts';
export type { Claimed, IdempotencyStore, KeptAnswer, KeyClaim, PlacedAnswer } from './idempotency-store.ts';
