import { Command } from '@commander-js/extra-typings';
import type { ResponseResource } from '../../../shared/contract/response-resource.ts';
import type { ListedResponse } from '../../../shared/contract/stored-responses.ts';
import { cancelResponse, deleteResponse, getResponse, listResponses } from '../../../shared/endpoints.ts';
import { ago } from '../../../view/durations.ts';
import { storedContent, storedPassages } from '../../content/call-content.ts';
import { formatPassages } from '../../content/conversation-text.ts';
import type { Context } from '../../context.ts';
import { collectPages } from '../../hosts/pages.ts';
import { example, wholeNumber, yesOption } from '../../options.ts';
import type { Column } from '../../output/table.ts';
import { confirm } from '../../terminal/prompts.ts';
import { textOfResponse } from '../respond/answer.ts';
import { keepPictures, picturesOption, preparePictures } from '../respond/pictures.ts';

export const listResponsesCommand = (context: Context) =>
  new Command('list')
    .option('--limit <count>', 'maximum number to list, newest first', wholeNumber({ min: 1 }), 20)
    .addHelpText('after', example('gateway responses list --json=id,status'))
    .action(async ({ limit }) => {
      const rows = await collectPages(limit, (page) => context.client().call(listResponses, { query: page }));
      await context.out.table(rows, columns(context.now()), { empty: 'No stored responses.' });
    });

const created = (row: ListedResponse) => new Date(row.created_at * 1000).toISOString();

const columns = (now: number): Column<ListedResponse>[] => [
  { title: 'id', value: (row) => row.id },
  {
    title: 'status',
    value: (row) => row.status,
    style: (row) => (row.status === 'failed' ? 'red' : row.status === 'completed' ? 'green' : 'dim'),
  },
  { title: 'model', value: (row) => row.model },
  { title: 'background', value: (row) => row.background, isSpare: true },
  { title: 'created', value: created, show: (row) => ago(created(row), now) },
];

export const getResponseCommand = (context: Context) =>
  new Command('get')
    .argument('<response>', 'the id of a response: resp_…')
    .option(...picturesOption)
    .addHelpText('after', example('gateway responses get resp_01jd… --json'))
    .action(async (id, { pictures }) => {
      preparePictures(pictures);
      const response = await show(context, id);
      keepPictures(context, response, pictures);
    });

/** Prints a response: on a terminal with its prompt, in a pipe the answer alone, as `respond` does. */
async function show(context: Context, id: string): Promise<ResponseResource> {
  const { io, out } = context;
  if (io.stdout.isTty && !out.wantsJson() && !out.isQuiet()) {
    const content = await storedContent(context.client(), id);
    noteProgress(context, content.response);
    io.stdout.write(formatPassages(storedPassages(content), out.paint.stdout));
    return content.response;
  }
  const response = await context.client().call(getResponse, { params: { id }, query: {} });
  if (out.wantsJson()) {
    await out.document(response);
    return response;
  }
  noteProgress(context, response);
  if (response.error) out.warn(`The response failed: ${response.error.message}`);
  out.text(out.isQuiet() ? `${response.id}\n` : textOfResponse(response));
  return response;
}

function noteProgress({ out }: Context, response: ResponseResource): void {
  if (response.status === 'queued' || response.status === 'in_progress')
    out.note(`The response is ${response.status}. To follow it: gateway responses watch ${response.id}`);
}

export const cancelResponseCommand = (context: Context) =>
  new Command('cancel')
    .argument('<response>', 'the id of a background response: resp_…')
    .addHelpText('after', example('gateway responses cancel resp_01jd…'))
    .action(async (id) => {
      const response = await context.client().call(cancelResponse, { params: { id } });
      if (context.out.wantsJson()) return context.out.document(response);
      const { status } = response;
      context.out.note(
        status === 'cancelled' ? `Cancelled ${id}.` : `${id} had already finished: ${status}.`,
      );
    });

export const deleteResponseCommand = (context: Context) =>
  new Command('delete')
    .argument('<response>', 'the id of a response: resp_…')
    .addOption(yesOption())
    .addHelpText('after', example('gateway responses delete resp_01jd… --yes'))
    .action(async (id, { yes }) => {
      const client = context.client();
      const find = () => client.call(getResponse, { params: { id }, query: {} });
      await confirm(context, `Delete ${id}? This cannot be undone.`, { yes, find });
      const deleted = await client.call(deleteResponse, { params: { id } });
      return context.out.done(deleted, `Deleted ${deleted.id}.`);
    });
