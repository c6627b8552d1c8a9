import { whenAborted } from '../../shared/async/when-aborted.ts';

/** How long running calls may continue after the first and after the second request to stop. */
export interface DrainTimes {
  patientMs: number;
  hurriedMs: number;
}

/** Service managers kill a process that has not stopped after 30 seconds or more. */
export const defaultDrain: DrainTimes = { patientMs: 25_000, hurriedMs: 5_000 };

interface DrainOptions {
  times: DrainTimes;
  /** Resolves at the second request to stop. */
  askedAgain: Promise<void>;
  /** Aborted when storage failed: running calls can no longer be completed then. */
  storageFailed: AbortSignal;
  stderr: { write(text: string): unknown };
}

export interface Drainable {
  /** Accepts nothing new; resolves when all work has ended or was canceled at the deadline. */
  drain(deadlineMs: number): Promise<unknown>;
}

/** A shorter wait is not worth a message. */
const noticeAfterMs = 300;

/** Waits for running calls, and says so on stderr if that takes noticeably long. */
export async function drain(
  parts: Drainable[],
  { times, askedAgain, storageFailed, stderr }: DrainOptions,
): Promise<void> {
  const { patientMs, hurriedMs } = times;
  const seconds = Math.round(patientMs / 1000);
  const text = `Waiting up to ${seconds} s for running calls; stop again to cancel them.\n`;
  const timer = setTimeout(() => stderr.write(text), noticeAfterMs);
  const failed = new Promise<void>((resolve) => void whenAborted(storageFailed, resolve));
  const all = (ms: number) => Promise.all(parts.map((part) => part.drain(ms)));
  const drained = Promise.race([
    all(patientMs),
    askedAgain.then(() => all(hurriedMs)),
    failed.then(() => all(0)),
  ]);
  await drained.finally(() => clearTimeout(timer));
}
