import { readFileSync } from 'node:fs';

/** The processor time of all processes that this one has started and that have ended, in hundredths of a second; 0 outside Linux. */
export function clockTicks(): number {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return Number(fields[13]) + Number(fields[14]);
  } catch {
    return 0;
  }
}
