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
import { createBackup } from '../../shared/endpoints.ts';
import { exitCodes } from '../../shared/errors.ts';
import { sizeText } from '../../shared/text/size-text.ts';
import type { Context } from '../context.ts';
import { CliError, usageError } from '../failures/cli-error.ts';
import { example } from '../options.ts';
import { progressBar } from '../output/progress.ts';
import type { Column } from '../output/table.ts';

export const backupCommand = (context: Context) =>
  new Command('backup')
    .argument('[file]', 'where to save it, a new file or a folder (default: backups in the data folder)')
    .option('--with-content', 'include the content of calls that is kept on disk')
    .addHelpText('after', example('gateway backup /media/disk/'))
    .action((file, options) => backUp(context, file, options));

/** Makes a backup and moves it to where the user wants it. */
export async function backUp(
  context: Context,
  file: string | undefined,
  { withContent = false }: { withContent?: boolean } = {},
): Promise<void> {
  // Check the destination before the daemon does the work.
  const destination = file === undefined ? undefined : destinationFor(file);
  if (destination !== undefined && !context.host().isLocal) {
    throw usageError(
      'A backup of another machine is saved on that machine.',
      'Omit the file, and copy the backup from the path that is printed.',
    );
  }
  const made = await make(context, withContent);
  const backup = destination === undefined ? made : { ...made, file: moveTo(made.file, destination) };
  await context.out.record(backup, columns, { pipedRow: columns });
  if (backup.content_bytes === 0) context.out.note('No content of calls is kept on disk.');
  for (const { key_id, kept_in } of backup.master_keys) {
    context.out.note(
      `Its provider keys are encrypted with master key ${key_id} (${kept_in}). Back that up too: gateway vault export`,
    );
  }
}

async function make(context: Context, withContent: boolean): Promise<Backup> {
  const bar = progressBar(context.io);
  const signal = context.interrupted();
  try {
    for await (const { data } of context
      .client()
      .stream(createBackup, { body: { with_content: withContent } }, { signal })) {
      const event = JSON.parse(data) as BackupEvent;
      if (event.type === 'backup.completed') return event.backup;
      if (event.type === 'backup.failed') {
        throw new CliError(`The backup failed: ${event.message}.`, { exit: exitCodes.failed });
      }
      const { done_bytes: done, total_bytes: total } = event;
      if (done < total) bar.show('Copying', done, total);
      else bar.wait('Checking', total);
    }
  } finally {
    bar.stop();
  }
  throw new CliError('The backup failed: the daemon stopped.', { exit: exitCodes.tryLater });
}

const columns: Column<Backup>[] = [
  { title: 'file', value: ({ file }) => file, essential: true },
  { title: 'bytes', label: 'size', value: ({ bytes }) => bytes, show: ({ bytes }) => sizeText(bytes) },
  { title: 'schema_version', value: ({ schema_version }) => schema_version },
  { title: 'sha256', value: ({ sha256 }) => sha256 },
];

interface Destination {
  folder: string;
  /** Undefined to keep the file's name. */
  name: string | undefined;
}

/** Splits a destination into folder and file name. Throws if the file exists: backups never overwrite anything. */
function destinationFor(file: string): Destination {
  const path = resolve(file);
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory()) return { folder: path, name: undefined };
  if (file === '-')
    throw new CliError('A backup is a file, not output: give a path.', { exit: exitCodes.usage });
  if (found) throw new CliError(`${path} already exists.`, { exit: exitCodes.usage });
  const folder = dirname(path);
  if (!existsSync(folder))
    throw new CliError(`The folder ${folder} does not exist.`, { exit: exitCodes.usage });
  return { folder, name: basename(path) };
}

/** Moves the file; across disks it is copied completely before it gets its name and the original is deleted. */
function moveTo(file: string, { folder, name = basename(file) }: Destination): string {
  const to = resolve(folder, name);
  try {
    // A link instead of a rename, which would overwrite a file created in the meantime.
    linkSync(file, to);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') {
      const next = `The backup is ${file}.`;
      throw new CliError(`${to} already exists.`, { exit: exitCodes.failed, next });
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
    throw new CliError(`Cannot write ${to} (${code}).`, {
      exit: exitCodes.failed,
      next: `The backup is ${file}.`,
      cause: error,
    });
  }
}
