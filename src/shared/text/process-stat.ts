/** Fields of `/proc/PID/stat`. */
export interface ProcessStat {
  /** A zombie: the process ended and its parent has not reaped it. */
  hasEnded: boolean;
  /** Start time in clock ticks since boot; together with the pid it identifies a process. */
  startTicks: string;
}

/** Source: proc_pid_stat(5). Fields are counted from after the name, which may contain anything. */
export function readProcessStat(text: string): ProcessStat {
  const [state, ...fields] = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const threads = Number(fields[16]);
  // The main thread may have ended while another still holds files.
  return { hasEnded: (state === 'Z' || state === 'X') && threads <= 1, startTicks: fields[18] ?? '' };
}
