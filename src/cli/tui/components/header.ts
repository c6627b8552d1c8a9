import { span } from '../../../view/durations.ts';
import { briefDollars } from '../../../view/money.ts';
import { escapeCell } from '../../output/escape-controls.ts';
import type { Paint } from '../../output/style.ts';
import { cutToWidth, paintedWidth, widthOf } from '../../output/width.ts';
import { screenDigit } from '../keys/bindings.ts';
import { daysShown, type Spending } from '../services/spending.ts';
import type { OpenPage } from '../state/page-stack.ts';
import type { TuiState } from '../state/tui-state.ts';
import { fitPainted } from '../text/cells.ts';
import { linesWith } from '../text/find-in-lines.ts';
import type { RenderOptions } from '../text/render-options.ts';

export interface HostLabel {
  name: string | undefined;
  url: string;
}

/** The first line: connection, host, workspace, balance and activity. */
export function headerLine(state: TuiState, host: HostLabel, { width, paint }: RenderOptions): string {
  const { account } = state;
  const unread = state.unreadCount();
  // A workspace that pays afterwards has no balance.
  const balance = account.balanceUsd ? [`${briefDollars(account.balanceUsd)} left`] : [];
  const parts = [
    paint('bold', 'Gateway'),
    connectionText(state, paint),
    escapeCell(host.name ?? host.url),
    ...(account.workspace === undefined ? [] : [`workspace ${escapeCell(account.workspace)}`]),
    ...balance,
    ...(unread ? [paint('bold', `${unread} unread`)] : []),
    `${state.options.services.calls.running()} running`,
    ...spendingParts(state.options.services.spending),
    ...(host.name === undefined ? [] : [escapeCell(host.url)]),
  ];
  // Narrow terminals drop the last parts first.
  while (parts.length > 2 && paintedWidth(parts.join(' · ')) > width) parts.pop();
  return fitPainted(parts.join(' · '), width);
}

/** A line about the alerts that fire, or none. */
export function alertLines({ account }: TuiState, { width, paint }: RenderOptions): string[] {
  const [newest, ...others] = account.firing ?? [];
  if (!newest) return [];
  const more = others.length > 0 ? ` (and ${others.length} more: gateway alerts)` : '';
  const text = `alert ${newest.alert}: ${newest.message}`;
  const shown = cutToWidth(escapeCell(text), Math.max(1, width - widthOf(more)));
  return [fitPainted(paint('red', shown + more), width)];
}

/** The amount charged, as the Usage screen shows it. */
function spendingParts({ today, recent }: Spending): string[] {
  return [
    ...(today === undefined ? [] : [`${briefDollars(today)} today`]),
    ...(recent === undefined ? [] : [`${briefDollars(recent)} in ${daysShown} days`]),
  ];
}

function connectionText({ connection, options }: TuiState, paint: Paint): string {
  if (connection.state === 'refused') return paint('red', '✗ no access to events');
  if (connection.state !== 'lost') {
    return connection.state === 'live' ? paint('green', '● live') : paint('yellow', '○ connecting');
  }
  const seconds = Math.max(0, Math.ceil((connection.retryAt - options.services.now()) / 1000));
  return paint(
    'red',
    seconds > 0 ? `✗ disconnected, retrying in ${span(seconds * 1000)}` : '✗ disconnected, retrying',
  );
}

/**
 * The screens with the digits that open them, on terminals that are too narrow for a sidebar. Without room for all of them,
 * those around the current one.
 */
export function tabsLine(state: TuiState, { width, paint }: RenderOptions): string {
  const { current, views } = state;
  const titles = views.map(({ screen: { title } }, index) => screenDigit(index) + title);
  const [from, to] = shownTabs(titles, current, width);
  const cells = titles.slice(from, to).map((title, at) => {
    const index = from + at;
    const text = index === current ? paint('inverse', title) : digitPainted(title, screenDigit(index), paint);
    return (index === current ? '[' : index === current + 1 ? ']' : ' ') + text;
  });
  const end = (to === current + 1 ? ']' : ' ') + (to < titles.length ? '…' : '');
  return fitPainted((from > 0 ? '…' : '') + cells.join('') + end, width);
}

