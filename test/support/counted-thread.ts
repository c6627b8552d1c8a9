import { parentPort, workerData } from 'node:worker_threads';
import { counter } from './step-counter.ts';

/** Work to count: prepares an input of a size, which is not counted, and returns what is. */
export type CountedWork = (size: number) => () => unknown;

const { works } = (await import(workerData)) as { works: Record<string, CountedWork> };
parentPort?.on('message', ({ name, size }: { name: string; size: number }) => {
  const work = works[name]?.(size);
  counter.steps = 0;
  const result = work?.();
  parentPort?.postMessage({ steps: counter.steps, result });
});
