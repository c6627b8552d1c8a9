import '../features/events/event-feed.ts';
