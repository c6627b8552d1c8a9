export type { CallSlots, QueueWait } from './call-slots.ts';
export { Concurrency } from './concurrency.ts';
export { isLimited } from './limits.ts';
