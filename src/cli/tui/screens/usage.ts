import type { UsageGroup } from '../../../shared/contract/usage.ts';
import { fieldsOf, pick } from '../../../view/field.ts';
import { type KeyNames, keyText } from '../../../view/key-names.ts';
import { briefDollars } from '../../../view/money.ts';
import { count, percent } from '../../../view/numbers.ts';
import { allCalls, rejectedText, usageFields } from '../../../view/usage.ts';
import { groupColumns } from '../../commands/usage.ts';
import { daysShown, loadUsage } from '../services/spending.ts';
import { bar } from '../text/charts.ts';
import { fieldColumn, type ListColumn, listColumn } from '../text/list-table.ts';
import { recordLines, recordPage } from './pages.ts';
import type { Screen } from './screen.ts';

const groupings = ['day', 'model', 'key'] as const;

interface UsageRow {
  group: UsageGroup;
  grouping: (typeof groupings)[number];
  /** Of the cost of all groups, or of their calls if nothing was charged: from 0 to 1. */
  share: number;
  /** The same of the largest group, as bars show it. */
  barShare: number;
}

/** The usage of the workspace in the last 30 days, by day, model or key. */
export const usageScreen = ({ keyNames }: { keyNames: KeyNames }): Screen<UsageRow> => ({
  id: 'usage',
  title: 'Usage',
  letter: 'u',
  aliases: ['cost', 'spend'],
  tabs: ['by day', 'by model', 'by key'],
  empty: [`No calls in the last ${daysShown} days.`],
  footer: ['open', 'next-tab', 'filter', 'copy'],
  refreshEveryMs: 15_000,
  columns: (tab) => columnsOf(groupings[tab] ?? 'day', keyNames),
  async load(services, tab) {
    const grouping = groupings[tab] ?? 'day';
    return withShares((await loadUsage(services, grouping)).data, grouping);
  },
  idOf,
  copyText: idOf,
  json: ({ group }) => group,
  summary(rows, { spending }, { paint }) {
    const requests = rows.reduce((sum, { group }) => sum + group.requests, 0);
    const rejected = rows.reduce((sum, { group: { rejected = 0 } }) => sum + rejected, 0);
    const unpriced = rows.reduce((sum, { group }) => sum + group.unpriced_requests, 0);
    const parts = [`${count(requests + rejected)} calls`];
    if (rejected > 0) parts.push(paint('yellow', rejectedText({ requests, rejected }) ?? ''));
    if (spending.recent !== undefined) parts.push(`${briefDollars(spending.recent)} charged`);
    if (spending.today !== undefined) parts.push(`${briefDollars(spending.today)} today`);
    if (unpriced > 0) parts.push(paint('yellow', `${count(unpriced)} with unknown price, not included`));
    return [`Last ${daysShown} days: ${parts.join(' · ')}`];
  },
  preview: ({ group, grouping }, options) => recordLines(group, groupColumns(grouping, keyNames), options),
  open: async (row) =>
    recordPage(nameOf(row, keyNames), row.group, {
      columns: groupColumns(row.grouping, keyNames),
      copy: idOf(row),
    }),
});

/** Shares of cost, or of calls if nothing was charged. */
function withShares(groups: UsageGroup[], grouping: UsageRow['grouping']): UsageRow[] {
  const isFree = groups.every(({ charged_usd }) => Number(charged_usd) === 0);
  const weight = (group: UsageGroup) => (isFree ? allCalls(group) : Number(group.charged_usd));
  const all = groups.reduce((sum, group) => sum + weight(group), 0);
  const most = Math.max(...groups.map(weight), 0);
  return groups.map((group) => ({
    group,
    grouping,
    share: all === 0 ? 0 : weight(group) / all,
    barShare: most === 0 ? 0 : weight(group) / most,
  }));
}

function idOf({ group }: UsageRow): string {
  return group.group ?? 'login';
}

function nameOf({ group: { group }, grouping }: UsageRow, keyNames: KeyNames): string {
  return grouping === 'key' ? keyText(group, keyNames) : (group ?? '–');
}

const listed = pick(usageFields, ['requests', 'rejected', 'input', 'output', 'charged_usd']);

/** The group, what its calls add up to, and a bar. */
function columnsOf(grouping: UsageRow['grouping'], keyNames: KeyNames): ListColumn<UsageRow>[] {
  const groups = groupColumns(grouping, keyNames).slice(0, 1);
  const columns = [
    ...groups.map((column) =>
      listColumn(column, ({ group }: UsageRow) => group, { width: grouping === 'day' ? 10 : 22 }),
    ),
    ...fieldsOf(listed, ({ group }: UsageRow) => group).map((field) => fieldColumn(field, () => ({}))),
  ];
  return [
    ...columns,
    {
      title: 'share',
      isChart: true,
      width: 8,
      grows: true,
      spare: 1,
      value: ({ share }) => share,
      text: ({ share, barShare }, { width, isPlain }) => (isPlain ? percent(share) : bar(barShare, width)),
      style: () => 'cyan',
    },
  ];
}
