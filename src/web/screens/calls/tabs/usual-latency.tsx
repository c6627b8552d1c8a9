import { useMemo } from 'preact/hooks';
import type { TraceView } from '../../../../shared/contract/traces.ts';
import { getUsageLatency } from '../../../../shared/endpoints.ts';
import { duration } from '../../../../view/durations.ts';
import { useQuery } from '../../../data/query.ts';
import { number, TableHead } from '../../../parts/table-head.tsx';

const dayMs = 24 * 60 * 60 * 1000;

/** How long other calls of the model took in the day before, to compare this one with. */
export function UsualLatency({ trace }: { trace: TraceView }) {
  const { model, completed_at: completed, timings } = trace;
  const query = useMemo(() => {
    const until = Date.parse(completed) + 1;
    return {
      query: {
        model: model ?? '',
        since: new Date(until - dayMs).toISOString(),
        until: new Date(until).toISOString(),
      },
    };
  }, [model, completed]);
  const { data } = useQuery(
    model === null || trace.status === 'rejected' ? undefined : getUsageLatency,
    query,
  );
  const [series] = data?.series ?? [];
  const [first] = series?.first_token_ms ?? [];
  const [total] = series?.total_ms ?? [];
  if (!total || total.p50 === null || total.p95 === null) return null;
  return (
    <table class="plain-table usual">
      <caption>Other calls of {model} in the 24 hours before</caption>
      <TableHead columns={['Time to', number('this call'), number('p50'), number('p95')]} />
      <tbody>
        <Row title="the first token" own={timings.first_token_ms} usual={first} />
        <Row title="the end" own={timings.total_ms} usual={total} />
      </tbody>
    </table>
  );
}

interface RowProps {
  title: string;
  own: number | null;
  usual: { p50: number | null; p95: number | null } | undefined;
}

function Row({ title, own, usual }: RowProps) {
  const isSlow = own !== null && usual?.p95 != null && own > usual.p95;
  return (
    <tr>
      <th scope="row">{title}</th>
      <td class="number">
        {duration(own)}
        {isSlow && <span class="warn"> slow</span>}
      </td>
      <td class="number">{duration(usual?.p50)}</td>
      <td class="number">{duration(usual?.p95)}</td>
    </tr>
  );
}
