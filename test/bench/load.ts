/**
 * The clients of the bench, in a child process: tasks and results are messages.
 * In an open loop latency counts from when a request was due, so that what a stalled gateway holds up is seen.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Exchange } from './exchange.ts';
import { type LoadResult, type LoadTask, spreadOf } from './load-task.ts';
import { startMetronome } from './metronome.ts';
import { paths } from './wires.ts';

/** Connections of a closed loop begin within this time, so that paced streams do not tick together. */
const spreadMs = 200;
/** Requests that are running at the end may take this long; what is not answered then has failed. */
const graceMs = 60_000;
/** So that slow rates are timed to a millisecond. */
const ticksPerSecondMin = 1000;

class Run {
  readonly task: LoadTask;
  readonly #measureFrom: number;
  readonly #measureUntil: number;
  #running = 0;
  #served = 0;
  #measured = 0;
  #tokens = 0;
  readonly #failures: Record<string, number> = {};
  readonly #latencies: number[] = [];
  readonly #firstTokens: number[] = [];
  readonly #transits: number[] = [];

  constructor(task: LoadTask) {
    this.task = task;
    this.#measureFrom = performance.now() + task.warmupMs;
    this.#measureUntil = this.#measureFrom + task.measuredMs;
  }

  get isOver(): boolean {
    return (
      performance.now() >= this.#measureUntil ||
      this.#served >= (this.task.answersMax ?? Number.POSITIVE_INFINITY)
    );
  }

  fire(exchange: Exchange, dueAt: number, onDone: () => void): void {
    this.#running += 1;
    exchange.send(({ fault, tokens, firstTokenMs, transitsMs }) => {
      const now = performance.now();
      this.#running -= 1;
      this.#served += 1;
      if (fault !== undefined) this.addFailures(fault, 1);
      // Rates count what ends while measuring, latencies what was due while measuring.
      if (now >= this.#measureFrom && now < this.#measureUntil) {
        this.#measured += 1;
        this.#tokens += tokens;
      }
      if (dueAt >= this.#measureFrom && dueAt < this.#measureUntil) {
        this.#latencies.push(now - dueAt);
        if (firstTokenMs !== undefined) this.#firstTokens.push(firstTokenMs);
        for (const transit of transitsMs) this.#transits.push(transit);
      }
      onDone();
    });
  }

  addFailures(fault: string, count: number): void {
    if (count > 0) this.#failures[fault] = (this.#failures[fault] ?? 0) + count;
  }

  async finish(): Promise<LoadResult> {
    const giveUpAt = performance.now() + graceMs;
    while (this.#running > 0 && performance.now() < giveUpAt) await sleep(5);
    this.addFailures('not answered', this.#running);
    const seconds = this.task.measuredMs / 1000;
    return {
      served: this.#served,
      answersPerSecond: this.#measured / seconds,
      tokensPerSecond: this.#tokens / seconds,
      failures: this.#failures,
      failed: Object.values(this.#failures).reduce((sum, count) => sum + count, 0),
      latency: spreadOf(this.#latencies),
      firstToken: spreadOf(this.#firstTokens),
      transit: spreadOf(this.#transits),
    };
  }
}

async function runClosed(run: Run, exchanges: Exchange[]): Promise<void> {
  const loop = (exchange: Exchange) => {
    if (!run.isOver) run.fire(exchange, performance.now(), () => loop(exchange));
  };
  exchanges.forEach((exchange, index) => {
    setTimeout(loop, (index * spreadMs) / exchanges.length, exchange);
  });
  while (!run.isOver) await sleep(Math.min(run.task.warmupMs + run.task.measuredMs, 50));
}

async function runOpen(run: Run, exchanges: Exchange[], perSecond: number): Promise<void> {
  const idle = [...exchanges];
  const waiting: number[] = [];
  let nextDueAt = performance.now() + 50;
  const fireAll = () => {
    while (waiting.length > 0 && idle.length > 0) {
      const exchange = idle.pop() as Exchange;
      run.fire(exchange, waiting.shift() as number, () => {
        idle.push(exchange);
        fireAll();
      });
    }
  };
  const metronome = startMetronome(Math.max(perSecond * 2, ticksPerSecondMin), () => {
    const now = performance.now();
    for (; nextDueAt <= now && !run.isOver; nextDueAt += 1000 / perSecond) waiting.push(nextDueAt);
    fireAll();
  });
  await sleep(run.task.warmupMs + run.task.measuredMs);
  await metronome.stop();
  run.addFailures('not sent', waiting.splice(0).length);
}

async function runTask(task: LoadTask): Promise<LoadResult> {
  const { port, wire, streamTokens, isStamped } = task;
  const headers = Object.entries(task.headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const request = Buffer.from(
    `POST ${paths[wire]} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\n` +
      `${headers.join('')}content-length: ${Buffer.byteLength(task.body)}\r\n\r\n${task.body}`,
  );
  const exchanges = Array.from(
    { length: task.connections },
    () => new Exchange({ port, wire, streamTokens, isStamped }, request),
  );
  await Promise.all(exchanges.map((exchange) => exchange.open()));
  const run = new Run(task);
  if (task.perSecond === undefined) await runClosed(run, exchanges);
  else await runOpen(run, exchanges, task.perSecond);
  const result = await run.finish();
  for (const exchange of exchanges) exchange.close();
  return result;
}

process.on('message', (task: LoadTask) => {
  runTask(task).then(
    (result) => process.send?.({ result }),
    (error: Error) => process.send?.({ error: error.message }),
  );
});
process.on('disconnect', () => process.exit());
process.send?.({ isReady: true });
