import { Command } from '@commander-js/extra-typings';
import type { Context } from '../../context.ts';
import { sendWhisper } from '../../site-addresses.ts';
import { example } from '../example.ts';
import { messageText } from '../message-text.ts';
import { whisperColumns } from './columns.ts';

export const sendWhisperCommand = (context: Context) =>
  new Command('send')
    .argument('<person>', 'the handle of whoever gets it, or their id')
    .argument('[text]', 'what to say; piped in unless told')
    .addHelpText('after', example('gateway whispers send ann "The build is green."'))
    .action(async (person, text) => {
      const body = await messageText(context, text);
      const recipient = /^\d+$/.test(person) ? { recipientId: Number(person) } : { recipientHandle: person };
      const { data } = await context.client().call(sendWhisper, { body: { body, ...recipient } });
      if (context.out.wantsJson()) return context.out.document(data);
      if (!context.io.stdout.isTty || context.out.isQuiet()) {
        return context.out.record(data, whisperColumns(context.now()), {
          pipedRow: whisperColumns(context.now()),
        });
      }
      context.out.note(`Whispered to ${data.recipient.handle}.`);
    });
