import { isDeepStrictEqual } from 'node:util';
import { type Document, isMap, isScalar, isSeq, parse, parseDocument, stringify, type YAMLSeq } from 'yaml';
import { alignedKeys } from '../../shared/comparison/text-changes.ts';
import type { ConfigFault } from '../../shared/daemon-module.ts';
import { isObject } from '../../shared/json/json-object.ts';
import { nearestTo } from '../../shared/text/edit-distance.ts';
import { checkConfigText } from './check-config-text.ts';
import { settings } from './settings/table.ts';

/** A setting, or a member of one, and its new value; undefined removes it. */
export interface TextEdit {
  /** `listen.port`, `aliases.gpt-4.1` or `upstreams.acme.models`. */
  name: string;
  value: unknown;
  /** Whether the value was typed: YAML, or text where its setting expects text. */
  isTyped?: boolean;
}

/**
 * Changes one setting in the text of a file that has no faults, and keeps the rest of the text, comments included. A new
 * entry of a list that has names is added by its name, as a map. The result has no faults, and differs in nothing else.
 */
export function editText(
  text: string,
  path: string,
  { name, value, isTyped = false }: TextEdit,
): { text: string } | { faults: ConfigFault[] } {
  const fault = (message: string) => ({ faults: [{ place: name, message }] });
  const named = keysOf(name);
  if (name === '') return { faults: [{ place: 'name', message: 'It is empty.' }] };
  if (named === undefined) return fault(unknownName(name));
  // As a member of an object, it would be none of its own.
  if (named.includes('__proto__')) return fault('__proto__ is not a name.');
  const typed = isTyped && typeof value === 'string' ? readTyped(value) : value;
  const isUpstream = isObject(typed) && 'base_url' in typed;
  const found = keysIn(parseChecked(text), named, isUpstream);
  if ('problem' in found) return fault(found.problem);
  const { keys } = found;
  if (value === undefined) return checked(withoutKey(text, keys), path);
  const whole = found.isNew && isObject(typed) ? { name: String(named.at(-1)), ...typed } : typed;
  const first = checked(withValue(text, keys, whole), path);
  // Values that look like numbers may have to be strings, such as the price `0.59`. An invalid list or map is never meant as text.
  if (!('faults' in first) || !isTyped || typeof value !== 'string' || /^\s*[[{]/.test(value)) return first;
  const asText = checked(withValue(text, keys, value), path);
  return 'faults' in asText ? first : asText;
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
  mayBeNew: boolean,
): { keys: (string | number)[]; isNew: boolean } | { problem: string } {
  const found: (string | number)[] = [];
  let isNew = false;
  for (const [index, key] of keys.entries()) {
    const around = index === 0 ? document.contents : document.getIn(found, true);
    const place = found.join('.');
    const isLast = index === keys.length - 1;
    if (isLast && mayBeNew && isNewEntry(around, keys)) {
      isNew = true;
      found.push(isSeq(around) ? around.items.length : 0);
    } else if (isSeq(around)) {
      const entry = entryOf(around, key);
      if (typeof entry !== 'number') return { problem: `${place} ${entry.problem}` };
      found.push(entry);
    } else if (index > 0 && isScalar(around) && around.value !== null) {
      return { problem: `${place} is one value, which has no ${key}.` };
    } else found.push(key);
  }
  return { keys: found, isNew };
}

/** Whether the last key is the name that a further upstream gets: the entries of no other list have names. */
function isNewEntry(around: unknown, keys: readonly (string | number)[]): boolean {
  if (keys.length !== 2 || keys[0] !== 'upstreams' || typeof keys[1] !== 'string') return false;
  return isSeq(around) ? namesIn(around).indexOf(keys[1]) < 0 : !isMap(around);
}

function namesIn({ items }: YAMLSeq): unknown[] {
  return items.map((item) => (isMap(item) ? item.get('name') : undefined));
}

/** The number of an entry; the one after the last is new. Else what is wrong with it. */
function entryOf(list: YAMLSeq, key: string | number): number | { problem: string } {
  const { items } = list;
  const names = namesIn(list);
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
  const [from = 0, to = 0] = (isScalar(node) && node.range) || [];
  if (isPlain && from < to) {
    return text.slice(0, from) + stringify(value, { lineWidth: 0 }).trimEnd() + text.slice(to);
  }
  // A file that says `null` has no map to add to.
  if (isScalar(document.contents)) document.contents = null;
  // Nor has a section in which everything is commented out.
  for (const [at, next] of keys.entries()) {
    const around = keys.slice(0, at);
    const empty = at > 0 && document.getIn(around, true);
    if (!isScalar(empty)) continue;
    const section = document.createNode(typeof next === 'number' ? [] : {});
    section.comment = empty.comment;
    document.setIn(around, section);
  }
  document.setIn(keys, isPlain ? value : document.createNode(value));
  return written(document, text);
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
  return isEmpty ? written(document, text).replace(/\{ *\}\n$/, '') : written(document, text);
}

/** The text of the changed document, in which lines that say the same as before are written as they were. */
function written(document: Document, before: string): string {
  const asWritten = document.toString({ lineWidth: 0 });
  const wanted = document.toJS();
  for (const indentSeq of [true, false]) {
    const text = indentSeq ? asWritten : document.toString({ lineWidth: 0, indentSeq });
    const merged = withLinesOf(before, text);
    const read = parseDocument(merged, { uniqueKeys: false });
    if (read.errors.length === 0 && isDeepStrictEqual(read.toJS(), wanted)) return merged;
  }
  return asWritten;
}

/** A text with the spaces of another one, where lines differ in nothing else. */
function withLinesOf(before: string, after: string): string {
  const [old, lines] = [before.split('\n'), after.split('\n')];
  const key = (line: string) => line.replace(/\s+/g, '');
  let [from, to] = [0, 0];
  const merged: string[] = [];
  for (const { change, count } of alignedKeys(old.map(key), lines.map(key))) {
    if (change !== 'added') from += count;
    if (change === 'removed') continue;
    merged.push(...(change === 'same' ? old.slice(from - count, from) : lines.slice(to, to + count)));
    to += count;
  }
  return merged.join('\n');
}
