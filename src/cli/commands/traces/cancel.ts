import { Command } from '@commander-js/extra-typings';
import { cancelCall } from '../../../shared/endpoints.ts';
import type { Context } from '../../context.ts';
import { example } from '../../options.ts';

export const cancelTraceCommand = (context: Context) =>
  new Command('cancel')
    .argument('<call>', 'the id of a running call: req_…')
    .addHelpText('after', example('gateway calls cancel req_01jd…'))
    .action(async (request) => {
      const done = await context.client().call(cancelCall, { params: { request_id: request } });
      const what = done.canceled ? 'was canceled' : 'was over already';
      await context.out.done(done, `The call ${request} ${what}.`);
    });
