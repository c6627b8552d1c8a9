import { constants, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { openForReading } from './engine/connection.ts';
import type { FromReader, Reads, ToReader } from './engine/reader.ts';
import { longReads } from './long-reads.ts';

if (parentPort) {
  const port = parentPort;
  const { file, hasLowPriority } = workerData as { file: string; hasLowPriority: boolean };
  // Linux applies this to the calling thread, other systems to the whole process.
  if (hasLowPriority && process.platform === 'linux')
    setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL);
  const database = openForReading(file);
  const reads: Reads = longReads(database);
  const handle = async (message: ToReader): Promise<void> => {
    if ('close' in message) {
      database.close();
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
      answer = { id, problem: error instanceof Error ? error.message : String(error) };
    }
    port.postMessage(answer);
  };
  // What it rejects with ends this thread; the daemon starts another one for the next read.
  port.on('message', (message: ToReader) => void handle(message));
}
