import { Command } from '@commander-js/extra-typings';
import type { Context } from '../context.ts';
import { example } from './example.ts';
import { needTerminal } from './tui.ts';

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
