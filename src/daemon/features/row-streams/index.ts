export { expiryOf, resumedAfter, rowEvent } from './frames.ts';
export { createRowFeed, type RowFeed } from './row-feed.ts';
