import { Command } from '@commander-js/extra-typings';
import { cancelResponse } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import { example } from '../example.ts';

export const cancelResponseCommand = (context: Context) =>
  new Command('cancel')
    .argument('<id>', 'the id of a background response, resp_…')
    .addHelpText('after', example('gateway responses cancel resp_01jd…'))
    .action(async (id) => {
      const response = await context.client().call(cancelResponse, { params: { id } });
      if (context.out.wantsJson()) return context.out.document(response);
      const { status } = response;
      context.out.note(status === 'cancelled' ? `Cancelled ${id}.` : `${id} had ended before: ${status}.`);
    });
