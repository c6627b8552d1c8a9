import type { Context } from '../../context.ts';
import { checkConfig } from './config.ts';
import { checkDaemon } from './daemon.ts';
import type { Finding } from './finding.ts';
import { checkDisk, checkFolders } from './folders.ts';
import { checkKeychain } from './keychain.ts';
import { checkClock, checkNode, checkOpenFiles } from './machine.ts';
import { checkOnline } from './online.ts';

export interface Wishes {
  /** Whether providers may be asked. */
  online?: true;
}

export type Check = (context: Context, wishes: Wishes) => Promise<Finding[]> | Finding[];

/** Every check, from the ground up. */
export const checks: Check[] = [
  checkNode,
  checkClock,
  checkOpenFiles,
  checkFolders,
  checkDisk,
  checkConfig,
  checkKeychain,
  checkDaemon,
  checkOnline,
];
