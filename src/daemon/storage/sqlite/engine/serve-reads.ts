import type { MessagePort } from 'node:worker_threads';
import { messageOf } from '../../../../shared/message-of.ts';
import type { FromReader, Reads, ToReader } from './reader.ts';

interface ReadServer {
  reads: Reads;
  close: () => void;
  /** Whether a read failed because its database cannot be reached now. */
  isUnavailable?: (error: unknown) => boolean;
}

/** Runs the reader thread: executes the reads that arrive on `port`. */
export function serveReads(port: MessagePort, { reads, close, isUnavailable }: ReadServer): void {
  const handle = async (message: ToReader): Promise<void> => {
    if ('close' in message) {
      close();
      // Ends only this thread, even while a backup waits for its next pages.
      process.exit();
    }
    const { id, name, data } = message;
    const onProgress = (progress: unknown) => port.postMessage({ id, progress } satisfies FromReader);
    const onStep = () => port.postMessage({ id, isStep: true } satisfies FromReader);
    let answer: FromReader;
    try {
      answer = { id, result: await reads[name]?.(data as never, onProgress as never, onStep) };
    } catch (error) {
      const problem = messageOf(error);
      answer = { id, problem, isUnavailable: isUnavailable?.(error) ?? false };
    }
    port.postMessage(answer);
  };
  // What it rejects with ends this thread; the daemon starts another one for the next read.
  port.on('message', (message: ToReader) => void handle(message));
}
