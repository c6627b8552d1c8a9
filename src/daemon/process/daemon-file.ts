import { readFile, stat } from 'node:fs/promises';
import { type DaemonFile, inodeOf } from '../../shared/folders.ts';
import { readProcessStat } from '../../shared/text/process-stat.ts';
import { isoTime } from '../../shared/time/time.ts';
import { version } from '../../shared/version.ts';
import { dataFileIn, writeSecretFile } from './data-folder.ts';

/** Writes the file by which commands find the running daemon. */
export async function writeDaemonFile(
  dataFolder: string,
  { url, socket, startedAt }: { url: string; socket: string | null; startedAt: number },
): Promise<DaemonFile> {
  const content: DaemonFile = {
    url,
    socket,
    version,
    start_ticks: await startTicks(),
    pid: process.pid,
    data_dir: dataFolder,
    data_inode: inodeOf(await stat(dataFolder)),
    started_at: isoTime(startedAt),
  };
  await writeSecretFile(dataFileIn(dataFolder)('daemon'), JSON.stringify(content));
  return content;
}

/** When this process started, in the kernel's ticks; null on systems other than Linux. */
async function startTicks(): Promise<string | null> {
  const text = await readFile('/proc/self/stat', 'utf8').catch(() => undefined);
  return text === undefined ? null : readProcessStat(text).startTicks;
}
