export type { EventRecord, EventsStore, NewEvent } from './events-store.ts';
