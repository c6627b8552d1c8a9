import { Command } from '@commander-js/extra-typings';
import { getThread, stopThread } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import { example } from '../example.ts';

export const stopThreadCommand = (context: Context) =>
  new Command('stop')
    .argument('<id>', 'the id of the thread, th_…')
    .addHelpText('after', example('gateway threads stop th_01jd…'))
    .action(async (id) => {
      const params = { id };
      const { thread: before } = await context.client().call(getThread, { params });
      const { thread } = await context.client().call(stopThread, { params });
      if (context.out.wantsJson()) return context.out.document(thread);
      context.out.note(before.working ? `Stopped what ran in ${id}.` : `Nothing runs in ${id}.`);
    });
