import { Command, Option } from '@commander-js/extra-typings';
import type { Query } from '../../../shared/contract/endpoint.ts';
import type { exportTraces as exportContract } from '../../../shared/contract/traces-export.ts';
import { exportTraces } from '../../../shared/endpoints.ts';
import { exitCodes } from '../../../shared/errors.ts';
import { ReceivedError } from '../../../shared/faults/received-error.ts';
import { count } from '../../../view/numbers.ts';
import type { Context } from '../../context.ts';
import { isTransient } from '../../hosts/is-transient.ts';
import { resolveFilter } from '../../names/resolve.ts';
import { delimiterOption, example } from '../../options.ts';
import { pastTimeHelp, pastTimeInZone, zoneOption } from '../../times.ts';
import { type ExportRows, exportRows } from './export-rows.ts';
import { selectionIn } from './query-in.ts';

export const exportTracesCommand = (context: Context) =>
  new Command('export')
    .argument('[query...]', 'filters such as status:failed tag:team=a >4s >$0.05 since:2h')
    .addOption(
      new Option('--format <format>', 'what to write')
        .choices(['jsonl', 'csv', 'har', 'otlp'] as const)
        .default('jsonl' as const),
    )
    .addOption(
      new Option('--content <content>', 'with what was asked and answered, or also what providers got')
        .choices(['none', 'text', 'wire'] as const)
        .default('none' as const),
    )
    .addOption(delimiterOption())
    .option('--key <key>', 'only calls of this key, by id or name')
    .option('--since <time>', `only calls that finished since then: ${pastTimeHelp}`, pastTimeInZone(context))
    .option(
      '--until <time>',
      'only calls that finished before this time or through this day',
      pastTimeInZone(context),
    )
    .option(...zoneOption)
    .option('--after <call>', 'continue an export that ended with this call')
    .addHelpText('after', example('gateway calls export since:7d --format csv > calls.csv'))
    .action(async (words, { format, content, delimiter, key, after, ...times }) => {
      const filter = {
        ...selectionIn(words, times, context),
        ...(key !== undefined && { key }),
      };
      const wanted = await resolveFilter(context, filter);
      const rows = exportRows(format);
      await readAll(context, rows, { ...wanted, format, content, delimiter, after });
      if (!context.isInterrupted) context.out.note(`${count(rows.count)} calls.`);
    });

/** How often an answer that broke off is asked for again without a new request in it, and in all. */
const attemptsMax = 6;
const answersMax = 100;
const firstWaitMs = 250;

/** Writes all rows; goes on after the last one when the daemon was restarted or the connection was lost. */
async function readAll(
  context: Context,
  rows: ExportRows,
  query: Query<typeof exportContract>,
): Promise<void> {
  const signal = context.interrupted();
  let attempts = 0;
  for (let answers = 1; ; answers += 1) {
    const before = rows.last;
    try {
      const after = rows.last ?? query.after;
      const pieces = context.client().text(exportTraces, { query: { ...query, after } }, { signal });
      for await (const text of pieces) write(context, rows.take(text));
      write(context, rows.end());
      return;
    } catch (error) {
      if (signal.aborted) {
        context.exit = exitCodes.interrupted;
        if (rows.last !== undefined) context.out.warn(`Cancelled. To continue: --after ${rows.last}`);
        return;
      }
      // A host that repeats itself gets no further.
      attempts = rows.last === before ? attempts + 1 : 1;
      // A connection that breaks within an answer is no failure that the service reports.
      const mayPass = isTransient(error) || !(error instanceof ReceivedError);
      if (!mayPass || attempts >= attemptsMax || answers >= answersMax) {
        if (rows.last !== undefined)
          context.out.warn(`${count(rows.count)} calls were written. To continue: --after ${rows.last}`);
        throw error;
      }
      rows.restart();
      context.forgetHost();
      await context.sleep(firstWaitMs * 2 ** (attempts - 1), signal);
    }
  }
}

function write({ out }: Context, text: string): void {
  if (text !== '') out.text(text);
}
