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
import { Command } from '@commander-js/extra-typings';
import type { Backup, BackupEvent } from '../../shared/contract/backups.ts';
import { exitCodes } from '../../shared/errors.ts';
import { createBackup } from '../addresses.ts';
import type { Context } from '../context.ts';
import { CliError } from '../failures/cli-error.ts';
import { example } from '../manifest/options.ts';
import { progressBar, sizeText } from '../output/progress.ts';
import type { Column } from '../output/table.ts';

export const backupCommand = (context: Context) =>
  new Command('backup')
    .argument('[file]', 'where to put it: a new file, or a folder; else the data folder’s backups')
    .addHelpText('after', example('gateway backup /media/disk/'))
    .action((file) => backUp(context, file));

/** Has the daemon make a backup and puts it where it was asked for. */
export async function backUp(context: Context, file: string | undefined): Promise<void> {
  // Told before the work is done and not after it.
  const place = file === undefined ? undefined : freePlace(file);
  if (place !== undefined && !context.host().isLocal) {
    throw new CliError('The backup of another machine stays on that machine.', {
      exit: exitCodes.usage,
      next: 'Leave the file out, and fetch what is printed then.',
    });
  }
  const made = await make(context);
  const backup = place === undefined ? made : { ...made, file: moveTo(made.file, place) };
  await context.out.record(backup, columns, { pipedRow: columns });
  for (const { key_id, kept_in } of backup.master_keys) {
    context.out.note(
      `Provider keys in it stay sealed under master key ${key_id} (${kept_in}); keep that too: gateway vault export`,
    );
  }
}

async function make(context: Context): Promise<Backup> {
  const bar = progressBar(context.io);
  const signal = context.interrupted();
  try {
    for await (const { data } of context.client().stream(createBackup, {}, { signal })) {
      const event = JSON.parse(data) as BackupEvent;
      if (event.type === 'backup.completed') return event.backup;
      if (event.type === 'backup.failed') {
        throw new CliError(`There is no backup: ${event.message}.`, { exit: exitCodes.failed });
      }
      const { done_bytes: done, total_bytes: total } = event;
      if (done < total) bar.show('Copying', done, total);
      else bar.wait('Checking', total);
    }
  } finally {
    bar.stop();
  }
  throw new CliError('There is no backup: the daemon ended.', { exit: exitCodes.tryLater });
}

const columns: Column<Backup>[] = [
  { title: 'file', value: ({ file }) => file, essential: true },
  { title: 'bytes', label: 'size', value: ({ bytes }) => bytes, show: ({ bytes }) => sizeText(bytes) },
  { title: 'schema_version', value: ({ schema_version }) => schema_version },
  { title: 'sha256', value: ({ sha256 }) => sha256 },
];

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
