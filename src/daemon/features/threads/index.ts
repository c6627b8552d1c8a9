export { chatHandlers, latestChats } from './chat-handlers.ts';
export { threadHandlers } from './handlers.ts';
export type { ThreadRun, Turn } from './thread-run.ts';
export { type ThreadCall, Threads } from './threads.ts';
export type {
  MessageRecord,
  RunEnd,
  RunEventRecord,
  RunRecord,
  RunStart,
  ThreadRecord,
  ThreadsStore,
} from './threads-store.ts';
export { titleOf } from './views.ts';
