import { Command, Option } from '@commander-js/extra-typings';
import type { TraceFacets } from '../../../shared/contract/traces.ts';
import { getTraceFacets } from '../../../shared/endpoints.ts';
import { callerText, type KeyNames } from '../../../view/key-names.ts';
import { count } from '../../../view/numbers.ts';
import type { Context } from '../../context.ts';
import { keyNamesFor } from '../../names/key-names.ts';
import { csvOption, delimiterOption, example } from '../../options.ts';
import type { Column } from '../../output/table.ts';
import { pastTimeHelp, pastTimeInZone, zoneOption } from '../../times.ts';
import { selectionIn } from './query-in.ts';

const fields = [
  ...(['status', 'error', 'model', 'provider', 'key', 'client'] as const),
  ...(['user', 'tag', 'conversation', 'endpoint'] as const),
] as const;

type Field = (typeof fields)[number];

interface Row {
  /** Null for the requests without a value. */
  value: string | null;
  requests: number;
  is_other: boolean;
}

export const countTracesCommand = (context: Context) =>
  new Command('count')
    .argument('[query...]', 'filters as of "gateway calls list"')
    .addOption(new Option('--by <field>', 'what to count by').choices(fields).default('status' as const))
    .option('--since <time>', `only calls that finished since then: ${pastTimeHelp}`, pastTimeInZone(context))
    .option(
      '--until <time>',
      'only calls that finished before this time or through this day',
      pastTimeInZone(context),
    )
    .option(...zoneOption)
    .addOption(csvOption())
    .addOption(delimiterOption())
    .addHelpText('after', example("gateway calls count 'status:failed since:24h' --by error"))
    .action(async (words, { by, ...times }) => {
      const counts = await context
        .client()
        .call(getTraceFacets, { query: selectionIn(words, times, context) });
      await showCounts(context, counts, by);
    });

async function showCounts(
  context: Context,
  { facets, counted_since: countedSince }: TraceFacets,
  by: Field,
): Promise<void> {
  const { values, other, none, is_partial: isPartial } = facets[by];
  const rows: Row[] = values.map(({ value, calls }) => ({ value, requests: calls, is_other: false }));
  if (other > 0) rows.push({ value: null, requests: other, is_other: true });
  if (none > 0 && by !== 'error') rows.push({ value: null, requests: none, is_other: false });
  await context.out.table(rows, columns(by, await keyNamesFor(context)), { empty: 'No finished calls.' });
  if (isPartial)
    context.out.note(`Only those since ${countedSince} were counted: there are too many to count all.`);
}

const columns = (by: Field, names: KeyNames): Column<Row>[] => [
  {
    title: by,
    value: ({ value }) => value,
    show: ({ value, is_other: isOther }) => {
      if (isOther) return 'others';
      if (value === null) return '–';
      return by === 'key' ? callerText({ key: value, address: null }, names) : value;
    },
  },
  {
    title: 'requests',
    value: ({ requests }) => requests,
    show: ({ requests }) => count(requests),
    align: 'right',
  },
];
