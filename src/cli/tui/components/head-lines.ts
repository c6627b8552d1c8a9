import { briefDollars, dollars } from '../../output/amount.ts';
import type { Paint } from '../../output/style.ts';
import { visibleCell } from '../../output/visible.ts';
import { unreadCount } from '../model/talk-commands.ts';
import type { TuiModel } from '../model/tui-model.ts';
import type { Drawing } from '../screen.ts';
import { fitPainted, paintedWidth } from '../text/painted.ts';

/** What the head says of the host: a name and an address. */
export interface HostFacts {
  name: string | undefined;
  url: string;
}

/** The first line: where, for whom, with how much money, and whether the line to the daemon stands. */
export function headLine(model: TuiModel, host: HostFacts, { width, paint }: Drawing): string {
  const { facts } = model;
  const calls = model.options.services.calls;
  const unread = unreadCount(model);
  const money =
    facts.balanceUsd === undefined
      ? []
      : [facts.balanceUsd === null ? 'pays afterwards' : dollars(facts.balanceUsd)];
  // The last ones are left out first where there is no room.
  const parts = [
    paint('bold', 'Gateway'),
    connectionText(model, paint),
    visibleCell(host.name ?? host.url),
    ...(facts.workspace === undefined ? [] : [visibleCell(facts.workspace)]),
    ...money,
    ...(unread ? [paint('bold', `${unread} unread`)] : []),
    `${calls.running()} running`,
    ...(facts.spentTodayUsd === undefined ? [] : [`${briefDollars(facts.spentTodayUsd)} today`]),
    ...(host.name === undefined ? [] : [visibleCell(host.url)]),
  ];
  while (parts.length > 2 && paintedWidth(parts.join(' · ')) > width) parts.pop();
  return fitPainted(parts.join(' · '), width);
}

function connectionText({ connection, options }: TuiModel, paint: Paint): string {
  if (connection.state === 'refused') return paint('red', '✗ may not watch');
  if (connection.state !== 'lost') {
    return connection.state === 'live' ? paint('green', '● live') : paint('yellow', '○ connecting');
  }
  const seconds = Math.max(0, Math.ceil((connection.retryAt - options.services.now()) / 1000));
  return paint('red', seconds > 0 ? `✗ lost, again in ${seconds} s` : '✗ lost, trying again');
}

/** The names of the screens in a line, where they are not listed at the left: the letter that `g` takes is underlined. */
export function stripLine(model: TuiModel, { width, paint }: Drawing): string {
  const names = model.views.map(({ screen: { title, letter } }, at) => {
    if (at === model.current) return paint('inverse', `[${title}]`);
    const place = title.toLowerCase().indexOf(letter);
    return ` ${title.slice(0, place)}${paint('underline', title.charAt(place))}${title.slice(place + 1)} `;
  });
  return fitPainted(names.join(''), width);
}

/**
 * The rule above the panes: the screen, its tabs, and whatever makes the list differ from all there is. `bars` are where the
 * lines between panes begin.
 */
export function titleOf(
  model: TuiModel,
  { width, paint, isPlain }: Drawing,
  bars: readonly number[] = [],
): string {
  const parts = titleParts(model, paint);
  if (isPlain) return fitPainted(parts.join('  '), width);
  const line = `── ${parts.join(' · ')} `;
  const from = paintedWidth(line);
  const rest = Array.from({ length: Math.max(0, width - from) }, (_, at) =>
    bars.includes(from + at) ? '┬' : '─',
  );
  return fitPainted(line + rest.join(''), width);
}

function titleParts({ view, pages: { front } }: TuiModel, paint: Paint): string[] {
  const { screen } = view;
  if (front) return [`${paint('bold', screen.title)} › ${visibleCell(front.page.title)}`];
  const parts = [paint('bold', screen.title)];
  if (screen.tabs) {
    parts.push(
      screen.tabs.map((tab, at) => (at === view.tab ? paint('bold', `[${tab}]`) : ` ${tab} `)).join(''),
    );
  }
  const shown = view.rows().length;
  const all = view.allRows().length;
  parts.push(shown === all ? `${all}` : `${shown} of ${all}`);
  if (view.filter !== '') parts.push(paint('bold', `filter ${visibleCell(view.filter)}`));
  if (view.marks.size > 0) parts.push(paint('bold', `${view.marks.size} marked`));
  if (view.isPaused) parts.push(paint('bold', `paused, ${view.heldCount()} held`));
  if (view.line?.state === 'lost' || view.line?.state === 'refused')
    parts.push(paint('red', '✗ not live, asked for again and again'));
  if (view.isLoading) parts.push(paint('dim', '…'));
  return parts;
}
