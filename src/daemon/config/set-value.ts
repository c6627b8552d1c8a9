import { chmod, mkdir, open, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { ConfigFault } from '../../shared/daemon-module.ts';
import { FileUnreadable } from '../runtime/read-named-file.ts';
import { checkConfigText } from './check-config-text.ts';
import { editText } from './edit-text.ts';
import { readConfigText } from './read-config-file.ts';

/** The result of a change: the faults that the file would have, or none. */
export type SetOutcome = { faults: ConfigFault[] } | { isChanged: boolean };

/**
 * Changes one setting of the file, or removes it if `value` is undefined, and keeps the rest of the text, comments
 * included. Nothing is written if the result has a fault, or if `check` finds one in its text.
 */
export async function setValue(
  path: string,
  { name, value }: { name: string; value: string | undefined },
  check: (text: string) => Promise<ConfigFault[]> = async () => [],
): Promise<SetOutcome> {
  const file = await realpath(path).catch(() => path);
  let text = '';
  try {
    text = await readConfigText(file);
  } catch (error) {
    if (!(error instanceof FileUnreadable)) throw error;
    if (!error.isAbsent) return { faults: [{ place: path, message: error.sentence }] };
  }
  const before = checkConfigText(text, path);
  if (before.faults.length > 0) return { faults: before.faults };
  const outcome = editText(text, path, { name, value, isTyped: true });
  if ('faults' in outcome) return outcome;
  if (outcome.text === text) return { isChanged: false };
  const faults = await check(outcome.text);
  if (faults.length > 0) return { faults };
  try {
    await writeWhole(file, outcome.text);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return { faults: [{ place: path, message: `It cannot be written (${code}).` }] };
  }
  return { isChanged: true };
}

/** Replaces the file, in one step where that can be. */
export async function writeWhole(file: string, text: string, replace = rename): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const partial = `${file}.partial`;
  const mode = await stat(file).then(
    (found) => found.mode & 0o777,
    () => 0o600,
  );
  try {
    const handle = await open(partial, 'w', mode);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await chmod(partial, mode);
    await replace(partial, file).catch(async (error: NodeJS.ErrnoException) => {
      // A file that is mounted into a container by itself cannot be replaced.
      if (error.code !== 'EBUSY') throw error;
      await writeFile(file, text, { flush: true });
      await rm(partial, { force: true });
    });
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}
