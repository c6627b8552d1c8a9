import { Command } from '@commander-js/extra-typings';
import { createThread } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import { example } from '../example.ts';
import { threadColumns } from './columns.ts';

export const createThreadCommand = (context: Context) =>
  new Command('create')
    .argument('[title]', 'its title; the first message gives one unless told')
    .addHelpText('after', example('gateway threads create "Trip to Rome"'))
    .action(async (title) => {
      const { thread } = await context.client().call(createThread, { body: { title } });
      await context.out.record(thread, threadColumns(context.now()));
    });
