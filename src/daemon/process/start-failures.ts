import { readFile } from 'node:fs/promises';
import { ApiError, type ExitCode, exitCodes } from '../../shared/errors.ts';
import { messageOf } from '../../shared/faults/message-of.ts';
import { type DaemonFile, dataFiles } from '../../shared/folders.ts';
import { ConfigInvalid } from '../config/config.ts';
import { SocketUnusable } from '../http/socket-file.ts';
import { FileUnreadable } from '../runtime/read-named-file.ts';
import {
  BackupUnusable,
  DatabaseUnusable,
  DataFileUnusable,
  DataFolderInUse,
  DataNeedsRepair,
  DiskUnsuited,
  isDamage,
  sqliteCode,
  UnfinishedCopy,
  UnsupportedSchema,
  UnsupportedServer,
} from '../storage/sqlite/engine/errors.ts';
import { FolderUnsafe } from './data-folder.ts';
import { localFolder, unsuited, unsuitedFileSystem } from './file-system.ts';
import { portHolder, socketHolder } from './port-holder.ts';

/** Problems of the data folder or of the database that a restart cannot solve. */
const needsAttention = [
  DataNeedsRepair,
  DataFileUnusable,
  UnfinishedCopy,
  UnsupportedSchema,
  UnsupportedServer,
  DiskUnsuited,
  FolderUnsafe,
  FileUnreadable,
];

/** Explains why the daemon could not start, and what to do about it. */
export async function explainFailure(error: unknown): Promise<{ text: string; exit: ExitCode }> {
  if (error instanceof ConfigInvalid) {
    return { text: `The configuration has errors:\n${indent(error.message)}`, exit: exitCodes.usage };
  }
  if (error instanceof BackupUnusable || error instanceof DatabaseUnusable)
    return { text: error.message, exit: exitCodes.failed };
  if (error instanceof FolderUnsafe && error.path !== undefined) {
    const lacking = onUnsuited(error.path, 'keeps no permissions');
    return { text: `${error.message}${lacking}`, exit: exitCodes.dataNeedsRepair };
  }
  if (needsAttention.some((kind) => error instanceof kind)) {
    return { text: (error as Error).message, exit: exitCodes.dataNeedsRepair };
  }
  const damage = damageIn(error);
  if (damage !== undefined) {
    const text =
      `The data needs repair: ${damage}. ` +
      'Copy the data folder first, then restore the newest backup or run `sqlite3 gateway.db .recover`.';
    return { text, exit: exitCodes.dataNeedsRepair };
  }
  if (error instanceof DataFolderInUse) {
    const why = (await runningThere(error.folder)) || onUnsuited(error.folder, 'has no file locks');
    return { text: `${error.message}${why}`, exit: exitCodes.failed };
  }
  if (error instanceof SocketUnusable) return { text: await explainSocket(error), exit: exitCodes.failed };
  if (error instanceof ApiError && error.code === 'unavailable') {
    const text = `The database failed during the start: ${messageOf(error.cause ?? error)}.\nStart the daemon again.`;
    return { text, exit: exitCodes.failed };
  }
  const system = (error ?? {}) as SystemError;
  const refused = explainSqlite(sqliteCode(error)) ?? (await explainRefusal(system)) ?? explainSystem(system);
  if (refused !== undefined) return { text: refused, exit: exitCodes.failed };
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { text: `The daemon could not start.\n${text}`, exit: exitCodes.failed };
}

async function explainSocket({ path, message, isTaken }: SocketUnusable): Promise<string> {
  const holder = isTaken ? await socketHolder(path) : undefined;
  const by = holder ? ` by ${holder}` : '';
  return `${message}${isTaken ? `${by}.` : ''}\nChoose another path with --socket.`;
}

/** The members of Node's system errors that are used here. */
interface SystemError {
  code?: string;
  syscall?: string;
  path?: string;
  address?: string;
  port?: number;
  hostname?: string;
}

const anotherFolder = 'another folder with GATEWAY_HOME or --data.';

