import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { Address } from '../../shared/client.ts';
import type { Endpoint, Result } from '../../shared/contract/endpoint.ts';
import type { ModelEntry } from '../../shared/contract/models.ts';
import type { Context } from '../context.ts';

type ModelKind = ModelEntry['service']['capabilities']['kind'] & string;

/** Everything the program knows about a command before it loads it. */
export interface CommandEntry {
  summary: string;
  /** The endpoints that it calls; left out for commands that call several endpoints or none. */
  endpoint?: Address | readonly Address[];
  /** Members of the call's query or body that the command takes as options of the same name. */
  options?: readonly string[];
  lists?: Listing;
  /** The kind of models that its `<model>` takes; left out if it takes all. */
  models?: ModelKind;
  /** Loads the command's module, which happens only when it runs or its help is printed. */
  load: () => Promise<(context: Context) => CommandUnknownOpts>;
  /** Set for commands without `--host`, `--json` and the other common options. */
  isPlain?: true;
}

/** A command with subcommands, such as `keys`. */
export interface NounEntry {
  summary: string;
  verbs: Record<string, CommandEntry>;
  /** Names that scripts may use in its place; help shows them only with the command itself. */
  aliases?: readonly string[];
  /** The verb that the noun alone stands for; without one, the noun alone prints its help. */
  alone?: string;
  /** The verbs that the noun stands for when it is followed by such an argument. */
  shorthands?: readonly { verb: string; argument: RegExp }[];
}

/** What a command lists, for shell completion and for hints after a 404. */
export interface Listing {
  /** The placeholders of help texts that its rows complete: `key` for `<key>`. */
  completes?: readonly string[];
  suggest?: (context: Context, signal: AbortSignal) => Promise<Suggestion[]> | Suggestion[];
  /** Paths that it lists besides its own endpoint's, such as `/v1/responses` for `/v1/responses/{id}`. */
  alsoListsPaths?: readonly string[];
}

/** A word that the shell can complete to. The values `:files` and `:folders` ask the shell for paths. */
export interface Suggestion {
  value: string;
  /** Shown next to the value, where the shell has room. */
  meaning?: string | undefined;
  /** Of a model, if it is known. */
  kind?: ModelKind | null | undefined;
}

export function isNoun(entry: CommandEntry | NounEntry): entry is NounEntry {
  return 'verbs' in entry;
}

type ListEndpoint = Endpoint & { method: 'GET' };
type Row<E extends ListEndpoint> = Result<E> extends { data: readonly (infer R)[] } ? R : never;

/** Suggests the rows of a list endpoint; a row for which `suggestion` returns undefined is left out. */
export function rowsOf<E extends ListEndpoint>(
  endpoint: Address<E>,
  input: object,
  suggestion: (row: Row<E>) => Suggestion | undefined,
): NonNullable<Listing['suggest']> {
  return async (context, signal) => {
    const answer = await context.client().call(endpoint as Address, input, { signal });
    return (answer as { data: Row<E>[] }).data.flatMap((row) => suggestion(row) ?? []);
  };
}
