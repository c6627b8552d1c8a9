import { parentPort, workerData } from 'node:worker_threads';
import { openForReading } from './connection.ts';
import { longReads } from './long-reads.ts';
import type { FromReader, ToReader } from './reader.ts';

if (parentPort) {
  const port = parentPort;
  const reads: Record<string, (data: never, onProgress: never) => unknown> = longReads(
    openForReading((workerData as { file: string }).file),
  );
  port.on('message', async ({ id, name, data }: ToReader) => {
    const onProgress = (progress: unknown) => port.postMessage({ id, progress } satisfies FromReader);
    let answer: FromReader;
    try {
      answer = { id, result: await reads[name]?.(data as never, onProgress as never) };
    } catch (error) {
      answer = { id, problem: error instanceof Error ? error.message : String(error) };
    }
    port.postMessage(answer);
  });
}
