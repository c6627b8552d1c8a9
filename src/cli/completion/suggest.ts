import type { CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import type { Context } from '../context.ts';
import { buildCommand } from '../manifest/build-program.ts';
import { type CommandEntry, isNoun, type NounEntry, type Suggestion } from '../manifest/entry.ts';
import { locate } from '../manifest/locate.ts';
import { allCommands, manifest, nameOf } from '../manifest/manifest.ts';

/** Completes the last of `words`, the command line after `gateway`. */
export async function suggest(words: string[], context: Context): Promise<Suggestion[]> {
  const current = words.at(-1) ?? '';
  const typed = words.slice(0, -1);
  const before = typed[0] === 'help' ? typed.slice(1) : typed;
  const all = await candidates(before, current, context);
  return all.filter(({ value }) => value.startsWith(current) || value.startsWith(':'));
}

async function candidates(before: string[], current: string, context: Context): Promise<Suggestion[]> {
  const { words, rest, command: entry } = locate(before);
  const [name] = words;
  const last = before.at(-1);
  if (name === undefined && last === '--jq') return [];
  if (name === undefined && last === '--host') return await placeholderValues('host', context);
  if (name === undefined || name === '--help') return current.startsWith('-') ? topFlags : named(manifest);
  const parent = Object.hasOwn(manifest, name) ? manifest[name] : undefined;
  if (!parent) return [];
  // After a noun alone: its verbs first, then the options and arguments of its default verb.
  const isAlone = isNoun(parent) && nameOf(last ?? '') === name;
  const verbs = isAlone && !current.startsWith('-') ? named(parent.verbs) : [];
  if (!entry) return isAlone ? verbs : [];
  const command = await buildCommand(entry, context);
  const found = await inCommand({ command, rest, current, context });
  return [
    ...verbs,
    ...found.filter(({ kind = null }) => kind === null || !entry.models || kind === entry.models),
  ];
}

const topFlags: Suggestion[] = [
  { value: '--help', meaning: 'show the commands' },
  { value: '--version', meaning: 'print the version' },
];

const named = (entries: Record<string, CommandEntry | NounEntry>): Suggestion[] =>
  Object.entries(entries).map(([value, { summary }]) => ({ value, meaning: summary }));

interface Position {
  command: CommandUnknownOpts;
  /** The command's words before the current one. */
  rest: string[];
  current: string;
  context: Context;
}

async function inCommand({ command, rest, current, context }: Position): Promise<Suggestion[]> {
  const { open, used, position, isEnded } = walk(command, rest);
  const host = hostIn(rest);
  if (host !== undefined) context.setFlags({ host });
  const inline = /^(--[\w-]+=)/.exec(current)?.[1];
  if (inline !== undefined && !isEnded) {
    const option = findOption(command, inline.slice(0, -1));
    const values = option ? await optionValues(option, context) : [];
    return values.map((it) => (it.value.startsWith(':') ? it : { ...it, value: inline + it.value }));
  }
  if (open?.required && !(open.variadic && current.startsWith('-'))) return await optionValues(open, context);
  if (current.startsWith('-') && !isEnded) return flags(command, used);
  const values = open ? await optionValues(open, context) : [];
  const { registeredArguments } = command;
  const last = registeredArguments.at(-1);
  const argument = registeredArguments[position] ?? (last?.variadic ? last : undefined);
  if (!argument) return values;
  const choices = argument.argChoices?.map((value) => ({ value }));
  return [...values, ...(choices ?? (await placeholderValues(argument.name(), context)))];
}

interface Walked {
  /** The option whose value the current word may be. */
  open: Option | undefined;
  used: Set<Option>;
  /** The number of arguments before the current word. */
  position: number;
  /** Whether `--` came before: no more options. */
  isEnded: boolean;
}

function walk(command: CommandUnknownOpts, rest: string[]): Walked {
  const walked: Walked = { open: undefined, used: new Set(), position: 0, isEnded: false };
  for (const word of rest) {
    if (walked.isEnded || !word.startsWith('-') || word === '-') {
      const { open } = walked;
      if (open === undefined) walked.position += 1;
      if (!open?.variadic) walked.open = undefined;
    } else if (word === '--') {
      walked.isEnded = true;
      walked.open = undefined;
    } else {
      const option = findOption(command, word.replace(/=.*$/s, ''));
      if (option) walked.used.add(option);
      // Where arguments may follow, `--json` takes fields only after `=`.
      const takesNext = option?.required || (option?.optional && command.registeredArguments.length === 0);
      walked.open = takesNext && !word.includes('=') ? option : undefined;
    }
  }
  return walked;
}

const findOption = (command: CommandUnknownOpts, flag: string): Option | undefined =>
  command.options.find(({ short, long }) => flag === long || flag === short);

/** Long flags only, because they explain themselves; flags already given are left out unless they can be repeated. */
function flags(command: CommandUnknownOpts, used: Set<Option>): Suggestion[] {
  const known = command.options.filter(
    (option) => !option.hidden && (!used.has(option) || option.variadic || isRepeatable(option)),
  );
  const options = known.map(({ long, short, description }) => ({
    value: long ?? short ?? '',
    meaning: description,
  }));
  return [...options, { value: '--help', meaning: 'show help for this command' }];
}

const isRepeatable = ({ description }: Option) => /can be repeated/.test(description);

async function optionValues(option: Option, context: Context): Promise<Suggestion[]> {
  if (option.argChoices) return option.argChoices.map((value) => ({ value }));
  return await placeholderValues(/[<[]([\w-]+)/.exec(option.flags)?.[1] ?? '', context);
}

/** The user is waiting at the prompt. */
const timeoutMs = 1500;

/** Values for a placeholder of a help text, such as `model`; none if the daemon is down, too slow or refuses. */
async function placeholderValues(placeholder: string, context: Context): Promise<Suggestion[]> {
  if (placeholder === 'file' || placeholder === 'path') return [{ value: ':files' }];
  if (placeholder === 'folder') return [{ value: ':folders' }];
  const listing = allCommands.find(({ entry }) => entry.lists?.completes?.includes(placeholder))?.entry.lists;
  try {
    return (await listing?.suggest?.(context, AbortSignal.timeout(timeoutMs))) ?? [];
  } catch {
    return [];
  }
}

function hostIn(rest: string[]): string | undefined {
  const at = rest.findLastIndex((word) => word === '--host' || word.startsWith('--host='));
  if (at < 0) return undefined;
  const word = rest[at] ?? '';
  return word === '--host' ? rest[at + 1] : word.slice('--host='.length);
}

/** Words that no shell interprets: a suggestion is put on the command line as it is. */
const plainWord = /^[\p{L}\p{N}_.:/@+,=%[\]-]+$/u;

/**
 * One suggestion a line: the value, a tab and its meaning. Values come from the daemon, and others name its models and
 * hosts, so values that a shell would interpret are dropped and control characters replaced.
 */
export function suggestionLines(suggestions: Suggestion[]): string {
  return suggestions
    .filter(({ value }) => plainWord.test(value))
    .map(({ value, meaning = '' }) => `${value}\t${meaning.replace(/[\p{Cc}\p{Bidi_Control}]+/gu, ' ')}\n`)
    .join('');
}
