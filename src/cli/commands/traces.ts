import { Command, Option } from '@commander-js/extra-typings';
import type { Query } from '../../shared/contract/endpoint.ts';
import type { listTraces as listTracesContract } from '../../shared/contract/traces.ts';
import { getTrace, listTraces } from '../addresses.ts';
import type { Context } from '../context.ts';
import { collectPages } from './collect-pages.ts';
import { example } from './example.ts';
import { wholeNumber } from './number-option.ts';
import { checkNoFilter } from './one-or-many.ts';
import { timeBound } from './time-option.ts';
import { traceColumns, traceRecord } from './traces/columns.ts';
import { waterfall } from './traces/waterfall.ts';

export const tracesCommand = (context: Context) =>
  new Command('traces')
    .argument('[request]', 'the id of a request, req_…; without it, those that ended last')
    .addOption(
      new Option('--status <status>', 'only requests that ended so').choices([
        'completed',
        'incomplete',
        'failed',
        'canceled',
        'interrupted',
      ] as const),
    )
    .option('--model <model>', 'only requests of this model')
    .option('--provider <provider>', 'only requests that it answered')
    .option('--key <key>', 'only requests of this key')
    .option('--since <time>', 'that ended at or after this UTC day or time, like 2026-11-01', timeBound)
    .option('--until <time>', 'that ended before this UTC day or time', timeBound)
    .option('--limit <count>', 'at most so many, the last one first', wholeNumber({ min: 1 }), 20)
    .addHelpText('after', example('gateway traces --status failed --since 2026-11-01'))
    .action((request, { limit, status, model, provider, key, since, until }) => {
      const filter = { status, model, provider, key, since, until };
      if (request === undefined) return showTraces(context, { limit, filter });
      checkNoFilter(request, filter);
      return showTrace(context, request);
    });

type Filter = Omit<Query<typeof listTracesContract>, 'limit' | 'after'>;

async function showTraces(
  context: Context,
  { limit, filter }: { limit: number; filter: Filter },
): Promise<void> {
  const traces = await collectPages(limit, (page) =>
    context.client().call(listTraces, { query: { ...filter, ...page } }),
  );
  await context.out.table(traces, traceColumns(context.now()), { empty: 'No finished requests.' });
}

/** On a terminal its members, then a line of time; where a program reads, the members alone. */
async function showTrace(context: Context, request: string): Promise<void> {
  const trace = await context.client().call(getTrace, { params: { request_id: request } });
  const { out, io } = context;
  await out.record(trace, traceRecord(context.now()));
  if (!io.stdout.isTty || out.wantsJson() || out.isQuiet()) return;
  out.text(`\n${waterfall(trace, io.columns())}`);
}
