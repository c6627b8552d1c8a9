export { expiryOf, resumedAfter, rowEvent } from './frames.ts';
export { type RowFeed, rowFeed } from './row-feed.ts';
