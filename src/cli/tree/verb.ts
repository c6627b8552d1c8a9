import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { Context } from '../context.ts';

/** Makes one command. Its module is loaded only when it runs or its help is asked for. */
type Load = () => Promise<(context: Context) => CommandUnknownOpts>;

export interface Verb {
  summary: string;
  load: Load;
  /** Whether it takes no `--host`, `--json` and the like. */
  isPlain?: true;
}

export interface Noun {
  summary: string;
  verbs: Record<string, Verb>;
  /** The verb that is meant when the noun stands alone; without one, a noun alone asks for its help. */
  alone?: string;
}

export function isNoun(entry: Verb | Noun): entry is Noun {
  return 'verbs' in entry;
}
