export { type EventFeed, eventFeed, type LiveEvent } from './event-feed.ts';
export { eventHandlers } from './handlers.ts';
export { hostEvents, type NewEvent } from './store.ts';
