import { Command } from '@commander-js/extra-typings';
import { exitCodes } from '../../shared/errors.ts';
import { CliError } from '../cli-error.ts';
import type { Context } from '../context.ts';
import { example } from './example.ts';

export const tuiCommand = (context: Context) =>
  new Command('tui')
    .option('--plain', 'for screen readers: one pane, no drawings, nothing moves by itself')
    .addHelpText('after', example('gateway tui --plain'))
    .action(async (options) => {
      needTerminal(context, 'Commands like gateway tail and gateway usage do without one.');
      const { startTui } = await import('../tui/start-tui.ts');
      await startTui(context, options);
    });

/** Refuses where nobody sits at a terminal, with what to do instead; and has React run as it does in production. */
export function needTerminal({ io, env }: Context, next: string): void {
  if (!io.stdin.isTty || !io.stdout.isTty || env.TERM === 'dumb') {
    throw new CliError('This needs a terminal.', { exit: exitCodes.usage, next });
  }
  // Its other form keeps a record of every drawing, in memory that grows.
  env.NODE_ENV ??= 'production';
}
