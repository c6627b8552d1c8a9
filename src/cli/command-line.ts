import { tree } from './tree/tree.ts';
import { isNoun, type Verb } from './tree/verb.ts';

/** A command line, taken apart as far as the command tree goes. */
export interface CommandLine {
  /** The noun and, where it has verbs, the verb. */
  words: string[];
  rest: string[];
  /** The command that the words name, if they name one that runs. */
  verb: Verb | undefined;
}

/**
 * Takes the words from the front. Flags that stand before them go behind; a noun alone means its usual verb, or asks
 * for its help.
 */
export function locate(argv: string[]): CommandLine {
  let at = 0;
  while (argv[at]?.startsWith('-') && argv[at] !== '--') {
    at += /^--(host|jq)$/.test(argv[at] ?? '') ? 2 : 1;
  }
  const [noun, next] = argv.slice(at);
  if (noun === undefined) return { words: [], rest: argv.length > 0 ? argv : ['--help'], verb: undefined };
  const restAfter = (count: number) => [...argv.slice(0, at), ...argv.slice(at + count)];
  const entry = Object.hasOwn(tree, noun) ? tree[noun] : undefined;
  if (!entry || !isNoun(entry)) return { words: [noun], rest: restAfter(1), verb: entry };
  if (next !== undefined && Object.hasOwn(entry.verbs, next)) {
    return { words: [noun, next], rest: restAfter(2), verb: entry.verbs[next] };
  }
  const rest = restAfter(1);
  const meant = rest.some((word) => isHelp(word) || Object.hasOwn(entry.verbs, word))
    ? undefined
    : entry.alone;
  if (meant !== undefined && !isWord(next)) return { words: [noun, meant], rest, verb: entry.verbs[meant] };
  return { words: [noun], rest: rest.length > 0 ? rest : ['--help'], verb: undefined };
}

function isWord(word: string | undefined): boolean {
  return word !== undefined && !word.startsWith('-');
}

function isHelp(word: string): boolean {
  return word === '--help' || word === '-h';
}
