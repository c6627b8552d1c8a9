import { Command } from '@commander-js/extra-typings';
import { getResponse } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import { example } from '../example.ts';
import { textOfResponse } from '../respond/answer-text.ts';

export const getResponseCommand = (context: Context) =>
  new Command('get')
    .argument('<id>', 'the id of the response, resp_…')
    .addHelpText('after', example('gateway responses get resp_01jd… --json'))
    .action(async (id) => {
      const response = await context.client().call(getResponse, { params: { id }, query: {} });
      if (context.out.wantsJson()) return context.out.document(response);
      if (response.status === 'queued' || response.status === 'in_progress')
        context.out.note(`It is ${response.status}: gateway responses watch ${id}`);
      if (response.error) context.out.warn(`It failed: ${response.error.message}`);
      context.out.text(context.out.isQuiet() ? `${response.id}\n` : textOfResponse(response));
    });
