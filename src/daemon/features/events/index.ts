export { createEventFeed, type EventFeed, type LiveEvent } from './event-feed.ts';
export { eventHandlers } from './handlers.ts';
export { hostEvents, type NewEvent } from './store.ts';
