import type { Distribution } from '../../../shared/contract/usage.ts';
import { getUsageLatency } from '../../../shared/endpoints.ts';
import { duration } from '../../../view/durations.ts';
import { briefRate, count } from '../../../view/numbers.ts';
import { useQuery } from '../../data/query.ts';
import { route, setQuery } from '../../data/route.ts';
import { Choice } from '../../parts/choice.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { Panel } from '../../parts/panel.tsx';
import { number } from '../../parts/table-head.tsx';
import type { UsageProps } from './usage-props.ts';

const measures = {
  first_token_ms: { title: 'First token', format: duration },
  total_ms: { title: 'Total', format: duration },
  tokens_per_second: { title: 'Tokens/s', format: briefRate },
  overhead_ms: { title: 'Overhead', format: duration },
} as const;
type LatencyMeasure = keyof typeof measures;

const percentiles = ['p50', 'p90', 'p95', 'p99'] as const;

/** How long answers took, by model or provider. */
export function UsageLatency({ choices, period, timeZone }: UsageProps) {
  const { since, until } = period;
  const { model, provider, key, status } = choices.filters;
  const by = choices.by === 'provider' ? 'provider' : 'model';
  const query = useQuery(getUsageLatency, {
    query: {
      since,
      until,
      tz: timeZone,
      group_by: by,
      ...(model && { model }),
      ...(provider && { provider }),
    },
  });
  const named = route.value.query.get('latency');
  const measure =
    (Object.keys(measures) as LatencyMeasure[]).find((name) => name === named) ?? 'first_token_ms';
  const { title, format } = measures[measure];
  const rows = (query.data?.series ?? []).flatMap((series) => {
    const [distribution] = series[measure];
    return distribution && distribution.count > 0 ? [{ group: series.group, distribution }] : [];
  });
  return (
    <Panel
      title={`${title} by ${by}`}
      class="is-wide"
      queries={[query]}
      tools={
        <Choice
          label="Latency"
          options={Object.entries(measures).map(([value, each]) => ({
            value: value as LatencyMeasure,
            title: each.title,
          }))}
          value={measure}
          onChange={(value) => setQuery({ latency: value === 'first_token_ms' ? undefined : value })}
        />
      }
    >
      {rows.length === 0 ? (
        <p class="quiet">No answers in the {period.title}.</p>
      ) : (
        <LatencyRows by={by} rows={rows} format={format} />
      )}
      {rows.length > 0 && (key ?? status) !== undefined && (
        <p class="quiet">Of all keys and statuses: latency is measured by model and provider.</p>
      )}
    </Panel>
  );
}

interface LatencyRow {
  group: string | null;
  distribution: Distribution;
}

interface LatencyRowsProps {
  by: 'model' | 'provider';
  rows: readonly LatencyRow[];
  format: (value: number) => string;
}

function LatencyRows({ by, rows, format }: LatencyRowsProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keys.
    <section class="scroll usage-rows" tabIndex={0} aria-label="Percentiles">
      <DataTable
        name="latency"
        isCards={false}
        columns={[
          { name: by === 'model' ? 'Model' : 'Provider', value: ({ group }) => group },
          { ...number('Calls'), value: ({ distribution }) => distribution.count },
          ...percentiles.map((name) => ({
            ...number(name),
            value: ({ distribution }: LatencyRow) => distribution[name],
          })),
        ]}
        rows={rows}
      >
        {({ group, distribution }) => (
          <tr key={group}>
            <td>{group ?? 'none'}</td>
            <td class="number quiet">{count(distribution.count)}</td>
            {percentiles.map((name) => {
              const value = distribution[name];
              return (
                <td key={name} class="number">
                  {value === null ? '–' : format(value)}
                </td>
              );
            })}
          </tr>
        )}
      </DataTable>
    </section>
  );
}
