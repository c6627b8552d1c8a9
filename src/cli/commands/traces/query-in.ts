import { isQueryFault, parseQuery } from '../../../shared/calls/query.ts';
import { exitCodes } from '../../../shared/errors.ts';
import { CliError } from '../../failures/cli-error.ts';

/** The query of a command's arguments, if it has any; what is wrong with it is known without asking the daemon. */
export function queryIn(words: readonly string[]): { q?: string } {
  const q = words.join(' ').trim();
  if (q === '') return {};
  const parsed = parseQuery(q);
  if (isQueryFault(parsed))
    throw new CliError(`${parsed.part}: ${parsed.message}`, { exit: exitCodes.usage });
  return { q };
}
