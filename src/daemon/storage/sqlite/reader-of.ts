import { Reader } from './engine/reader.ts';
import type { LongReads } from './long-reads.ts';
import { startThread } from './start-thread.ts';

/** With `hasLowPriority`, reads leave the processor to other threads, where the system can do that. */
export function readerOf(file: string, { hasLowPriority = false } = {}): Reader<LongReads> {
  return new Reader(() => startThread('reader-worker', { file, hasLowPriority }));
}
