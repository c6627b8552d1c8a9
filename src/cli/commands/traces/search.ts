import { Command } from '@commander-js/extra-typings';
import type { searchTraceContent as searchContract } from '../../../shared/contract/content.ts';
import type { Result } from '../../../shared/contract/endpoint.ts';
import type { Context } from '../../context.ts';
import { searchTraceContent } from '../../endpoints.ts';
import { resolveFilter } from '../../names/resolve.ts';
import { example, wholeNumber } from '../../options.ts';
import type { Column } from '../../output/table.ts';
import { ago } from '../../output/time.ts';
import { pastTime, pastTimeHelp } from '../../times.ts';

type Match = Result<typeof searchContract>['matches'][number];

export const searchTracesCommand = (context: Context) =>
  new Command('search')
    .argument('<text>', 'what to find in prompts and answers, in any language and case')
    .option('--key <key>', 'only requests of this key, by id or name')
    .option('--since <time>', `only requests since then: ${pastTimeHelp}`, pastTime(context))
    .option('--until <time>', 'only requests before this time or through this UTC day', pastTime(context))
    .option('--limit <count>', 'maximum number to list, newest first', wholeNumber({ min: 1 }), 20)
    .addHelpText('after', example('gateway traces search umbrella --since 2h'))
    .action(async (text, { limit, key, since, until }) => {
      const filter = await resolveFilter(context, { key, model: undefined });
      const matches: Match[] = [];
      let scanned = 0;
      let after: string | undefined;
      do {
        const query = {
          text,
          key: filter.key,
          since,
          until,
          after,
          limit: Math.min(100, limit - matches.length),
        };
        const found = await context.client().call(searchTraceContent, { query });
        matches.push(...found.matches);
        scanned += found.scanned;
        after = found.next ?? undefined;
      } while (after !== undefined && matches.length < limit);
      await context.out.table(matches, columns(context.now()), {
        empty: `Not in the ${scanned} requests whose content is kept.`,
      });
    });

const columns = (now: number): Column<Match>[] => [
  { title: 'request_id', value: (match) => match.request_id },
  {
    title: 'captured_at',
    label: 'when',
    value: (match) => match.captured_at,
    show: (match) => ago(match.captured_at, now),
  },
  { title: 'part', value: (match) => match.part },
  { title: 'snippet', value: (match) => match.snippet },
];
