export { Background } from './background.ts';
export type { BackgroundEnd, BackgroundResponse, BackgroundStore, EventBatch } from './background-store.ts';
export { withoutServiceEvents } from './event-text.ts';
