import { dollars } from '../../output/amount.ts';
import { visibleCell } from '../../output/visible.ts';
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
    ...(facts.unread ? [paint('yellow', `${facts.unread} unread`)] : []),
    `${calls.running()} running`,
    ...(facts.spentTodayUsd === undefined ? [] : [`${dollars(facts.spentTodayUsd)} today`]),
    ...(host.name === undefined ? [] : [visibleCell(host.url)]),
  ];
  while (parts.length > 2 && paintedWidth(parts.join(' · ')) > width) parts.pop();
  return fitPainted(parts.join(' · '), width);
}

function connectionText({ connection, options }: TuiModel, paint: Drawing['paint']): string {
  if (connection.state === 'refused') return paint('red', '✗ may not watch');
  if (connection.state !== 'lost') {
    return connection.state === 'live' ? paint('green', '● live') : paint('yellow', '○ connecting');
  }
  const seconds = Math.max(0, Math.ceil((connection.retryAt - options.services.now()) / 1000));
  return paint('red', seconds > 0 ? `✗ lost, again in ${seconds} s` : '✗ lost, trying again');
}

/** The second line: the screen, its tabs, and whatever makes the list differ from all there is. */
export function titleOf(model: TuiModel, { width, paint }: Drawing): string {
  const { view, pages } = model;
  const { screen } = view;
  const front = pages.at(-1);
  if (front) return fitPainted(`${paint('bold', screen.title)} › ${visibleCell(front.page.title)}`, width);
  const parts = [paint('bold', screen.title)];
  if (screen.tabs) {
    const tabs = screen.tabs.map((tab, at) => (at === view.tab ? paint('bold', `[${tab}]`) : ` ${tab} `));
    parts.push(tabs.join(''));
  }
  const shown = view.rows().length;
  const all = view.allRows().length;
  parts.push(shown === all ? `${all}` : `${shown} of ${all}`);
  if (view.filter !== '') parts.push(paint('yellow', `filter ${visibleCell(view.filter)}`));
  if (view.marks.size > 0) parts.push(paint('yellow', `${view.marks.size} marked`));
  if (view.held !== undefined) parts.push(paint('yellow', `paused, ${view.held} held`));
  if (view.isLoading) parts.push(paint('dim', '…'));
  return fitPainted(parts.join('  '), width);
}
