/** How long running calls may take to end once the daemon was asked to stop, and once it was asked again. */
export interface DrainTimes {
  patientMs: number;
  hurriedMs: number;
}

interface Draining {
  times: DrainTimes;
  /** Resolves when somebody asks a second time. */
  askedAgain: Promise<void>;
  /** Aborted when nothing can be written any more: running calls are not worth waiting for then. */
  died: AbortSignal;
  stderr: { write(text: string): unknown };
}

interface Drainable {
  /** Takes nothing new and resolves when what runs has ended, or was ended after that time. */
  drain(deadlineMs: number): Promise<unknown>;
}

const silentMs = 300;

/** Waits for running calls, as long as is fitting, and says so when a person would wonder. */
export async function drain(
  parts: Drainable[],
  { times, askedAgain, died, stderr }: Draining,
): Promise<void> {
  const { patientMs, hurriedMs } = times;
  const seconds = Math.round(patientMs / 1000);
  const text = `Running calls have ${seconds} s to end; stop it again to cut them short.\n`;
  const timer = setTimeout(() => stderr.write(text), silentMs);
  const withStorageDead = new Promise<void>((resolve) => {
    if (died.aborted) resolve();
    else died.addEventListener('abort', () => resolve(), { once: true });
  });
  const all = (ms: number) => Promise.all(parts.map((part) => part.drain(ms)));
  const drained = Promise.race([
    all(patientMs),
    askedAgain.then(() => all(hurriedMs)),
    withStorageDead.then(() => all(0)),
  ]);
  await drained.finally(() => clearTimeout(timer));
}
