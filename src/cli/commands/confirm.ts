import { exitCodes } from '../../shared/errors.ts';
import { CliError } from '../cli-error.ts';
import type { Context } from '../context.ts';
import { visible } from '../output/visible.ts';

/** Asks before something is destroyed. Where nobody can be asked, `--yes` has to be given. */
export async function confirm(
  context: Context,
  question: string,
  { yes }: { yes?: true | undefined },
): Promise<void> {
  if (yes) return;
  const { stdin, stderr } = context.io;
  if (!stdin.isTty || !context.out.isInteractive()) {
    throw new CliError(`${question} Nobody can be asked here.`, {
      exit: exitCodes.usage,
      next: 'Say yes with --yes.',
    });
  }
  stderr.write(`${visible(question)} [y/N] `);
  const answer = await stdin.readLine();
  if (!/^y(es)?$/i.test(answer?.trim() ?? '')) {
    throw new CliError('Nothing was done.', { exit: exitCodes.failed });
  }
}
