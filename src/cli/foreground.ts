import { readFileSync } from 'node:fs';

/**
 * Whether what is typed at the terminal comes to this process: one that was sent to the background would be stopped by
 * reading there. True where it cannot be told. Source: proc_pid_stat(5), fields 5 and 8.
 */
export function isInForeground(): boolean {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    // The name of the program may hold spaces and parentheses.
    const [, , , group, , , terminalGroup] = stat.slice(stat.lastIndexOf(')') + 1).split(' ');
    return group === terminalGroup;
  } catch {
    return true;
  }
}
