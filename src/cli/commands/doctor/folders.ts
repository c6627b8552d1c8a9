import { accessSync, constants, type Stats, statfsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { dataFiles, foldersOf } from '../../../shared/folders.ts';
import type { Context } from '../../context.ts';
import { sizeText } from '../../output/progress-bar.ts';
import type { Finding } from './finding.ts';

/** Whether the data folder can be used, by its owner alone, and its secrets are read by nobody else. */
export function checkFolders(context: Context): Finding[] {
  const { data } = foldersOf(context);
  const folder = look(data);
  if (!folder) {
    return [{ check: 'data folder', state: 'ok', message: `${data}: not there yet`, remedy: null }];
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
        message: `${path} can be read by others`,
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
  if (!folder.isDirectory()) return broken('not a folder', 'Move it away, or set GATEWAY_HOME.');
  try {
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch {
    return broken('you may not write there', `Run: chown -R $USER ${path}`);
  }
  if (process.platform !== 'win32' && (folder.mode & 0o022) !== 0) {
    return broken('others may write there', `chmod 700 ${path}`);
  }
  return { check: 'data folder', state: 'ok', message: path, remedy: null };
}

const freeBytesMin = 100e6;
const freeBytesWanted = 1e9;

/** Whether the disk of the data folder has room. */
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
      remedy: free < freeBytesWanted ? 'Make room, or set GATEWAY_HOME to another disk.' : null,
    },
  ];
}

function look(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}
