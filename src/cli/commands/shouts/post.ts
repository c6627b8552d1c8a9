import { Command } from '@commander-js/extra-typings';
import type { Context } from '../../context.ts';
import { postShout } from '../../site-addresses.ts';
import { example } from '../example.ts';
import { messageText } from '../message-text.ts';
import { shoutColumns } from './columns.ts';

export const postShoutCommand = (context: Context) =>
  new Command('post')
    .argument('[text]', 'what to shout; piped in unless told')
    .option('--zone <zone>', 'where: letters, digits and : _ - (default: global)')
    .addHelpText('after', example('gateway shouts post "Deploying in five minutes." --zone dev'))
    .action(async (text, { zone }) => {
      const body = await messageText(context, text);
      const { data } = await context.client().call(postShout, { body: { body, zone } });
      if (context.out.wantsJson()) return context.out.document(data);
      if (!context.io.stdout.isTty || context.out.isQuiet()) {
        return context.out.record(data, shoutColumns(context.now()), {
          pipedRow: shoutColumns(context.now()),
        });
      }
      context.out.note(`Shouted in ${data.zone}.`);
    });
