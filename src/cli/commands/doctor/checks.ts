import type { Context } from '../../context.ts';
import { checkDaemon } from './daemon.ts';
import type { Finding } from './finding.ts';
import { checkDisk, checkFolders } from './folders.ts';
import { checkClock, checkNode } from './machine.ts';

export type Check = (context: Context) => Promise<Finding[]> | Finding[];

/** Every check, from the ground up. */
export const checks: Check[] = [checkNode, checkClock, checkFolders, checkDisk, checkDaemon];
