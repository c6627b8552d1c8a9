import { readFileSync } from 'node:fs';
import { isMap, isScalar, LineCounter, type Pair, parseDocument, type YAMLMap } from 'yaml';
import { exitCodes } from '../../../shared/errors.ts';
import { CliError } from '../../cli-error.ts';
import { type BindingsByMode, defaultBindings } from './bindings.ts';
import { type CommandName, commands, isCommandName } from './command-names.ts';

/** Name of the file in the configuration's folder. */
export const keysFileName = 'keys.yaml';

interface Faults {
  lines: LineCounter;
  found: string[];
}

/**
 * Reads what a keys.yaml says, over the keys that there are without it:
 *
 *     drop_defaults: true   # only the keys of this file work
 *     all:
 *       x: remove           # in every view
 *       ctrl-d: ''          # does nothing any more
 *     traffic:
 *       space: pause        # in one view
 *
 * Throws a CliError that tells every fault with its line. `modes` are the views that there are.
 */
export function readBindings(text: string, path: string, modes: readonly string[]): BindingsByMode {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const faults: Faults = { lines, found: document.errors.map((error) => told(error, lines)) };
  const own: Record<string, Record<string, CommandName | ''>> = {};
  let keepsDefaults = true;
  if (faults.found.length === 0 && document.contents !== null) {
    if (!isMap(document.contents)) faults.found.push('line 1: it must hold views and their keys.');
    else {
      for (const pair of (document.contents as YAMLMap).items) {
        const name = nameOf(pair);
        if (name === 'drop_defaults') keepsDefaults = !isTrue(pair, faults);
        else if (name === 'all' || modes.includes(name)) own[name] = keysIn(pair, faults);
        else fault(pair, `there is no view ${name}; there are all, ${modes.join(', ')}.`, faults);
      }
    }
  }
  if (faults.found.length > 0) {
    throw new CliError(`${path} has faults:\n${faults.found.map((one) => `  ${one}`).join('\n')}`, {
      exit: exitCodes.usage,
      next: 'Mend the file, or move it away.',
    });
  }
  return merged(keepsDefaults ? defaultBindings : {}, own);
}

/** The keys of the file in that folder; those that there are without it when it is not there. */
export function loadBindings(path: string, modes: readonly string[]): BindingsByMode {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return defaultBindings;
    throw new CliError(`${path} cannot be read (${code}).`, { exit: exitCodes.usage, cause });
  }
  return readBindings(text, path, modes);
}

function keysIn(pair: Pair, faults: Faults): Record<string, CommandName | ''> {
  const keys: Record<string, CommandName | ''> = {};
  if (!isMap(pair.value)) {
    fault(pair, 'it must hold keys and what they do.', faults);
    return keys;
  }
  for (const one of pair.value.items as Pair[]) {
    const key = nameOf(one);
    const command = isScalar(one.value) ? (one.value.value ?? '') : undefined;
    if (command === '' || (typeof command === 'string' && isCommandName(command))) keys[key] = command;
    else {
      const names = Object.keys(commands).filter((name) => !name.startsWith('screen-'));
      fault(one, `${key}: there is no command ${String(command)}; there are ${names.join(', ')}.`, faults);
    }
  }
  return keys;
}

function merged(
  first: BindingsByMode,
  own: Record<string, Record<string, CommandName | ''>>,
): BindingsByMode {
  const modes = new Set([...Object.keys(first), ...Object.keys(own)]);
  // What a file says comes first, so that it is what the foot of the screen shows.
  return Object.fromEntries(
    [...modes].map((mode) => [mode, { ...own[mode], ...without(first[mode], own[mode]) }]),
  );
}

function without(bindings: BindingsByMode[string] = {}, own: object = {}): BindingsByMode[string] {
  return Object.fromEntries(Object.entries(bindings).filter(([key]) => !Object.hasOwn(own, key)));
}

function isTrue(pair: Pair, faults: Faults): boolean {
  const value = isScalar(pair.value) ? pair.value.value : undefined;
  if (typeof value !== 'boolean') fault(pair, 'drop_defaults must be true or false.', faults);
  return value === true;
}

function nameOf(pair: Pair): string {
  return String(isScalar(pair.key) ? pair.key.value : pair.key);
}

function fault(pair: Pair, why: string, { lines, found }: Faults): void {
  const start = isScalar(pair.key) ? pair.key.range?.[0] : undefined;
  found.push(`line ${start === undefined ? '?' : lines.linePos(start).line}: ${why}`);
}

function told({ message, pos }: { message: string; pos: [number, number] }, lines: LineCounter): string {
  return `line ${lines.linePos(pos[0]).line}: ${message.split('\n')[0]}`;
}
