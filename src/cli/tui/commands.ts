import { Command } from '@commander-js/extra-typings';
import { exitCodes } from '../../shared/errors.ts';
import { plainOption } from '../commands/respond/answer.ts';
import type { Context } from '../context.ts';
import { CliError } from '../failures/cli-error.ts';
import { resolveThread } from '../names/resolve.ts';
import { example } from '../options.ts';

export const tuiCommand = (context: Context) =>
  new Command('tui')
    .option('--plain', 'for screen readers: one pane, no graphics, no animation')
    .option('--no-mouse', 'leave clicks and the wheel to the terminal')
    .addHelpText('after', example('gateway tui --plain'))
    .action(async (options) => {
      needTerminal(context, 'Use commands such as gateway tail or gateway usage instead.');
      const { startTui } = await import('./start-tui.ts');
      await startTui(context, options);
    });

/** Throws unless a user is at a terminal. Also switches React to production mode. */
function needTerminal({ io, env }: Context, next: string): void {
  if (!io.stdin.isTty || !io.stdout.isTty || env.TERM === 'dumb') {
    throw new CliError('This needs a terminal.', { exit: exitCodes.usage, next });
  }
  // Even if the shell sets development mode for other programs: in it React records every render, and memory use grows.
  env.NODE_ENV = 'production';
}

export const chatCommand = (context: Context) =>
  new Command('chat')
    .option(
      '-m, --model <model>',
      "the model to chat with (default: GATEWAY_MODEL, then the daemon's default)",
    )
    .option('-t, --thread <thread>', 'the thread to store the conversation in, by id (th_…) or title')
    .option('-i, --instructions <text>', 'system instructions for the conversation')
    .option('-c, --continue [response]', 'continue the last conversation, or the one of a response: resp_…')
    .option(...plainOption)
    .option('--no-history', 'neither read nor keep the prompts of this machine')
    .addHelpText('after', example('gateway chat --model sim/assistant'))
    .action(async (flags) => {
      needTerminal(context, 'Use gateway respond instead: gateway respond "What is a mutex?"');
      const { startChat } = await import('./chat/start-chat.tsx');
      const thread = flags.thread === undefined ? undefined : await resolveThread(context, flags.thread);
      await startChat(context, { ...flags, thread });
    });
