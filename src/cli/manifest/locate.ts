import { type CommandEntry, isNoun } from './entry.ts';
import { manifest, nameOf } from './manifest.ts';

/** A command line, split at the command's words. */
export interface CommandLine {
  /** The noun and, where it has verbs, the verb. */
  words: string[];
  rest: string[];
  /** Undefined if the words are not a complete command. */
  command: CommandEntry | undefined;
}

/**
 * Finds the command's words. Common flags may come before, between and after them. A noun alone stands for its default
 * verb, or asks for its help.
 */
export function locate(argv: string[]): CommandLine {
  const nounAt = afterFlags(argv, 0, /^-(?!-$)/);
  const given = argv[nounAt];
  if (given === undefined)
    return { words: [], rest: argv.length > 0 ? argv : ['--help'], command: undefined };
  const noun = nameOf(given);
  const without = (...positions: number[]) => argv.filter((_word, at) => !positions.includes(at));
  const entry = Object.hasOwn(manifest, noun) ? manifest[noun] : undefined;
  if (entry && !isNoun(entry)) return { words: [noun], rest: without(nounAt), command: entry };
  const verbAt = afterFlags(argv, nounAt + 1, commonFlag);
  const next = argv[verbAt];
  // Even with --help, an unknown command is an error.
  if (!entry) return { words: [noun], rest: isWord(next) ? [next] : [], command: undefined };
  if (next !== undefined && Object.hasOwn(entry.verbs, next)) {
    return { words: [noun, next], rest: without(nounAt, verbAt), command: entry.verbs[next] };
  }
  const rest = without(nounAt);
  if (isWord(next)) {
    const verb = entry.shorthands?.find(({ argument }) => argument.test(next))?.verb;
    if (verb !== undefined) return { words: [noun, verb], rest, command: entry.verbs[verb] };
    return { words: [noun], rest: [next], command: undefined };
  }
  const verb = rest.some(isHelp) ? undefined : entry.alone;
  if (verb !== undefined) return { words: [noun, verb], rest, command: entry.verbs[verb] };
  return { words: [noun], rest: rest.length > 0 ? rest : ['--help'], command: undefined };
}

const commonFlag = /^(-q|--quiet|--no-color|--(json|host|jq)(=.*)?)$/s;

/** The position of the first word from `from` on that is neither such a flag nor its value. */
function afterFlags(argv: string[], from: number, flag: RegExp): number {
  let at = from;
  while (flag.test(argv[at] ?? '')) at += /^--(host|jq)$/.test(argv[at] ?? '') ? 2 : 1;
  return at;
}

function isWord(word: string | undefined): word is string {
  return word !== undefined && !word.startsWith('-');
}

function isHelp(word: string): boolean {
  return word === '--help' || word === '-h';
}
