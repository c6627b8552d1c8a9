import type { Result } from '../../../shared/contract/endpoint.ts';
import type { listUsage } from '../../../shared/contract/usage.ts';
import { inWords } from '../../../shared/text/in-words.ts';
import { briefDollars } from '../../../view/money.ts';
import { count } from '../../../view/numbers.ts';
import { bucketLabel } from '../../../view/times.ts';
import { callsHref } from '../../data/calls-link.ts';
import { saveText } from '../../data/download.ts';
import type { Query } from '../../data/query.ts';
import { setQuery } from '../../data/route.ts';
import { Choice } from '../../parts/choice.tsx';
import { Panel } from '../../parts/panel.tsx';
import { number, TableHead } from '../../parts/table-head.tsx';
import { drillInto, groupTitles, isLabel, type SeriesGroup, type UsageGroupName } from './usage-choices.ts';
import type { Series, SeriesQuery, UsageProps } from './usage-props.ts';
import {
  csvOfRows,
  rowsOfGroups,
  rowsOfSeries,
  rowsOverTime,
  sumsOf,
  totalOf,
  type UsageRow,
} from './usage-rows.ts';

interface TableProps extends UsageProps {
  series: SeriesQuery;
  /** The totals of a label, or of two groups; undefined if the table has the groups of the chart. */
  groups: Query<Result<typeof listUsage>> | undefined;
}

/** The numbers of the chart, whose columns add up to the totals. */
export function UsageTable(props: TableProps) {
  const { choices, period, nameOf, series, groups } = props;
  const { by, and, isOverTime } = choices;
  const names: readonly UsageGroupName[] = and ? [by, and] : [by];
  const query = groups ?? series;
  const rows = groups
    ? rowsOfGroups(groups.data?.data ?? [])
    : series.data
      ? rowsOf(series.data, isOverTime)
      : [];
  const textOf = (row: UsageRow, at: number) =>
    row.isOther ? 'others' : nameOf(names[at] ?? by, row.groups[at] ?? null);
  const download = () => {
    const name = `usage-by-${names.join('-')}-${period.since.slice(0, 10)}-${period.until.slice(0, 10)}.csv`;
    saveText(name, csvOfRows(rows, names, textOf), 'text/csv');
  };
  return (
    <Panel
      title={`By ${inWords(
        names.map((name) => groupTitles[name].toLowerCase()),
        'and',
      )}`}
      class="is-wide"
      queries={[query]}
      tools={
        <>
          {!groups && (
            <Choice
              label="Rows"
              options={[
                { value: 'totals', title: 'Totals' },
                { value: 'time', title: `Per ${period.bucket}` },
              ]}
              value={isOverTime ? 'time' : 'totals'}
              onChange={(value) => setQuery({ rows: value === 'time' ? value : undefined })}
            />
          )}
          <button type="button" disabled={rows.length === 0} onClick={download}>
            Download CSV
          </button>
        </>
      }
    >
      {rows.length === 0 ? (
        <p class="quiet">No calls in the {period.title}.</p>
      ) : (
        <Rows {...props} rows={rows} names={names} textOf={textOf} />
      )}
      {by === 'tag' && rows.length > 0 && (
        <p class="quiet">
          A call with several tags is in the row of each of them; the total has each call once, also those
          without a tag.
        </p>
      )}
    </Panel>
  );
}

function rowsOf(series: Series, isOverTime: boolean): UsageRow[] {
  return isOverTime ? rowsOverTime(series) : rowsOfSeries(series);
}

interface RowsProps extends TableProps {
  rows: readonly UsageRow[];
  names: readonly UsageGroupName[];
  textOf: (row: UsageRow, at: number) => string;
}

