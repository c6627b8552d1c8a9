import {
  closeSync,
  mkdirSync,
  openSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { exitCodes } from '../shared/errors.ts';
import { CliError } from './failures/cli-error.ts';

const againMs = 20;
/** Nothing takes as long as this: who has held the file has ended without a word. */
const abandonedMs = 10_000;

/**
 * Replaces a file that only this user can read by the text that `change` returns. Commands that run at the same time do so one
 * after the other, so that `change` reads what the one before wrote. A link stays one.
 */
export function changeFile(path: string, change: () => string): void {
  const sign = `${path}.lock`;
  let isMine = false;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    take(sign);
    isMine = true;
    const file = linkedFile(path);
    const partial = `${file}.${process.pid}`;
    writeFileSync(partial, change(), { mode: 0o600 });
    renameSync(partial, file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined || error instanceof CliError) throw error;
    throw new CliError(`Cannot write ${path} (${code}).`, { exit: exitCodes.failed, cause: error });
  } finally {
    if (isMine) rmSync(sign, { force: true });
  }
}

function take(sign: string): void {
  for (;;) {
    try {
      closeSync(openSync(sign, 'wx', 0o600));
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const since = statSync(sign, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    // The clock may have been set back.
    if (Math.abs(Date.now() - since) > abandonedMs) rmSync(sign, { force: true });
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, againMs);
  }
}

/** Links may lead to links. */
const linksMax = 40;

/** Where a link leads, also to a file that does not exist yet. */
export function linkedFile(path: string, left = linksMax): string {
  try {
    return realpathSync(path);
  } catch {
    const target = left > 0 ? targetOf(path) : undefined;
    return target === undefined ? path : linkedFile(resolve(dirname(path), target), left - 1);
  }
}

function targetOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
