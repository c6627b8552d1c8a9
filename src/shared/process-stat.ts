/** What `/proc/PID/stat` tells of a process. */
export interface ProcessStat {
  /** Nothing but its number is left: whoever started it has not asked how it ended. */
  hasEnded: boolean;
  /** When it began, in ticks since the machine did: no two processes have this and their number in common. */
  startTicks: string;
}

/** Source: proc_pid_stat(5). The fields are counted from behind the name, which may hold anything. */
export function readProcessStat(text: string): ProcessStat {
  const [state, ...fields] = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const threads = Number(fields[16]);
  // Its first thread may be gone while another holds its files still.
  return { hasEnded: (state === 'Z' || state === 'X') && threads <= 1, startTicks: fields[18] ?? '' };
}
