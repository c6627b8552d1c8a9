import { Command } from '@commander-js/extra-typings';
import type { searchTraceContent as searchContract } from '../../../shared/contract/content.ts';
import type { Result } from '../../../shared/contract/endpoint.ts';
import type { Context } from '../../context.ts';
import { searchTraceContent } from '../../endpoints.ts';
import { resolveFilter } from '../../names/resolve.ts';
import { example, wholeNumber } from '../../options.ts';
import { count } from '../../output/amount.ts';
import { startSpinner } from '../../output/progress.ts';
import type { Column } from '../../output/table.ts';
import { ago } from '../../output/time.ts';
import { pastTime, pastTimeHelp } from '../../times.ts';
import { queryIn } from './query-in.ts';

type Match = Result<typeof searchContract>['matches'][number];

export const searchTracesCommand = (context: Context) =>
  new Command('search')
    .argument('<text>', 'what to find in prompts and answers, in any language and case')
    .argument('[query...]', 'filters such as status:failed tag:team=search; see gateway traces list --help')
    .option('--key <key>', 'only requests of this key, by id or name')
    .option('--since <time>', `only requests since then: ${pastTimeHelp}`, pastTime(context))
    .option('--until <time>', 'only requests before this time or through this UTC day', pastTime(context))
    .option('--limit <count>', 'maximum number to list, newest first', wholeNumber({ min: 1 }), 20)
    .addHelpText(
      'after',
      example("gateway traces search umbrella 'status:failed client:codex_cli_rs' --since 2h"),
    )
    .action(async (text, words, { limit, key, since, until }) => {
      const { q } = queryIn(words);
      const filter = await resolveFilter(context, { key, model: undefined });
      const matches: Match[] = [];
      let scanned = 0;
      let of = 0;
      let after: string | undefined;
      const spinner = context.io.stderr.isTty
        ? startSpinner(
            context.io,
            () =>
              `${count(scanned)} of ${count(Math.max(of, scanned))} requests searched, ${count(matches.length)} found`,
          )
        : undefined;
      try {
        do {
          const query = {
            text,
            q,
            key: filter.key,
            since,
            until,
            after,
            limit: Math.min(100, limit - matches.length),
          };
          const found = await context.client().call(searchTraceContent, { query });
          matches.push(...found.matches);
          scanned += found.scanned;
          of = found.of ?? 0;
          after = found.next ?? undefined;
        } while (after !== undefined && matches.length < limit);
      } finally {
        spinner?.stop();
      }
      await context.out.table(matches, columns(context.now()), {
        empty: `Not in the ${scanned} requests whose content is kept.`,
      });
    });

/** Characters before a match on a terminal, which cuts off the end of long lines. */
const shownBefore = 16;

function aroundMatch({ snippet, start }: Match): string {
  return start <= shownBefore ? snippet : `…${snippet.slice(start - shownBefore)}`;
}

const columns = (now: number): Column<Match>[] => [
  { title: 'request_id', value: (match) => match.request_id },
  {
    title: 'captured_at',
    label: 'when',
    value: (match) => match.captured_at,
    show: (match) => ago(match.captured_at, now),
  },
  { title: 'part', value: (match) => match.part },
  { title: 'snippet', value: (match) => match.snippet, show: aroundMatch },
];
