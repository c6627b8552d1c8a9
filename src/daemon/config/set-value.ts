import { chmod, mkdir, open, readlink, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { ConfigFault } from '../../shared/daemon-module.ts';
import { FileUnreadable } from '../runtime/read-named-file.ts';
import { checkConfigText } from './check-config-text.ts';
import { editText } from './edit-text.ts';
import { inTurn } from './in-turn.ts';
import { readConfigText } from './read-config-file.ts';

/** The result of a change: the faults that the file would have, or none. */
export type SetOutcome = { faults: ConfigFault[] } | { isChanged: boolean };

interface Setting {
  name: string;
  value: string | undefined;
}

/** Finds faults in the text of a file. */
type Check = (text: string) => Promise<ConfigFault[]>;

/**
 * Changes one setting of the file, or removes it if `value` is undefined, and keeps the rest of the text, comments
 * included. Nothing is written if the result has a fault, or if `check` finds one in its text.
 */
export async function setValue(
  path: string,
  setting: Setting,
  check: Check = async () => [],
): Promise<SetOutcome> {
  await makeFolder(path).catch(() => {});
  return await inTurn(path, () => change(path, setting, check));
}

async function change(path: string, { name, value }: Setting, check: Check): Promise<SetOutcome> {
  let text = '';
  try {
    text = await readConfigText(path);
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
    await writeWhole(path, outcome.text);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return { faults: [{ place: path, message: `It cannot be written (${code}).` }] };
  }
  return { isChanged: true };
}

/** Replaces the file, or the one that it links to, in one step where that can be. */
export async function writeWhole(path: string, text: string, replace = rename): Promise<void> {
  await makeFolder(path);
  const file = await linkedFile(path);
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

async function makeFolder(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
}

/** Links may lead to links. */
const linksMax = 40;

/** Where a link leads, so that it stays one, also to a file that does not exist yet. */
export async function linkedFile(path: string, left = linksMax): Promise<string> {
  const found = await realpath(path).catch(() => undefined);
  if (found !== undefined) return found;
  const target = left > 0 ? await readlink(path).catch(() => undefined) : undefined;
  return target === undefined ? path : await linkedFile(resolve(dirname(path), target), left - 1);
}
