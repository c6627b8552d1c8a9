import { readFile } from 'node:fs/promises';
import { readProcessStat } from '../../shared/process-stat.ts';

/** When this process began, as commands find it again; null where the system is not Linux. */
export async function startTicks(): Promise<string | null> {
  const text = await readFile('/proc/self/stat', 'utf8').catch(() => undefined);
  return text === undefined ? null : readProcessStat(text).startTicks;
}
