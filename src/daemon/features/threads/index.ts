export { chatHandlers, latestChats, toRun } from './chat-handlers.ts';
export { threadHandlers } from './handlers.ts';
export { sealedThreads } from './sealed-threads.ts';
export type { ThreadRun } from './thread-run.ts';
export { Threads } from './threads.ts';
export type { RunRecord, RunUsage } from './threads-store.ts';
export { titleOf } from './views.ts';
