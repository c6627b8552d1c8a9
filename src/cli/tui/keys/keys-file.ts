import { readFileSync } from 'node:fs';
import { isMap, isScalar, LineCounter, type Pair, parseDocument, type YAMLMap } from 'yaml';
import { exitCodes } from '../../../shared/errors.ts';
import { CliError } from '../../failures/cli-error.ts';
import {
  type BindingsByScreen,
  type CommandName,
  commands,
  defaultBindings,
  isCommandName,
} from './bindings.ts';

/** The file's name in the config folder. */
export const keysFileName = 'keys.yaml';

interface Problems {
  lines: LineCounter;
  found: string[];
}

/**
 * Parses a keys.yaml and merges it over the default bindings:
 *
 *     drop_defaults: true   # use only the keys of this file
 *     all:
 *       x: remove           # on every screen
 *       ctrl-d: ''          # disabled
 *     traffic:
 *       space: pause        # on one screen
 *
 * Throws a CliError that lists every problem with its line.
 */
export function readBindings(text: string, path: string, screens: readonly string[]): BindingsByScreen {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const problems: Problems = { lines, found: document.errors.map((error) => syntaxProblem(error, lines)) };
  const own: Record<string, Record<string, CommandName | ''>> = {};
  let keepsDefaults = true;
  if (problems.found.length === 0 && document.contents !== null) {
    if (!isMap(document.contents)) problems.found.push('line 1: expected screens with their keys.');
    else {
      for (const pair of (document.contents as YAMLMap).items) {
        const name = keyOf(pair);
        if (name === 'drop_defaults') keepsDefaults = !isTrue(pair, problems);
        else if (name === 'all' || screens.includes(name)) own[name] = keysIn(pair, problems);
        else
          addProblem(pair, `unknown screen ${name}; expected one of all, ${screens.join(', ')}.`, problems);
      }
    }
  }
  if (problems.found.length > 0) {
    throw new CliError(`${path} is invalid:\n${problems.found.map((one) => `  ${one}`).join('\n')}`, {
      exit: exitCodes.usage,
      next: 'Fix or remove the file.',
    });
  }
  return merged(keepsDefaults ? defaultBindings : {}, own);
}

/** Reads the bindings from a file; the defaults if it does not exist. */
export function loadBindings(path: string, screens: readonly string[]): BindingsByScreen {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return defaultBindings;
    throw new CliError(`${path} cannot be read (${code}).`, { exit: exitCodes.usage, cause });
  }
  return readBindings(text, path, screens);
}

function keysIn(pair: Pair, problems: Problems): Record<string, CommandName | ''> {
  const keys: Record<string, CommandName | ''> = {};
  if (!isMap(pair.value)) {
    addProblem(pair, 'expected keys with their commands.', problems);
    return keys;
  }
  for (const one of pair.value.items as Pair[]) {
    const key = keyOf(one);
    const command = isScalar(one.value) ? (one.value.value ?? '') : undefined;
    if (command === '' || (typeof command === 'string' && isCommandName(command))) keys[key] = command;
    else {
      const names = Object.keys(commands).filter((name) => !name.startsWith('screen-'));
      addProblem(
        one,
        `${key}: unknown command ${String(command)}; expected one of ${names.join(', ')}.`,
        problems,
      );
    }
  }
  return keys;
}

function merged(
  first: BindingsByScreen,
  own: Record<string, Record<string, CommandName | ''>>,
): BindingsByScreen {
  const names = new Set([...Object.keys(first), ...Object.keys(own)]);
  // Keys of the file come first, so that the footer shows them.
  return Object.fromEntries(
    [...names].map((name) => [name, { ...own[name], ...without(first[name], own[name]) }]),
  );
}

function without(bindings: BindingsByScreen[string] = {}, own: object = {}): BindingsByScreen[string] {
  return Object.fromEntries(Object.entries(bindings).filter(([key]) => !Object.hasOwn(own, key)));
}

function isTrue(pair: Pair, problems: Problems): boolean {
  const value = isScalar(pair.value) ? pair.value.value : undefined;
  if (typeof value !== 'boolean') addProblem(pair, 'drop_defaults must be true or false.', problems);
  return value === true;
}

function keyOf(pair: Pair): string {
  return String(isScalar(pair.key) ? pair.key.value : pair.key);
}

function addProblem(pair: Pair, why: string, { lines, found }: Problems): void {
  const start = isScalar(pair.key) ? pair.key.range?.[0] : undefined;
  found.push(`line ${start === undefined ? '?' : lines.linePos(start).line}: ${why}`);
}

function syntaxProblem(
  { message, pos }: { message: string; pos: [number, number] },
  lines: LineCounter,
): string {
  return `line ${lines.linePos(pos[0]).line}: ${message.split('\n')[0]}`;
}
