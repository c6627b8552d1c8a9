/** The timer does not run while the process is stopped, so this only bridges the moment until the signal arrives. */
const resumedMs = 50;

/** Stops the whole job, as Ctrl-Z does in a cooked terminal; resolves when the shell continues it. */
export function stopJob(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, resumedMs);
    process.kill(0, 'SIGTSTP');
  });
}
