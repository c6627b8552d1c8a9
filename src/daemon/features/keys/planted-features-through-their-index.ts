import '../events/event-feed.ts';
