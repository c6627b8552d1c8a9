import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { foldersOf } from '../../../shared/folders.ts';
import type { Context } from '../../context.ts';
import type { Finding } from './finding.ts';

const oldestNode = [22, 19] as const;

/** The version of Node that runs this. */
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

/** No clock of a machine that runs this program stands before this day; one that does fails limits, expiry and TLS. */
const programMadeAt = Date.UTC(2026, 0, 1);
const toleratedMs = 5_000;

/** Whether the clock can be right, and has not gone back since the data was written last. */
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
      message: wentBack && !isWrong ? `${now}, before the data was written` : now,
      remedy: isWrong || wentBack ? 'Set the clock, best by NTP.' : null,
    },
  ];
}

/** Milliseconds since 1970; 0 where there is no data. */
function lastWritten(folder: string): number {
  const times = ['gateway.db', 'gateway.db-wal'].map(
    (name) => statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0,
  );
  return Math.max(...times);
}

const openFilesWanted = 4096;

/** How many files and connections a process may have open. Source: proc(5), /proc/pid/limits; Node takes the hard limit. */
export function checkOpenFiles(): Finding[] {
  const limits = textOf('/proc/self/limits');
  const [, hard] = /^Max open files\s+\S+\s+(\d+|unlimited)/m.exec(limits) ?? [];
  if (hard === undefined) return [];
  const isFew = hard !== 'unlimited' && Number(hard) < openFilesWanted;
  return [
    {
      check: 'open files',
      state: isFew ? 'warning' : 'ok',
      message: `${hard} at most`,
      remedy: isFew ? `Allow ${openFilesWanted} or more: ulimit -n, or LimitNOFILE= of a service.` : null,
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
