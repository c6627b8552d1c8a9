import { readFile } from 'node:fs/promises';
import { type ExitCode, exitCodes } from '../../shared/errors.ts';
import { type DaemonFile, dataFiles } from '../../shared/folders.ts';
import { ConfigInvalid } from '../config/config.ts';
import { SocketUnusable } from '../http/socket-file.ts';
import {
  BackupUnusable,
  DataFolderInUse,
  DataNeedsRepair,
  DiskUnsuited,
  isDamage,
  sqliteCode,
  UnsupportedSchema,
} from '../storage/sqlite/engine/errors.ts';
import { FolderUnsafe } from './data-folder.ts';
import { portHolder, socketHolder } from './port-holder.ts';

/** What a person reads when the daemon cannot start: what is wrong and what to do about it. */
export async function explainFailure(error: unknown): Promise<{ text: string; exit: ExitCode }> {
  if (error instanceof ConfigInvalid) {
    return { text: `The configuration has faults:\n${indent(error.message)}`, exit: exitCodes.usage };
  }
  if (error instanceof BackupUnusable) return { text: error.message, exit: exitCodes.failed };
  if (error instanceof DataNeedsRepair) return { text: error.message, exit: exitCodes.dataNeedsRepair };
  const damage = damageIn(error);
  if (damage !== undefined) {
    const text =
      `The data needs repair: ${damage}. ` +
      'Keep a copy of the whole data folder, then restore the newest backup or recover with `sqlite3 gateway.db .recover`.';
    return { text, exit: exitCodes.dataNeedsRepair };
  }
  if (error instanceof DataFolderInUse) {
    return { text: `${error.message}${await runningThere(error.folder)}`, exit: exitCodes.failed };
  }
  if (error instanceof UnsupportedSchema || error instanceof DiskUnsuited || error instanceof FolderUnsafe) {
    return { text: error.message, exit: exitCodes.failed };
  }
  if (error instanceof SocketUnusable) return { text: await explainSocket(error), exit: exitCodes.failed };
  const refused = explainSqlite(sqliteCode(error)) ?? (await explainRefusal((error ?? {}) as SystemError));
  if (refused !== undefined) return { text: refused, exit: exitCodes.failed };
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { text: `The daemon could not start.\n${text}`, exit: exitCodes.failed };
}

async function explainSocket({ path, message, isTaken }: SocketUnusable): Promise<string> {
  const holder = isTaken ? await socketHolder(path) : undefined;
  const by = holder ? ` by ${holder}` : '';
  return `${message}${isTaken ? `${by}.` : ''}\nChoose another path with --socket.`;
}

/** The members of Node's system errors that are read here. */
interface SystemError {
  code?: string;
  path?: string;
  address?: string;
  port?: number;
  hostname?: string;
}

const elsewhere = 'another folder with GATEWAY_HOME or --data.';

/** Why SQLite could not work with a sound database, in words; undefined for anything else. */
function explainSqlite(code: string | undefined): string | undefined {
  if (code === 'SQLITE_FULL') return `The disk of the data is full.\nMake room, or choose ${elsewhere}`;
  if (/^SQLITE_(READONLY|CANTOPEN|PERM)/.test(code ?? '')) {
    return `This user may not write the database.\nRun as the owner of the data folder and of all files in it, or choose ${elsewhere}`;
  }
  if (/^SQLITE_(BUSY|LOCKED)/.test(code ?? ''))
    return 'Another program is at work on gateway.db.\nEnd it and start again.';
  if (code?.startsWith('SQLITE_IOERR'))
    return `The disk of the data fails (${code}).\nLook at what the system logged of it, or choose ${elsewhere}`;
  return undefined;
}

/** What the operating system refused, in words; undefined for anything else. */
async function explainRefusal(error: SystemError): Promise<string | undefined> {
  const { code, path, address, port, hostname } = error;
  switch (code) {
    case 'EADDRINUSE': {
      if (port === undefined) return undefined;
      const holder = await portHolder(port);
      const by = holder ? ` by ${holder}` : '';
      return `Port ${port} is taken${by}.\nChoose another with --port, or --port 0 for any that is free.`;
    }
    case 'EADDRNOTAVAIL':
      return `This machine has no address ${address}.\nChoose one that it has with --host.`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `The name ${hostname} is not known.\nChoose an address of this machine with --host.`;
    case 'EACCES':
    case 'EPERM':
      if (port !== undefined)
        return `Port ${port} is not for this user.\nChoose one from 1024 on with --port.`;
      return `This user may not read and write ${path}.\nRun as its owner, or choose ${elsewhere}`;
    case 'EROFS':
      return `${path} is on a disk that can only be read.\nChoose ${elsewhere}`;
    case 'ENOSPC':
      return `The disk of ${path ?? 'the data'} is full.\nMake room, or choose ${elsewhere}`;
    case 'EEXIST':
    case 'ENOTDIR':
      return `${path} is not a folder.\nChoose ${elsewhere}`;
    default:
      return undefined;
  }
}

/** Where the daemon that uses a folder answers, as far as it has written that down. */
async function runningThere(folder: string): Promise<string> {
  const text = await readFile(`${folder}/${dataFiles.daemon}`, 'utf8').catch(() => '');
  try {
    const { url, pid } = JSON.parse(text) as DaemonFile;
    return `\nIt answers at ${url} (pid ${pid}).`;
  } catch {
    return '';
  }
}

/** What SQLite says of a damaged file, also where the error of another library is around it. */
function damageIn(error: unknown): string | undefined {
  for (let each = error; each instanceof Error; each = each.cause) if (isDamage(each)) return each.message;
  return undefined;
}

function indent(text: string): string {
  return text.replace(/^/gm, '  ');
}
