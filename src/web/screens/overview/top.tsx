import type { Result } from '../../../shared/contract/endpoint.ts';
import type { getUsageSeries as usageSeries } from '../../../shared/contract/usage.ts';
import { getUsageSeries, listUsage } from '../../../shared/endpoints.ts';
import { briefDollars, dollars } from '../../../view/money.ts';
import { allCalls, figuresOf } from '../../../view/usage.ts';
import { figureLinks } from '../../data/calls-link.ts';
import type { CallsLink } from '../../data/calls-query.ts';
import { useKeyName } from '../../data/key-names.ts';
import type { Period } from '../../data/period.ts';
import { type Query, useList, useQuery } from '../../data/query.ts';
import { Panel } from '../../parts/panel.tsx';
import { Ranked, type RankedRow } from '../../parts/ranked.tsx';

type Series = Result<typeof usageSeries>;

const rowsMax = 7;

interface TopProps {
  models: Query<Series>;
  period: Period;
  timeZone: string;
}

/** The models, keys and clients that cost the most. */
export function TopPanels({ models, period, timeZone }: TopProps) {
  const { since, until, bucket } = period;
  const keys = useQuery(getUsageSeries, {
    query: { since, until, bucket, tz: timeZone, group_by: 'key', top: rowsMax },
  });
  const clients = useList(listUsage, { query: { since, until, group_by: 'client' } });
  const keyName = useKeyName();
  const range = { since, until };
  const empty = `No calls in the ${period.title}.`;
  const clientRows = (clients.data?.data ?? [])
    .map(({ group, cost, requests, rejected }) =>
      rowOf(group ?? 'no client', {
        usd: cost.total_usd,
        calls: allCalls({ requests, rejected }),
        rejected,
        filters: { client: group, ...range },
      }),
    )
    .toSorted((a, b) => b.value - a.value)
    .slice(0, rowsMax);
  return (
    <>
      <Panel title="Top models" queries={[models]}>
        <Ranked
          title="Model"
          measure="Cost"
          rows={rowsOf(models.data, (group) => [group ?? 'no model', { model: group, ...range }])}
          empty={empty}
        />
      </Panel>
      <Panel title="Top keys" queries={[keys]}>
        <Ranked
          title="Key"
          measure="Cost"
          rows={rowsOf(keys.data, (group) => [keyName(group), { key: group, ...range }])}
          empty={empty}
        />
      </Panel>
      <Panel title="Top clients" queries={[clients]}>
        <Ranked title="Client" measure="Cost" rows={clientRows} empty={empty} />
      </Panel>
    </>
  );
}

function rowsOf(
  data: Series | undefined,
  named: (group: string | null) => [name: string, filters: CallsLink],
): RankedRow[] {
  const groups = data?.series.filter(({ is_other }) => !is_other) ?? [];
  return groups.flatMap((series) => {
    const [name, filters] = named(series.group);
    const figures = figuresOf(series);
    const calls = allCalls(figures);
    const { costUsd: usd, rejected } = figures;
    return calls > 0 ? [rowOf(name, { usd, calls, rejected, filters })] : [];
  });
}

interface RowOptions {
  usd: string;
  calls: number;
  rejected: number;
  filters: CallsLink;
}

function rowOf(name: string, { usd, calls, rejected, filters }: RowOptions): RankedRow {
  const links = figureLinks(filters, { calls, rejected });
  return { name, value: Number(usd), shown: briefDollars(usd), exact: dollars(usd), links };
}
