import type { Result } from '../../../shared/contract/endpoint.ts';
import type { listUsage } from '../../../shared/contract/usage.ts';
import { inWords } from '../../../shared/text/in-words.ts';
import { briefDollars, dollars } from '../../../view/money.ts';
import { count } from '../../../view/numbers.ts';
import { bucketLabel } from '../../../view/times.ts';
import { type CallFigures, type CountedCalls, figureLinks } from '../../data/calls-link.ts';
import { saveText } from '../../data/download.ts';
import { csvDelimiter } from '../../data/preferences.ts';
import type { Query } from '../../data/query.ts';
import { route, setQuery } from '../../data/route.ts';
import { CallsFigure } from '../../parts/calls-figure.tsx';
import { Choice } from '../../parts/choice.tsx';
import { DataTable, timeOf } from '../../parts/data-table.tsx';
import { Panel } from '../../parts/panel.tsx';
import { number } from '../../parts/table-head.tsx';
import { groupTitles, isLabel, narrowedHref, type UsageGroupName } from './usage-choices.ts';
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
    saveText(name, csvOfRows(rows, names, textOf, csvDelimiter()), 'text/csv');
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
          A call with several tags is in the row of each of them; the total has each call once.
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
  const linksOf = (row: UsageRow) => {
    const groups = Object.fromEntries(names.map((name, at) => [name, row.values[at]]));
    const range = row.bucket ? { since: row.bucket.start, until: row.bucket.end } : rangeOf(period);
    return figureLinks({ ...choices.filters, ...groups, ...range }, row);
  };
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keys.
    <section class="scroll usage-rows" tabIndex={0} aria-label="Rows">
      <DataTable
        name="usage"
        isCards={false}
        foot={
          <tr>
            <th scope="row" colSpan={names.length + (hasBuckets ? 1 : 0)}>
              Total
            </th>
            <Figures
              sums={total}
              hasErrors={hasErrors}
              links={figureLinks({ ...choices.filters, ...rangeOf(period) }, total)}
              whose="all"
            />
          </tr>
        }
        rows={rows}
        columns={[
          ...(hasBuckets ? [{ name: 'Time', value: ({ bucket }: UsageRow) => timeOf(bucket?.start) }] : []),
          ...names.map((name, at) => ({
            name: groupTitles[name],
            value: (row: UsageRow) => textOf(row, at),
          })),
          { ...number('Calls'), value: ({ calls }) => calls },
          ...(hasErrors ? [{ ...number('Errors'), value: ({ errors }: UsageRow) => errors }] : []),
          { ...number('Rejected'), value: ({ rejected }) => rejected },
          { ...number('Input'), value: ({ input }) => input },
          { ...number('Cached'), value: ({ cached }) => cached },
          { ...number('Output'), value: ({ output }) => output },
          { ...number('Cost'), value: ({ usd }) => Number(usd) },
        ]}
      >
        {(row) => (
          <tr key={`${row.bucket?.start} ${row.isOther} ${row.groups.join('\n')}`}>
            {row.bucket && <td class="quiet">{bucketLabel(row.bucket, period.bucket, timeZone)}</td>}
            {names.map((name, at) => (
              <GroupCell
                key={name}
                group={name}
                value={row.isOther ? null : (row.groups[at] ?? null)}
                text={textOf(row, at)}
                of={linksOf(row).calls}
              />
            ))}
            <Figures
              sums={row}
              hasErrors={hasErrors}
              links={linksOf(row)}
              whose={names.map((_, at) => textOf(row, at)).join(', ')}
              most={most}
            />
          </tr>
        )}
      </DataTable>
    </section>
  );
}

interface CellProps {
  group: UsageGroupName;
  /** Null for the others, and for calls without one. */
  value: string | null;
  text: string;
  of: CountedCalls;
}

/** The name of a group as the way to its calls, and to their usage alone. */
function GroupCell({ group, value, text, of }: CellProps) {
  return (
    <td>
      <CallsFigure text={text} what={group} of={of} />{' '}
      {!isLabel(group) && value !== null && (
        <a
          class="narrow-link quiet"
          href={narrowedHref(route.value.query, group, value)}
          aria-label={`Only ${text}`}
          title={`Usage of ${text} only`}
        >
          only
        </a>
      )}
    </td>
  );
}

interface FiguresProps {
  sums: Omit<UsageRow, 'groups' | 'isOther' | 'values' | 'bucket'>;
  hasErrors: boolean;
  links: CallFigures;
  /** The name of the row. */
  whose: string;
  /** The cost of the dearest row, if this one has a bar. */
  most?: number;
}

/** The figures of a row; each leads to its calls. */
function Figures({ sums, hasErrors, links, whose, most }: FiguresProps) {
  const { calls, errors = 0, rejected, input, cached, output, usd } = sums;
  const isDear = Number(usd) > 0;
  const tokens = (amount: number, kind: string) => (
    <CallsFigure
      text={count(amount)}
      what={`${kind} tokens of ${whose}`}
      of={amount > 0 ? links.charged : undefined}
    />
  );
  return (
    <>
      <td class="number">
        <CallsFigure text={count(calls)} what={`calls of ${whose}`} of={links.calls} />
      </td>
      {hasErrors && (
        <td class={errors ? 'number bad' : 'number quiet'}>
          <CallsFigure text={count(errors)} what={`errors of ${whose}`} of={links.errors} />
        </td>
      )}
      <td class={rejected ? 'number rejected' : 'number quiet'}>
        <CallsFigure text={count(rejected)} what={`rejected of ${whose}`} of={links.rejected} />
      </td>
      <td class="number">{tokens(input, 'input')}</td>
      <td class="number quiet">{tokens(cached, 'cached')}</td>
      <td class="number">{tokens(output, 'output')}</td>
      <td class="number">
        <CallsFigure
          text={briefDollars(usd)}
          what={`cost of ${whose}`}
          of={isDear ? links.charged : undefined}
          title={dollars(usd)}
        />
        {most !== undefined && (
          <span class="bar" aria-hidden="true">
            {isDear && <span style={{ width: `${(Number(usd) / most) * 100}%` }} />}
          </span>
        )}
      </td>
    </>
  );
}

const rangeOf = ({ since, until }: UsageProps['period']) => ({ since, until });
