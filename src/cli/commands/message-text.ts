import { exitCodes } from '../../shared/errors.ts';
import { CliError } from '../cli-error.ts';
import type { Context } from '../context.ts';

/** What to say: the argument, or what is piped in, without its last line end. */
export async function messageText(context: Context, given: string | undefined): Promise<string> {
  if (given !== undefined) return given;
  const { stdin } = context.io;
  const piped = stdin.isTty
    ? ''
    : Buffer.from(await stdin.read())
        .toString('utf8')
        .replace(/\r?\n$/, '');
  if (piped.trim() !== '') return piped;
  throw new CliError('There is nothing to say.', {
    exit: exitCodes.usage,
    next: 'Give the text as an argument, or pipe it in.',
  });
}
