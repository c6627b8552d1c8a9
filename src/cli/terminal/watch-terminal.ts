const { isatty } = process.getBuiltinModule('node:tty');

const checkMs = 1_000;
const stdout = 1;

/**
 * Calls back when the terminal that shows the output is gone. Its SIGHUP does not reach a program that another one started in
 * a session or process group of its own, and one that only waits would stay for ever.
 */
export function watchTerminal(onGone: () => void, isTerminal: (fd: number) => boolean = isatty): void {
  if (!isTerminal(stdout)) return;
  const timer = setInterval(() => {
    if (isTerminal(stdout)) return;
    clearInterval(timer);
    onGone();
  }, checkMs).unref();
}
