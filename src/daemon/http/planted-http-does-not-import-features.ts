import '../features/events/index.ts';
