import type { MessagePort } from 'node:worker_threads';
import { ApiError } from '../../../../shared/errors.ts';
import { messageOf } from '../../../../shared/faults/message-of.ts';
import { ThreadLink } from '../../../worker-threads/thread-link.ts';
import { isDamage } from './errors.ts';
import type { FromReader, Reads, ToReader } from './reader.ts';

const damaged =
  'The database is damaged. Stop the daemon and keep a copy of its folder, then restore the newest backup.';

interface ReadServer {
  reads: Reads;
  close: () => void;
  /** Whether a read failed because its database cannot be reached now. */
  isUnavailable?: (error: unknown) => boolean;
}

/** Runs the reader thread: executes the reads that arrive on `port`. */
export function serveReads(port: MessagePort, { reads, close, isUnavailable }: ReadServer): void {
  const link: ThreadLink<FromReader, ToReader> = new ThreadLink(port, {
    async read({ id, name, data }) {
      const onProgress = (progress: unknown) => link.tell('progress', { id, progress });
      const onStep = () => link.tell('step', { id });
      try {
        return await reads[name]?.(data as never, onProgress as never, onStep);
      } catch (error) {
        const cause = new Error(`a long read failed: ${messageOf(error)}`);
        if (isDamage(error)) throw new ApiError('server_error', { message: damaged, cause });
        throw isUnavailable?.(error) ? new ApiError('unavailable', { cause }) : cause;
      }
    },
    close() {
      close();
      // Ends only this thread, even while a backup waits for its next pages.
      process.exit();
    },
  });
}
