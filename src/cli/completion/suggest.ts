import type { CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import type { Context } from '../context.ts';
import { runnable } from '../manifest/build-program.ts';
import { locate } from '../manifest/locate.ts';
import { tree } from '../tree/tree.ts';
import { isNoun, type Noun, type Verb } from '../tree/verb.ts';
import { valuesOf } from './values.ts';

/** What a word may become. The values `:files` and `:folders` ask the shell for paths. */
export interface Suggestion {
  value: string;
  meaning?: string | undefined;
}

/** What the last of the words may become, given those before it; `gateway` itself is not among them. */
export async function suggest(words: string[], context: Context): Promise<Suggestion[]> {
  const current = words.at(-1) ?? '';
  const typed = words.slice(0, -1);
  const before = typed[0] === 'help' ? typed.slice(1) : typed;
  const all = await possible(before, current, context);
  return all.filter(({ value }) => value.startsWith(current) || value.startsWith(':'));
}

async function possible(before: string[], current: string, context: Context): Promise<Suggestion[]> {
  const { words, rest, verb } = locate(before);
  const [noun] = words;
  if (noun === undefined || noun === '--help') return current.startsWith('-') ? topFlags : named(tree);
  const entry = Object.hasOwn(tree, noun) ? tree[noun] : undefined;
  if (!entry) return [];
  // A noun alone: its verbs come first, and its usual verb's own words where it has one.
  const isAlone = isNoun(entry) && before.at(-1) === noun;
  const verbs = isAlone && !current.startsWith('-') ? named(entry.verbs) : [];
  if (!verb) return isAlone ? verbs : [];
  const command = await runnable(verb, context);
  return [...verbs, ...(await ofCommand({ command, noun, rest, current, context }))];
}

const topFlags: Suggestion[] = [
  { value: '--help', meaning: 'show the commands' },
  { value: '--version', meaning: 'print the version' },
];

const named = (entries: Record<string, Verb | Noun>): Suggestion[] =>
  Object.entries(entries).map(([value, { summary }]) => ({ value, meaning: summary }));

interface Place {
  command: CommandUnknownOpts;
  noun: string;
  /** The words of the command that stand before the current one. */
  rest: string[];
  current: string;
  context: Context;
}

async function ofCommand({ command, noun, rest, current, context }: Place): Promise<Suggestion[]> {
  const { open, used, position, isEnded } = walk(command, rest);
  const host = hostOf(rest);
  if (host !== undefined) context.setFlags({ host });
  const inline = /^(--[\w-]+=)/.exec(current)?.[1];
  if (inline !== undefined && !isEnded) {
    const option = optionOf(command, inline.slice(0, -1));
    const values = option ? await ofOption(option, noun, context) : [];
    return values.map((it) => (it.value.startsWith(':') ? it : { ...it, value: inline + it.value }));
  }
  if (open?.required && !(open.variadic && current.startsWith('-')))
    return await ofOption(open, noun, context);
  if (current.startsWith('-') && !isEnded) return flags(command, used);
  const values = open ? await ofOption(open, noun, context) : [];
  const { registeredArguments } = command;
  const last = registeredArguments.at(-1);
  const argument = registeredArguments[position] ?? (last?.variadic ? last : undefined);
  if (!argument) return values;
  const choices = argument.argChoices?.map((value) => ({ value }));
  return [...values, ...(choices ?? (await valuesOf(argument.name(), noun, context)))];
}

interface Walked {
  /** The option that the current word may be a value of. */
  open: Option | undefined;
  used: Set<Option>;
  /** How many arguments stand before. */
  position: number;
  /** Whether `--` stands before: no more options. */
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
      const option = optionOf(command, word.replace(/=.*$/s, ''));
      if (option) walked.used.add(option);
      // `--json` takes fields behind `=` alone where arguments may follow.
      const takesNext = option?.required || (option?.optional && command.registeredArguments.length === 0);
      walked.open = takesNext && !word.includes('=') ? option : undefined;
    }
  }
  return walked;
}

const optionOf = (command: CommandUnknownOpts, flag: string): Option | undefined =>
  command.options.find(({ short, long }) => flag === long || flag === short);

/** Long ones alone, as they tell what they mean; those that were given are left out unless they can be repeated. */
function flags(command: CommandUnknownOpts, used: Set<Option>): Suggestion[] {
  const known = command.options.filter(
    (option) => !option.hidden && (!used.has(option) || option.variadic || isRepeated(option)),
  );
  const options = known.map(({ long, short, description }) => ({
    value: long ?? short ?? '',
    meaning: description,
  }));
  return [...options, { value: '--help', meaning: 'show the help of this command' }];
}

const isRepeated = ({ description }: Option) => /can be repeated/.test(description);

async function ofOption(option: Option, noun: string, context: Context): Promise<Suggestion[]> {
  if (option.argChoices) return option.argChoices.map((value) => ({ value }));
  const placeholder = /[<[]([\w-]+)/.exec(option.flags)?.[1] ?? '';
  return await valuesOf(option.long === '--host' ? 'host' : placeholder, noun, context);
}

function hostOf(rest: string[]): string | undefined {
  const at = rest.findLastIndex((word) => word === '--host' || word.startsWith('--host='));
  if (at < 0) return undefined;
  const word = rest[at] ?? '';
  return word === '--host' ? rest[at + 1] : word.slice('--host='.length);
}

/** What every shell takes for one word and nothing more: it is put into the line as it is, and somebody presses Return. */
const word = /^[\p{L}\p{N}_.:/@+,=%[\]-]+$/u;

/** One a line: the value, a tab and what it means, without what would break the line. Others name models and hosts. */
export function suggestionLines(suggestions: Suggestion[]): string {
  return suggestions
    .filter(({ value }) => word.test(value))
    .map(({ value, meaning = '' }) => `${value}\t${meaning.replace(/[\p{Cc}\p{Bidi_Control}]+/gu, ' ')}\n`)
    .join('');
}
