import { Command } from '@commander-js/extra-typings';
import type { Context } from '../../context.ts';
import { getMe } from '../../site-addresses.ts';
import { example } from '../example.ts';
import { profileColumns } from './columns.ts';

export const showProfileCommand = (context: Context) =>
  new Command('show').addHelpText('after', example('gateway profile show')).action(async () => {
    const { data } = await context.client().call(getMe, { query: { chat_limit: 1 } });
    await context.out.record(data.user, profileColumns(context.now()));
  });
