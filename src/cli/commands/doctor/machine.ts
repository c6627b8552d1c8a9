import { accessSync, constants, readFileSync, type Stats, statfsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { dataFiles, foldersOf } from '../../../shared/folders.ts';
import { sizeText } from '../../../shared/text/size-text.ts';
import type { Context } from '../../context.ts';
import { missingProgram } from '../service/service.ts';
import type { Finding } from './finding.ts';

const oldestNode = [22, 19] as const;

/** Whether this version of Node is supported. */
export function checkNode(): Finding[] {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const isOld = major < oldestNode[0] || (major === oldestNode[0] && minor < oldestNode[1]);
  return [
    {
      check: 'node',
      state: isOld ? 'broken' : 'ok',
      message: `Node ${process.versions.node}`,
      remedy: isOld ? `Install Node ${oldestNode.join('.')} or newer.` : null,
    },
  ];
}

/** The program did not exist before this day. A clock set earlier breaks limits, expiry and TLS. */
const programMadeAt = Date.UTC(2026, 0, 1);
const toleratedMs = 5_000;

/** Whether the clock is plausible, and has not gone back since the data was last written. */
export function checkClock(context: Context): Finding[] {
  const at = context.now();
  const written = lastWritten(foldersOf(context).data);
  const isWrong = at < programMadeAt;
  const wentBack = written > at + toleratedMs;
  const now = new Date(at).toISOString();
  return [
    {
      check: 'clock',
      state: isWrong ? 'broken' : wentBack ? 'warning' : 'ok',
      message: wentBack && !isWrong ? `${now}, earlier than the data` : now,
      remedy: isWrong || wentBack ? 'Set the clock, preferably with NTP.' : null,
    },
  ];
}

/** Milliseconds since 1970; 0 without data. */
function lastWritten(folder: string): number {
  const times = ['gateway.db', 'gateway.db-wal'].map(
    (name) => statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0,
  );
  return Math.max(...times);
}

/** Whether the installed service can start. It names the Node that installed it, which an update may have removed. */
export function checkService(context: Context): Finding[] {
  const missing = missingProgram(context);
  if (missing === undefined) return [];
  return [
    {
      check: 'service',
      state: 'broken',
      message: `it starts ${missing}, which does not exist`,
      remedy: 'Install it again with the Node of now: gateway service install',
    },
  ];
}

const openFilesWanted = 4096;

/** The limit of open files and connections. Source: proc(5), /proc/pid/limits; Node raises it to the hard limit. */
export function checkOpenFiles(): Finding[] {
  const limits = textOf('/proc/self/limits');
  const [, hard] = /^Max open files\s+\S+\s+(\d+|unlimited)/m.exec(limits) ?? [];
  if (hard === undefined) return [];
  const isFew = hard !== 'unlimited' && Number(hard) < openFilesWanted;
  return [
    {
      check: 'open files',
      state: isFew ? 'warning' : 'ok',
      message: `limit ${hard}`,
      remedy: isFew ? `Allow ${openFilesWanted} or more: ulimit -n, or LimitNOFILE= for a service.` : null,
    },
  ];
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Whether the data folder is usable and private, and its secrets are readable only by their owner. */
export function checkFolders(context: Context): Finding[] {
  const { data } = foldersOf(context);
  const folder = look(data);
  if (!folder) {
    return [{ check: 'data folder', state: 'ok', message: `${data}: not created yet`, remedy: null }];
  }
  const findings = [folderFinding(data, folder)];
  if (context.platform === 'win32') return findings;
  for (const name of [dataFiles.login, dataFiles.defaultKey, dataFiles.dataKey]) {
    const path = join(data, name);
    const file = look(path);
    if (file && (file.mode & 0o077) !== 0) {
      findings.push({
        check: 'secrets',
        state: 'broken',
        message: `${path} can be read by other users`,
        remedy: `chmod 600 ${path}`,
      });
    }
  }
  return findings;
}

function folderFinding(path: string, folder: Stats): Finding {
  const broken = (message: string, remedy: string): Finding => ({
    check: 'data folder',
    state: 'broken',
    message: `${path}: ${message}`,
    remedy,
  });
  if (!folder.isDirectory()) return broken('not a folder', 'Move it, or set GATEWAY_HOME.');
  try {
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch {
    return broken('not writable', `Run: chown -R $USER ${path}`);
  }
  if (process.platform !== 'win32' && (folder.mode & 0o022) !== 0) {
    return broken('other users can write to it', `chmod 700 ${path}`);
  }
  return { check: 'data folder', state: 'ok', message: path, remedy: null };
}

const freeBytesMin = 100e6;
const freeBytesWanted = 1e9;

/** Whether the data folder's disk has enough free space. */
export function checkDisk(context: Context): Finding[] {
  let folder = foldersOf(context).data;
  while (!look(folder) && dirname(folder) !== folder) folder = dirname(folder);
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  return [
    {
      check: 'disk',
      state: free < freeBytesMin ? 'broken' : free < freeBytesWanted ? 'warning' : 'ok',
      message: `${sizeText(free)} free`,
      remedy:
        free < freeBytesWanted ? 'Free disk space, or set GATEWAY_HOME to a folder on another disk.' : null,
    },
  ];
}

function look(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}
