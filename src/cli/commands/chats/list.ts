import { Command } from '@commander-js/extra-typings';
import type { Chat } from '../../../shared/contract/chats.ts';
import { listChats } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import type { Column } from '../../output/table.ts';
import { ago } from '../../output/time.ts';
import { example } from '../example.ts';
import { wholeNumber } from '../number-option.ts';

export const listChatsCommand = (context: Context) =>
  new Command('list')
    .option('--limit <count>', 'at most so many, newest first', wholeNumber({ min: 1, max: 200 }), 50)
    .addHelpText('after', example('gateway chats list'))
    .action(async ({ limit }) => {
      const { data } = await context.client().call(listChats, { query: { limit } });
      await context.out.table(data, columns(context.now()), { empty: 'No chats.' });
    });

const columns = (now: number): Column<Chat>[] => [
  { title: 'id', value: (chat) => chat.id },
  { title: 'title', value: (chat) => chat.title },
  { title: 'working', value: (chat) => chat.working },
  { title: 'updated_at', value: (chat) => chat.updatedAt, show: (chat) => ago(chat.updatedAt, now) },
];
