import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { exitCodes } from '../../../shared/errors.ts';
import { CliError } from '../../cli-error.ts';

interface Place {
  folder: string;
  /** Undefined: it keeps the name that it has. */
  name: string | undefined;
}

/** A folder that is there, with a name that is free in it. Nothing is ever written over. */
export function freePlace(file: string): Place {
  const path = resolve(file);
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory()) return { folder: path, name: undefined };
  if (found) throw new CliError(`${path} is there already.`, { exit: exitCodes.usage });
  const folder = dirname(path);
  if (!existsSync(folder)) throw new CliError(`There is no folder ${folder}.`, { exit: exitCodes.usage });
  return { folder, name: basename(path) };
}

/** Moves the file there; across disks it is copied whole before it gets its name and the first one goes. */
export function moveTo(file: string, { folder, name = basename(file) }: Place): string {
  const to = resolve(folder, name);
  try {
    // A link, as a rename would write over what came there meanwhile.
    linkSync(file, to);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') {
      const next = `The backup is ${file}.`;
      throw new CliError(`${to} is there already.`, { exit: exitCodes.failed, next });
    }
    copyAcross(file, to);
  }
  rmSync(file);
  return to;
}

function copyAcross(file: string, to: string): void {
  const partial = `${to}.partial`;
  try {
    copyFileSync(file, partial, constants.COPYFILE_EXCL);
    const handle = openSync(partial, 'r+');
    fsyncSync(handle);
    closeSync(handle);
    renameSync(partial, to);
  } catch (error) {
    rmSync(partial, { force: true });
    const { code } = error as NodeJS.ErrnoException;
    throw new CliError(`${to} cannot be written (${code}).`, {
      exit: exitCodes.failed,
      next: `The backup is ${file}.`,
      cause: error,
    });
  }
}
