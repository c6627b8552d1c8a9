import { Command } from '@commander-js/extra-typings';
import type { ResponseResource } from '../../../shared/contract/responses.ts';
import { getResponse } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import { example } from '../example.ts';
import { textOfResponse } from '../respond/answer-text.ts';
import { keepPictures, picturesOption, preparePictures } from '../respond/pictures.ts';

export const getResponseCommand = (context: Context) =>
  new Command('get')
    .argument('<id>', 'the id of the response, resp_…')
    .option(...picturesOption)
    .addHelpText('after', example('gateway responses get resp_01jd… --json'))
    .action(async (id, { pictures }) => {
      preparePictures(pictures);
      const response = await context.client().call(getResponse, { params: { id }, query: {} });
      if (context.out.wantsJson()) await context.out.document(response);
      else show(context, response);
      keepPictures(context, response, pictures);
    });

function show({ out }: Context, response: ResponseResource): void {
  if (response.status === 'queued' || response.status === 'in_progress')
    out.note(`It is ${response.status}: gateway responses watch ${response.id}`);
  if (response.error) out.warn(`It failed: ${response.error.message}`);
  out.text(out.isQuiet() ? `${response.id}\n` : textOfResponse(response));
}
