import type { BatchResult, Operation } from './write-batch.ts';

interface Waiting {
  operations: readonly Operation[];
  answer: (result: BatchResult) => void;
}

/** Commits what several threads sent together: each commit waits for the disk, whatever its size. */
export class SharedBatches {
  readonly #run: (operations: readonly Operation[]) => BatchResult | Promise<BatchResult>;
  #waiting: Waiting[] = [];
  #isRunning = false;

  constructor(run: (operations: readonly Operation[]) => BatchResult | Promise<BatchResult>) {
    this.#run = run;
  }

  /** Adds a batch to the next commit. */
  add(operations: readonly Operation[], answer: (result: BatchResult) => void): void {
    this.#waiting.push({ operations, answer });
  }

  /** Commits what was added, and what is added meanwhile. Rejects if the database can no longer be used. */
  async commit(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    while (this.#waiting.length > 0) {
      const batches = this.#waiting;
      this.#waiting = [];
      const result = this.#run(batches.flatMap(({ operations }) => operations));
      answerEach(batches, result instanceof Promise ? await result : result);
    }
    this.#isRunning = false;
  }
}

function answerEach(batches: readonly Waiting[], result: BatchResult): void {
  if ('failure' in result) {
    for (const { answer } of batches) answer(result);
    return;
  }
  let start = 0;
  for (const { operations, answer } of batches) {
    const first = start;
    const end = first + operations.length;
    const failed = result.failed
      .filter(({ index }) => index >= first && index < end)
      .map((failure) => ({ ...failure, index: failure.index - first }));
    answer({ results: result.results.slice(first, end), failed });
    start = end;
  }
}
