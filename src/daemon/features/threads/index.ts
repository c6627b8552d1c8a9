export { chatHandlers, latestChats, toRun } from './chat-handlers.ts';
export { threadHandlers } from './handlers.ts';
export type { ThreadRun, Turn } from './thread-run.ts';
export { type ThreadCall, Threads } from './threads.ts';
export type {
  MessageRecord,
  RunEnd,
  RunEventRecord,
  RunningAutopilot,
  RunRecord,
  RunStart,
  RunUsage,
  ThreadRecord,
  ThreadsStore,
} from './threads-store.ts';
export { readItem, textOf, titleOf } from './views.ts';
