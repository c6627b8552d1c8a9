import { chmod, mkdir, open, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Document, isMap, isScalar, isSeq, parse, parseDocument, stringify, type YAMLSeq } from 'yaml';
import type { ConfigFault } from '../../shared/daemon-module.ts';
import { nearestTo } from '../../shared/text/edit-distance.ts';
import { FileUnreadable } from '../runtime/read-named-file.ts';
import { checkConfigText } from './check-config-text.ts';
import { readConfigText } from './read-config-file.ts';
import { settings } from './settings/table.ts';

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
  const named = keysOf(name);
  if (named === undefined) return { faults: [{ place: name, message: unknownName(name) }] };
  const before = checkConfigText(text, path);
  if (before.faults.length > 0) return { faults: before.faults };
  const found = keysIn(parseChecked(text), named);
  if ('problem' in found) return { faults: [{ place: name, message: found.problem }] };
  const outcome = changed(text, path, { keys: found.keys, value });
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

/** `aliases.gpt-4.1` is an alias with a dot in its name; `upstreams.acme.models` is a member of a list entry. */
function keysOf(name: string): (string | number)[] | undefined {
  const setting = settings.find((one) => name === one.name || name.startsWith(`${one.name}.`));
  const parts = name.split('.');
  if (setting === undefined) {
    // A whole group, such as `cache`, can only be removed or set to a map.
    return settings.some((one) => one.name.startsWith(`${name}.`)) ? parts : undefined;
  }
  const own = setting.name.split('.');
  if (own.length === parts.length) return own;
  if (setting.name === 'aliases' || setting.name === 'fallbacks')
    return [...own, parts.slice(own.length).join('.')];
  return [...own, ...parts.slice(own.length).map((part) => (/^\d+$/.test(part) ? Number(part) : part))];
}

/** The keys in a file: an entry of a list is addressed by its name or its number. Or a sentence why there is no such place. */
function keysIn(
  document: Document,
  keys: readonly (string | number)[],
): { keys: (string | number)[] } | { problem: string } {
  const found: (string | number)[] = [];
  for (const [index, key] of keys.entries()) {
    const around = index === 0 ? document.contents : document.getIn(found, true);
    const place = found.join('.');
    if (isSeq(around)) {
      const entry = entryOf(around, key);
      if (typeof entry !== 'number') return { problem: `${place} ${entry.problem}` };
      found.push(entry);
    } else if (index > 0 && isScalar(around) && around.value !== null) {
      return { problem: `${place} is one value, which has no ${key}.` };
    } else found.push(key);
  }
  return { keys: found };
}

/** The number of an entry; the one after the last is new. Else what is wrong with it. */
function entryOf({ items }: YAMLSeq, key: string | number): number | { problem: string } {
  const names = items.map((item) => (isMap(item) ? item.get('name') : undefined));
  const named = names.indexOf(String(key));
  if (named >= 0) return named;
  if (typeof key === 'number' && key <= items.length) return key;
  const known = names.filter((name) => typeof name === 'string');
  const entries = known.length > 0 ? `they are ${known.join(', ')}` : 'they are numbered from 0';
  return { problem: `has no entry ${key}; ${entries}.` };
}

function unknownName(name: string): string {
  const last = name.split('.').at(-1) ?? '';
  const near = settings.filter((one) => one.name.endsWith(`.${last}`)).map((one) => one.name);
  if (near.length > 0) return `There is no such setting; similar ones are ${near.join(', ')}.`;
  const mistyped = nearestTo(
    name,
    settings.map((one) => one.name),
  );
  return `There is no such setting${mistyped === undefined ? '.' : `: did you mean ${mistyped}?`}`;
}

interface Change {
  keys: (string | number)[];
  value: string | undefined;
}

function changed(
  text: string,
  path: string,
  { keys, value }: Change,
): { text: string } | { faults: ConfigFault[] } {
  if (value === undefined) return checked(withoutKey(text, keys), path);
  const first = checked(withValue(text, keys, readTyped(value)), path);
  // Values that look like numbers may have to be strings, such as the price `0.59`. An invalid list or map is never meant as text.
  if (!('faults' in first) || /^\s*[[{]/.test(value)) return first;
  const asText = checked(withValue(text, keys, value), path);
  return 'faults' in asText ? first : asText;
}

function checked(text: string, path: string): { text: string } | { faults: ConfigFault[] } {
  const { faults } = checkConfigText(text, path);
  return faults.length > 0 ? { faults } : { text };
}

function readTyped(typed: string): unknown {
  try {
    return parse(typed) ?? typed;
  } catch {
    return typed;
  }
}

/** A text in which no key is repeated: the library would compare each with all others, which takes minutes for thousands. */
function parseChecked(text: string): Document {
  return parseDocument(text, { uniqueKeys: false });
}

function withValue(text: string, keys: (string | number)[], value: unknown): string {
  const document = parseChecked(text);
  const node = document.getIn(keys, true);
  const isPlain = typeof value !== 'object' || value === null;
  if (isPlain && isScalar(node) && node.range) {
    const [from, to] = node.range;
    return text.slice(0, from) + stringify(value, { lineWidth: 0 }).trimEnd() + text.slice(to);
  }
  // A file that says `null` has no map to add to.
  if (isScalar(document.contents)) document.contents = null;
  document.setIn(keys, isPlain ? value : document.createNode(value));
  return written(document);
}

/** Removes the key, and parent maps that become empty. */
function withoutKey(text: string, keys: (string | number)[]): string {
  const document = parseChecked(text);
  if (!document.hasIn(keys)) return text;
  document.deleteIn(keys);
  for (let length = keys.length - 1; length > 0; length -= 1) {
    const around = document.getIn(keys.slice(0, length)) as { items?: unknown[] } | undefined;
    if (around?.items?.length === 0) document.deleteIn(keys.slice(0, length));
  }
  const isEmpty = (document.contents as { items?: unknown[] } | null)?.items?.length === 0;
  // Comments are kept.
  return isEmpty ? written(document).replace(/\{ *\}\n$/, '') : written(document);
}

function written(document: Document): string {
  return document.toString({ lineWidth: 0 });
}

/** Replaces the file atomically. */
async function writeWhole(file: string, text: string): Promise<void> {
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
    await rename(partial, file);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}
