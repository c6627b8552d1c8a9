import { tree } from '../tree/tree.ts';
import { isNoun, type Verb } from '../tree/verb.ts';

/** A command line, taken apart as far as the command tree goes. */
export interface CommandLine {
  /** The noun and, where it has verbs, the verb. */
  words: string[];
  rest: string[];
  /** The command that the words name, if they name one that runs. */
  verb: Verb | undefined;
}

/**
 * Takes the words from the front. Flags that every command has may stand before and between them, and go behind; a noun
 * alone means its usual verb, or asks for its help.
 */
export function locate(argv: string[]): CommandLine {
  const nounAt = afterFlags(argv, 0, /^-(?!-$)/);
  const noun = argv[nounAt];
  if (noun === undefined) return { words: [], rest: argv.length > 0 ? argv : ['--help'], verb: undefined };
  const without = (...places: number[]) => argv.filter((_word, at) => !places.includes(at));
  const entry = Object.hasOwn(tree, noun) ? tree[noun] : undefined;
  // What names nothing is told alone, and not by the help that was asked for beside it.
  if (!entry) return { words: [noun], rest: [], verb: undefined };
  if (!isNoun(entry)) return { words: [noun], rest: without(nounAt), verb: entry };
  const verbAt = afterFlags(argv, nounAt + 1, commonFlag);
  const next = argv[verbAt];
  if (next !== undefined && Object.hasOwn(entry.verbs, next)) {
    return { words: [noun, next], rest: without(nounAt, verbAt), verb: entry.verbs[next] };
  }
  if (isWord(next)) return { words: [noun], rest: [next], verb: undefined };
  const rest = without(nounAt);
  const meant = rest.some(isHelp) ? undefined : entry.alone;
  if (meant !== undefined) return { words: [noun, meant], rest, verb: entry.verbs[meant] };
  return { words: [noun], rest: rest.length > 0 ? rest : ['--help'], verb: undefined };
}

const commonFlag = /^(-q|--quiet|--no-color|--(json|host|jq)(=.*)?)$/s;

/** Where the first word stands from there on that is no such flag, nor the value of one. */
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
