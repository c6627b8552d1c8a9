import { closeSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { exitCodes } from '../../../shared/errors.ts';
import { linkedFile } from '../../change-file.ts';
import { CliError } from '../../failures/cli-error.ts';

/** The secret in a file; undefined without such a file. */
export function secretIn(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim() || undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw unusable(file, error);
  }
}

/** A file that is about to be replaced. */
export interface SecretFile {
  /** Replaces it by one that only its owner can read; a reader finds the old secret or the new one. */
  write(secret: string): void;
  /** Leaves it as it was. */
  leave(): void;
}

/** Prepares to replace a file, before a secret is made that would be lost without it. Fails if that is impossible. */
export function prepareSecretFile(file: string): SecretFile {
  const target = linkedFile(file);
  const partial = join(dirname(target), `.${basename(target)}.${process.pid}.tmp`);
  let descriptor: number | undefined;
  try {
    rmSync(partial, { force: true });
    descriptor = openSync(partial, 'wx', 0o600);
  } catch (error) {
    throw unusable(file, error);
  }
  const close = () => {
    if (descriptor !== undefined) closeSync(descriptor);
    descriptor = undefined;
  };
  return {
    write(secret) {
      if (descriptor === undefined) throw new Error('the file was left');
      writeFileSync(descriptor, `${secret}\n`, { flush: true });
      close();
      renameSync(partial, target);
    },
    leave() {
      close();
      rmSync(partial, { force: true });
    },
  };
}

function unusable(file: string, cause: unknown): CliError {
  const { code = 'unknown' } = cause as NodeJS.ErrnoException;
  return new CliError(`${file} cannot be used: ${code}.`, { exit: exitCodes.failed, cause });
}
