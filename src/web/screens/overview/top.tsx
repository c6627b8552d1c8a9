import type { Result } from '../../../shared/contract/endpoint.ts';
import type { getUsageSeries as usageSeries } from '../../../shared/contract/usage.ts';
import { getUsageSeries, listUsage } from '../../../shared/endpoints.ts';
import { briefDollars } from '../../../view/money.ts';
import { count } from '../../../view/numbers.ts';
import { allCalls, figuresOf } from '../../../view/usage.ts';
import { callsHref } from '../../data/calls-link.ts';
import { useKeyName } from '../../data/key-names.ts';
import type { Period } from '../../data/period.ts';
import { type Query, useQuery } from '../../data/query.ts';
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
  const clients = useQuery(listUsage, { query: { since, until, group_by: 'client', limit: 100 } });
  const keyName = useKeyName();
  const empty = `No calls in the ${period.title}.`;
  const clientRows = (clients.data?.data ?? [])
    .map(({ group, cost, ...counts }) =>
      rowOf(group ?? 'unknown', {
        usd: cost.total_usd,
        calls: allCalls(counts),
        href: callsHref({ client: group ?? undefined, since, until }),
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
          rows={rowsOf(models.data, (group) => [
            group ?? 'unknown',
            callsHref({ model: group ?? undefined, since, until }),
          ])}
          empty={empty}
        />
      </Panel>
      <Panel title="Top keys" queries={[keys]}>
        <Ranked
          title="Key"
          measure="Cost"
          rows={rowsOf(keys.data, (group) => [
            keyName(group),
            callsHref({ key: group ?? undefined, since, until }),
          ])}
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
  named: (group: string | null) => [name: string, href: string],
): RankedRow[] {
  const groups = data?.series.filter(({ is_other }) => !is_other) ?? [];
  return groups.flatMap((series) => {
    const [name, href] = named(series.group);
    const figures = figuresOf(series);
    const calls = allCalls(figures);
    return calls > 0 ? [rowOf(name, { usd: figures.costUsd, calls, href })] : [];
  });
}

function rowOf(name: string, { usd, calls, href }: { usd: string; calls: number; href: string }): RankedRow {
  return { name, value: Number(usd), shown: briefDollars(usd), note: `$${usd}, ${count(calls)} calls`, href };
}