/** Explains failures of SQLite that are not damage; undefined for anything else. */
function explainSqlite(code: string | undefined): string | undefined {
  if (code === 'SQLITE_FULL') return `The disk is full.\nFree some space, or choose ${anotherFolder}`;
  if (/^SQLITE_(READONLY|CANTOPEN|PERM)/.test(code ?? '')) {
    return `This user cannot write to the database.\nRun as the owner of the data folder and all files in it, or choose ${anotherFolder}`;
  }
  if (/^SQLITE_(BUSY|LOCKED)/.test(code ?? '')) {
    return `Another program is using gateway.db.\nClose it and start again. If there is none, the file system may have no locks, like ${unsuited}: choose ${localFolder}.`;
  }
  if (/^SQLITE_(IOERR_(SHM|.*LOCK)|PROTOCOL|NOLFS)/.test(code ?? '')) {
    return `The file system of the data folder has no file locks or no shared memory (${code}).\n${unsuited} often lack them: choose ${localFolder}.`;
  }
  if (code?.startsWith('SQLITE_IOERR'))
    return `The disk failed (${code}).\nCheck the system log, or choose ${anotherFolder}`;
  return undefined;
}

/** Explains what the operating system refused; undefined for anything else. */
async function explainRefusal(error: SystemError): Promise<string | undefined> {
  const { code, syscall, path, address, port, hostname } = error;
  switch (code) {
    case 'EADDRINUSE': {
      if (port === undefined) return undefined;
      const holder = await portHolder(port);
      const by = holder ? ` by ${holder}` : '';
      return `Port ${port} is in use${by}.\nChoose another with --port, or use --port 0 for any free port.`;
    }
    case 'EADDRNOTAVAIL':
      return `This machine has no address ${address}.\nChoose another with --host.`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `The host name ${hostname} cannot be resolved.\nChoose an address of this machine with --host.`;
    case 'EACCES':
    case 'EPERM':
      if (port !== undefined)
        return `This user cannot listen on port ${port}.\nChoose a port from 1024 with --port.`;
      return `This user cannot read and write ${path}.\nRun as its owner, or choose ${anotherFolder}`;
    case 'ENOENT':
      // Node reports this in place of EROFS for a folder whose parents it creates, too.
      if (syscall !== 'mkdir') return undefined;
      return `${path} cannot be created.\nChoose ${anotherFolder}`;
    case 'EROFS':
      return `${path} is on a read-only disk.\nChoose ${anotherFolder}`;
    case 'ENOSPC':
      return `The disk of ${path ?? 'the data folder'} is full.\nFree some space, or choose ${anotherFolder}`;
    case 'EDQUOT':
      return `The disk quota of this user is used up.\nFree some space, or choose ${anotherFolder}`;
    case 'EMFILE':
    case 'ENFILE':
      return 'Too many files are open.\nRaise the limit of open files: ulimit -n 4096, or LimitNOFILE= of a service.';
    case 'ENAMETOOLONG':
      return `The path ${path} is too long.\nChoose ${anotherFolder}`;
    case 'EEXIST':
    case 'ENOTDIR':
    case 'ELOOP':
      return `${path} is not a folder.\nChoose ${anotherFolder}`;
    default:
      return undefined;
  }
}

/** For errors of the operating system that are not known: a stack would not help. */
function explainSystem({ code, syscall, path }: SystemError): string | undefined {
  if (code === undefined || syscall === undefined) return undefined;
  return `The system call ${syscall} failed${path ? ` for ${path}` : ''} (${code}).\nCheck the system log, or choose ${anotherFolder}`;
}

/** The address of the daemon that uses a folder, if it has written its daemon file. */
async function runningThere(folder: string): Promise<string> {
  const text = await readFile(`${folder}/${dataFiles.daemon}`, 'utf8').catch(() => '');
  try {
    const { url, pid } = JSON.parse(text) as DaemonFile;
    return `\nIt runs at ${url} (pid ${pid}).`;
  } catch {
    return '';
  }
}

/** What a folder may lack because of its file system, as a line to add; empty for others. */
function onUnsuited(path: string, lacking: string): string {
  const name = unsuitedFileSystem(path);
  return name === undefined ? '' : `\nIt is on ${name}, which often ${lacking}: choose ${localFolder}.`;
}

/** SQLite's message about a damaged file, even when another library wraps the error. */
function damageIn(error: unknown): string | undefined {
  for (let each = error; each instanceof Error; each = each.cause) if (isDamage(each)) return each.message;
  return undefined;
}

function indent(text: string): string {
  return text.replace(/^/gm, '  ');
}
