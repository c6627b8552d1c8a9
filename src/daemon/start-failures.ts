import { readdir, readFile, readlink } from 'node:fs/promises';
import { type ExitCode, exitCodes } from '../shared/errors.ts';
import { ConfigInvalid } from './config/config.ts';
import { FolderUnsafe } from './data-folder.ts';
import { DataFolderInUse, DataIsNewer, DataNeedsRepair, isDamage } from './storage/sqlite/errors.ts';

/** What a person reads when the daemon cannot start: what is wrong and what to do about it. */
export async function explainFailure(error: unknown): Promise<{ text: string; exit: ExitCode }> {
  if (error instanceof ConfigInvalid) {
    return { text: `The configuration has faults:\n${indent(error.message)}`, exit: exitCodes.usage };
  }
  if (error instanceof DataNeedsRepair) return { text: error.message, exit: exitCodes.dataNeedsRepair };
  const damage = damageIn(error);
  if (damage !== undefined) {
    const text =
      `The data needs repair: ${damage}. ` +
      'Keep a copy of the whole data folder, then restore the newest backup or recover with `sqlite3 gateway.db .recover`.';
    return { text, exit: exitCodes.dataNeedsRepair };
  }
  if (error instanceof DataFolderInUse || error instanceof DataIsNewer || error instanceof FolderUnsafe) {
    return { text: error.message, exit: exitCodes.failed };
  }
  const { code, port } = (error ?? {}) as { code?: string; port?: number };
  if (code === 'EADDRINUSE' && port !== undefined) {
    const holder = await portHolder(port);
    const by = holder ? ` by ${holder}` : '';
    const text = `Port ${port} is taken${by}.\nChoose another with --port, or --port 0 for any that is free.`;
    return { text, exit: exitCodes.failed };
  }
  if (code === 'EACCES') return { text: `Not allowed: ${(error as Error).message}`, exit: exitCodes.failed };
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { text: `The daemon could not start.\n${text}`, exit: exitCodes.failed };
}

/** What SQLite says of a damaged file, also where the error of another library is around it. */
function damageIn(error: unknown): string | undefined {
  for (let each = error; each instanceof Error; each = each.cause) if (isDamage(each)) return each.message;
  return undefined;
}

function indent(text: string): string {
  return text.replace(/^/gm, '  ');
}

/** The process that listens on a port, as `name (pid 123)`, where the system tells: Linux, for one's own processes. */
async function portHolder(port: number): Promise<string | undefined> {
  const inode = await listeningInode(port);
  if (inode === undefined) return undefined;
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  for (const pid of pids) {
    const descriptors = await readdir(`/proc/${pid}/fd`).catch(() => []);
    for (const descriptor of descriptors) {
      const target = await readlink(`/proc/${pid}/fd/${descriptor}`).catch(() => '');
      if (target !== `socket:[${inode}]`) continue;
      const name = (await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => 'a process')).trim();
      return `${name} (pid ${pid})`;
    }
  }
  return undefined;
}

/** Source of the columns: proc(5), /proc/net/tcp; state 0A is listening. */
async function listeningInode(port: number): Promise<string | undefined> {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
    const rows = (await readFile(table, 'utf8').catch(() => '')).split('\n').slice(1);
    for (const row of rows) {
      const columns = row.trim().split(/\s+/);
      if (columns[1]?.endsWith(suffix) && columns[3] === '0A') return columns[9];
    }
  }
  return undefined;
}
