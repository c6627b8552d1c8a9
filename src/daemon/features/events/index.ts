export { type EventFeed, eventFeed, type LiveEvent } from './event-feed.ts';
export type { FeedEvent } from './follower.ts';
export { eventHandlers } from './handlers.ts';
export { type EventRecord, type EventsStore, hostEvents, type NewEvent } from './store.ts';
