import { readFileSync } from 'node:fs';

/** The processor time, in seconds, of processes of this one that have ended; 0 outside Linux. Source: proc_pid_stat(5), in hundredths. */
export function endedCpuSeconds(): number {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[13]) + Number(fields[14])) / 100;
  } catch {
    return 0;
  }
}
