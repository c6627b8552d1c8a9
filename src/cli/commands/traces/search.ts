import { Command } from '@commander-js/extra-typings';
import type { searchTraceContent as searchContract } from '../../../shared/contract/content.ts';
import type { Query, Result } from '../../../shared/contract/endpoint.ts';
import { searchTraceContent } from '../../../shared/endpoints.ts';
import { ago } from '../../../view/durations.ts';
import { count } from '../../../view/numbers.ts';
import type { Context } from '../../context.ts';
import { resolveFilter } from '../../names/resolve.ts';
import { example, wholeNumber } from '../../options.ts';
import { startSpinner } from '../../output/progress.ts';
import type { Column } from '../../output/table.ts';
import { pastTimeHelp, pastTimeInZone, zoneOption } from '../../times.ts';
import { selectionIn } from './query-in.ts';

type Match = Result<typeof searchContract>['matches'][number];

export const searchTracesCommand = (context: Context) =>
  new Command('search')
    .argument('<text>', 'what to find in prompts and answers, in any language and case')
    .argument('[query...]', 'filters such as status:failed tag:team=search; see gateway calls list --help')
    .option('--key <key>', 'only calls of this key, by id or name')
    .option('--since <time>', `only calls since then: ${pastTimeHelp}`, pastTimeInZone(context))
    .option('--until <time>', 'only calls before this time or through this day', pastTimeInZone(context))
    .option(...zoneOption)
    .option('--limit <count>', 'maximum number to list, newest first', wholeNumber({ min: 1 }), 20)
    .addHelpText(
      'after',
      example("gateway calls search umbrella 'status:failed client:codex_cli_rs' --since 2h"),
    )
    .action(async (text, words, { limit, key, ...times }) => {
      const selection = selectionIn(words, times, context);
      const filter = await resolveFilter(context, { key, model: undefined });
      await search(context, { text, key: filter.key, ...selection }, limit);
    });

/** Prints matches as they are found, until there are enough, all was searched, or Ctrl-C. */
async function search(
  context: Context,
  query: Omit<Query<typeof searchContract>, 'after' | 'limit'>,
  limit: number,
): Promise<void> {
  const { io, out } = context;
  const signal = context.interrupted();
  const rows = out.rows(columns(context.now()));
  let found = 0;
  let scanned = 0;
  let of = 0;
  let after: string | undefined;
  const progress = () =>
    `${count(scanned)} of ${count(Math.max(of, scanned))} calls searched, ${count(found)} found`;
  do {
    const spinner = io.stderr.isTty ? startSpinner(io, progress) : undefined;
    const slice = { ...query, after, limit: Math.min(100, limit - found) };
    const answer = await context
      .client()
      .call(searchTraceContent, { query: slice }, { signal })
      .finally(() => spinner?.stop());
    found += answer.matches.length;
    scanned += answer.scanned;
    of = answer.of ?? of;
    // A host that repeats itself has no more.
    after = answer.next === after ? undefined : (answer.next ?? undefined);
    await rows.add(answer.matches);
  } while (after !== undefined && found < limit);
  if (found === 0 && io.stdout.isTty && !out.wantsJson())
    out.warn(`Not in the ${scanned} calls whose content is kept.`);
}

/** Characters before a match on a terminal, which cuts off the end of long lines. */
const shownBefore = 16;

function aroundMatch({ snippet, start }: Match): string {
  return start <= shownBefore ? snippet : `…${snippet.slice(start - shownBefore)}`;
}

/** The usual widths of what a terminal shows: those of later matches are not known. */
const columns = (now: number): Column<Match>[] => [
  { title: 'request_id', value: (match) => match.request_id },
  {
    title: 'captured_at',
    label: 'when',
    width: 'seconds ago'.length + 3,
    value: (match) => match.captured_at,
    show: (match) => ago(match.captured_at, now),
  },
  { title: 'part', width: 'attempt'.length, value: (match) => match.part },
  { title: 'snippet', value: (match) => match.snippet, show: aroundMatch },
];
