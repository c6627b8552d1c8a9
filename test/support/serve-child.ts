/**
 * Runs the daemon in a child process, for tests that kill it or send it signals. Its environment sets what config.yaml
 * cannot: `DRAIN_MS`, the two deadlines of a stop, `CLOCK_AHEAD_MS`, how far its clock is ahead, and `HANG_CPU_MS`, how much CPU it
 * may use in one task. A message of its parent, `{ advanceMs }`, puts its clock forward and is answered with the same; with `hang`,
 * its main thread never comes back; with `steps`, those that it counted are returned. SIGUSR2 terminates the thread that writes the database,
 * or the first one with the name in `CRASHING_THREAD`, as if it had crashed. Events that break the schema of their endpoint are
 * appended to `STREAM_VIOLATIONS`.
 */
import { appendFileSync } from 'node:fs';
import { enableCompileCache, flushCompileCache } from 'node:module';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';

enableCompileCache(join(import.meta.dirname, 'compile-cache'));
const { serve } = await import('../../src/daemon/main.ts');
const { checkAllStreams } = await import('./check-streams.ts');
const { MovingClock } = await import('./moving-clock.ts');
// Node writes its cache at the exit, which most of these daemons do not reach.
flushCompileCache();

const { env, stdout, stderr } = process;
// The test that reads them may have been killed.
for (const stream of [stdout, stderr]) stream.on('error', () => {});
// The first thread that is started is the writer.
const crashing = env.CRASHING_THREAD;
process.on('worker', (thread: Worker & { threadName?: string }) => {
  if (crashing !== undefined && thread.threadName !== crashing) return;
  if (process.listenerCount('SIGUSR2') === 0) process.on('SIGUSR2', () => void thread.terminate());
});
// Written immediately, as the process may be killed.
checkAllStreams((violation) => appendFileSync(env.STREAM_VIOLATIONS ?? '', `${violation}\n`));
const { now } = Date;
const aheadMs = Number(env.CLOCK_AHEAD_MS ?? 0);
Date.now = () => now() + aheadMs;
const clock = new MovingClock();
function neverReturn(): never {
  for (;;);
}
process.on('message', (message: { advanceMs: number } | 'hang' | 'steps') => {
  if (message === 'hang') neverReturn();
  if (message !== 'steps') clock.advance(message.advanceMs);
  process.send?.(message === 'steps' ? globalThis.stepCounter?.ofAll() : message);
});
// The daemon ends although its parent could still write.
process.channel?.unref();
const [patientMs, hurriedMs] = (env.DRAIN_MS ?? '25000,5000').split(',').map(Number) as [number, number];
const drain = { patientMs, hurriedMs };
const hang = env.HANG_CPU_MS ? { cpuMsMax: Number(env.HANG_CPU_MS), everyMs: 10 } : undefined;
process.exitCode = await serve({ port: 0, drain, clock, env, stdout, stderr, ...(hang && { hang }) });
