import { Command } from '@commander-js/extra-typings';
import { exitCodes } from '../../shared/errors.ts';
import type { Context } from '../context.ts';
import { CliError } from '../failures/cli-error.ts';
import { example } from '../manifest/options.ts';

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

export const chatCommand = (context: Context) =>
  new Command('chat')
    .option('-m, --model <model>', 'the model to talk with; else GATEWAY_MODEL, else the daemon’s default')
    .option('-t, --thread <thread>', 'the thread that keeps what is said: th_…')
    .option('-i, --instructions <text>', 'instructions that stand before everything')
    .addHelpText('after', example('gateway chat --model sim/assistant'))
    .action(async (flags) => {
      needTerminal(context, 'Ask once instead: gateway respond "What is a mutex?"');
      const { startChat } = await import('../tui/chat/start-chat.tsx');
      await startChat(context, flags);
    });