/** The screen at a cell of the line of tabs; undefined beside them. */
export function tabAt(state: TuiState, width: number, cell: number): number | undefined {
  const titles = state.views.map(({ screen: { title } }, index) => screenDigit(index) + title);
  const [from, to] = shownTabs(titles, state.current, width);
  let at = from > 0 ? 1 : 0;
  for (let index = from; index < to; index += 1) {
    const end = at + 1 + (titles[index] ?? '').length;
    if (cell >= at && cell < end) return index;
    at = end;
  }
  return undefined;
}

/** The tab of the screen at a cell of the title; undefined beside them. */
export function screenTabAt({ view: { screen }, pages }: TuiState, cell: number): number | undefined {
  if (pages.front || !screen.tabs) return undefined;
  let at = `── ${screen.title} · `.length;
  for (const [index, tab] of screen.tabs.entries()) {
    if (cell >= at && cell < at + tab.length + 2) return index;
    at += tab.length + 2;
  }
  return undefined;
}

const digitPainted = (title: string, digit: string, paint: Paint) =>
  paint('bold', digit) + title.slice(digit.length);

/** The range of tabs that fits, each with a separator: as many as possible, with the current one. */
function shownTabs(titles: readonly string[], current: number, width: number): [number, number] {
  const widthOfTabs = (from: number, to: number) =>
    titles.slice(from, to).reduce((sum, title) => sum + title.length + 1, 1) +
    (from > 0 ? 1 : 0) +
    (to < titles.length ? 1 : 0);
  let [from, to] = [0, titles.length];
  while (widthOfTabs(from, to) > width && to - from > 1) {
    if (to - 1 > current) to -= 1;
    else from += 1;
  }
  return [from, to];
}

/** The rule above the panes: the screen, its tabs, and its filter or pause. `bars` are the columns of pane borders. */
export function titleLine(
  state: TuiState,
  { width, paint, isPlain }: RenderOptions,
  bars: readonly number[],
): string {
  const parts = titleParts(state, paint);
  if (isPlain) return fitPainted(parts.join('  '), width);
  const line = `── ${parts.join(' · ')} `;
  const from = paintedWidth(line);
  const rest = Array.from({ length: Math.max(0, width - from) }, (_, at) =>
    bars.includes(from + at) ? '┬' : '─',
  );
  return fitPainted(line + rest.join(''), width);
}

/** What is searched for on a page, and which match is shown. */
function searchParts({ search, rendered }: OpenPage): string[] {
  if (!search || search.text === '') return [];
  const matches = linesWith(rendered?.lines ?? [], search.text);
  const at = matches.indexOf(search.line ?? -1);
  return [`/${escapeCell(search.text)} ${at < 0 ? 'not found' : `${at + 1} of ${matches.length}`}`];
}

function titleParts({ view, pages: { front } }: TuiState, paint: Paint): string[] {
  const { screen } = view;
  if (front) {
    const title = `${paint('bold', screen.title)} › ${escapeCell(front.page.title)}`;
    return [title, ...searchParts(front).map((part) => paint('bold', part))];
  }
  const parts = [paint('bold', screen.title)];
  if (screen.tabs) {
    parts.push(
      screen.tabs.map((tab, at) => (at === view.tab ? paint('bold', `[${tab}]`) : ` ${tab} `)).join(''),
    );
  }
  const shown = view.rows().length;
  const all = view.allRows().length;
  if (!screen.hasNoCount && !(view.found && shown === all))
    parts.push(shown === all ? `${all}` : `${shown} of ${all}`);
  if (view.found) {
    const more = view.found.next === null ? '' : '+';
    parts.push(paint('bold', escapeCell(`${view.found.query} (${all}${more})`)));
  }
  if (view.filter !== '') parts.push(paint('bold', `filter ${escapeCell(view.filter)}`));
  if (view.marks.size > 0) parts.push(paint('bold', `${view.marks.size} marked`));
  if (view.isPaused) parts.push(paint('bold', `paused, ${view.newCount()} new`));
  if (view.connection?.state === 'lost' || view.connection?.state === 'refused') {
    parts.push(paint('red', '✗ not live, polling'));
  }
  if (view.isLoading) parts.push(paint('dim', '…'));
  return parts;
}
