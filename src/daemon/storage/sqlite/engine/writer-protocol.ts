import type { BatchAnswer, Operation } from './write-batch.ts';

/** To the writer's thread. `open` comes first, `close` or `end` last, batches one at a time. */
export type ToWriter =
  | { open: string }
  | { batch: Operation[] }
  /** `lastSeen`: wall clock, milliseconds since 1970. */
  | { close: { lastSeen: number } }
  /** Without a mark that the database was closed in good order. */
  | { end: true };

/** `died`: why the thread can go on no longer. */
export type FromWriter =
  | { opened: true }
  | { closed: true }
  | { died: string; isDamage: boolean }
  | BatchAnswer;