function Rows({ choices, period, timeZone, rows, names, textOf, groups }: RowsProps) {
  // The rows of tags do not add up to it.
  const total = names.includes('tag') && groups?.data ? sumsOf(groups.data.total) : totalOf(rows);
  const hasBuckets = rows.some(({ bucket }) => bucket !== undefined);
  const hasErrors = total.errors !== undefined;
  const most = Math.max(...rows.map(({ usd }) => Number(usd)));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keys.
    <section class="scroll usage-rows" tabIndex={0} aria-label="Rows">
      <table class="data">
        <TableHead
          columns={[
            ...(hasBuckets ? ['Time'] : []),
            ...names.map((name) => groupTitles[name]),
            number('Calls'),
            ...(hasErrors ? [number('Errors')] : []),
            number('Rejected'),
            number('Input'),
            number('Cached'),
            number('Output'),
            number('Cost'),
          ]}
        />
        <tbody>
          {rows.map((row) => (
            <tr key={`${row.bucket?.start} ${row.isOther} ${row.groups.join('\n')}`}>
              {row.bucket && <td class="quiet">{bucketLabel(row.bucket, period.bucket, timeZone)}</td>}
              {names.map((name, at) => (
                <GroupCell key={name} group={name} row={row} at={at} text={textOf(row, at)} />
              ))}
              <td class="number">
                <CallsLink row={row} names={names} choices={choices} period={period} />
              </td>
              {hasErrors && (
                <td class={row.errors ? 'number bad' : 'number quiet'}>{count(row.errors ?? 0)}</td>
              )}
              <td class={row.rejected ? 'number rejected' : 'number quiet'}>{count(row.rejected)}</td>
              <td class="number">{count(row.input)}</td>
              <td class="number quiet">{count(row.cached)}</td>
              <td class="number">{count(row.output)}</td>
              <td class="number" title={`$${row.usd}`}>
                {briefDollars(row.usd)}
                <span class="bar" aria-hidden="true">
                  {Number(row.usd) > 0 && <span style={{ width: `${(Number(row.usd) / most) * 100}%` }} />}
                </span>
              </td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row" colSpan={names.length + (hasBuckets ? 1 : 0)}>
              Total
            </th>
            <td class="number">{count(total.calls)}</td>
            {hasErrors && <td class="number">{count(total.errors ?? 0)}</td>}
            <td class="number">{count(total.rejected)}</td>
            <td class="number">{count(total.input)}</td>
            <td class="number">{count(total.cached)}</td>
            <td class="number">{count(total.output)}</td>
            <td class="number" title={`$${total.usd}`}>
              {briefDollars(total.usd)}
            </td>
          </tr>
        </tfoot>
      </table>
    </section>
  );
}

interface CellProps {
  group: UsageGroupName;
  row: UsageRow;
  at: number;
  text: string;
}

/** The name of a group; a click shows only its calls. */
function GroupCell({ group, row, at, text }: CellProps) {
  const value = row.groups[at];
  if (isLabel(group) || row.isOther || value === null || value === undefined)
    return <td class={row.isOther ? 'quiet' : undefined}>{text}</td>;
  return (
    <td>
      <button type="button" class="as-link" title={`Only ${text}`} onClick={() => drillInto(group, value)}>
        {text}
      </button>
    </td>
  );
}

interface LinkProps extends Pick<UsageProps, 'choices' | 'period'> {
  row: UsageRow;
  names: readonly UsageGroupName[];
}

/** How many calls, as the way to them. */
function CallsLink({ row, names, choices, period }: LinkProps) {
  const { since, until } = row.bucket ? { since: row.bucket.start, until: row.bucket.end } : period;
  const isKnown = !row.isOther && row.groups.every((value) => value !== null);
  if (!isKnown) return <>{count(row.calls)}</>;
  const filters = Object.fromEntries(names.map((name, at) => [name, row.groups[at] ?? undefined]));
  const own: Partial<Record<SeriesGroup, string>> = choices.filters;
  return <a href={callsHref({ ...own, ...filters, since, until })}>{count(row.calls)}</a>;
}
