import type { ProviderHealth } from '../../../shared/contract/provider-health.ts';
import { getProvidersHealth } from '../../../shared/endpoints.ts';
import { ago, duration } from '../../../view/durations.ts';
import { count, percent } from '../../../view/numbers.ts';
import { clock, dayAndClock } from '../../../view/times.ts';
import { now } from '../../data/now.ts';
import { zoneName } from '../../data/preferences.ts';
import { useQuery } from '../../data/query.ts';
import { hrefOf } from '../../data/route.ts';
import { DataTable, timeOf } from '../../parts/data-table.tsx';
import { Panel } from '../../parts/panel.tsx';
import { number } from '../../parts/table-head.tsx';

const halfHourMs = 30 * 60_000;

/** How providers answered in the last 24 hours, by half hours. */
export function ProvidersHealth() {
  const query = useQuery(getProvidersHealth, { query: {} });
  const rows = query.data?.data ?? [];
  return (
    <Panel title="Providers, last 24 hours" queries={[query]}>
      {rows.length === 0 ? (
        <p class="quiet">No provider was called in the last 24 hours.</p>
      ) : (
        <DataTable
          name="providers"
          class="health"
          columns={[
            { name: 'Provider', value: ({ provider, model }) => `${provider} ${model}` },
            { ...number('Answered'), value: ({ share_ok: share }) => share },
            { ...number('Attempts'), value: ({ attempts }) => attempts },
            { ...number('First byte p50'), value: ({ first_byte_ms: first }) => first.p50 },
            { ...number('p95'), value: ({ first_byte_ms: first }) => first.p95 },
            { name: '48 half hours', value: ({ failed }) => failed, title: 'Sorted by failed attempts' },
            { name: 'Last failure', value: ({ last_failure: last }) => timeOf(last?.at) },
          ]}
          rows={rows}
        >
          {(row) => <HealthRow key={`${row.provider} ${row.model}`} health={row} />}
        </DataTable>
      )}
    </Panel>
  );
}

function HealthRow({ health }: { health: ProviderHealth }) {
  const { provider, model, attempts, failed, share_ok: ok, first_byte_ms: first, strip } = health;
  return (
    <tr>
      <th scope="row" class="is-title">
        {provider} <Bench health={health} />
        <span class="quiet sub">{model}</span>
      </th>
      <td class={ok !== null && ok < 0.95 ? 'number bad' : 'number'} title={`${count(failed)} failed`}>
        {ok === null ? '–' : percent(ok)}
      </td>
      <td class="number is-minor">{count(attempts)}</td>
      <td class="number is-minor">{duration(first.p50)}</td>
      <td class="number is-minor">{duration(first.p95)}</td>
      <td>
        <Strip strip={strip} />
      </td>
      <td class={health.last_failure === null ? 'is-minor' : ''}>
        <LastFailure failure={health.last_failure} errors={health.errors} />
      </td>
    </tr>
  );
}

/** Whether and why it is left out, or was. */
function Bench({ health: { is_benched: isBenched, benched, provider } }: { health: ProviderHealth }) {
  const last = benched.at(-1);
  if (!last) return null;
  const until = clock(last.until, zoneName());
  if (isBenched)
    return (
      <span class="badge bad" title={`Since ${dayAndClock(last.since, zoneName())}`}>
        benched until {until}: {last.reason}
      </span>
    );
  return (
    <span
      class="quiet"
      title={`${provider} was left out ${benched.length} times since the start of the daemon.`}
    >
      was benched ({last.reason}) until {until}
    </span>
  );
}

type Strip = ProviderHealth['strip'];

/** A cell per half hour, coloured by the share of failed attempts. */
function Strip({ strip }: { strip: Strip }) {
  const failing = strip.filter(({ failed }) => failed > 0).length;
  const used = strip.filter(({ attempts }) => attempts > 0).length;
  return (
    <>
      <span class="strip" aria-hidden="true">
        {strip.map(({ start, attempts, failed }) => (
          <span key={start} class={toneOf(attempts, failed)} title={cellTitle({ start, attempts, failed })} />
        ))}
      </span>
      <span class="for-readers">
        {used} half hours with calls, {failing} with failures
      </span>
    </>
  );
}

function toneOf(attempts: number, failed: number): string {
  if (attempts === 0) return '';
  if (failed === 0) return 'is-ok';
  return failed / attempts < 0.2 ? 'is-warn' : 'is-bad';
}

function cellTitle({ start, attempts, failed }: Strip[number]): string {
  const timeZone = zoneName();
  const time = `${dayAndClock(start, timeZone)} – ${clock(Date.parse(start) + halfHourMs, timeZone)}`;
  return `${time}: ${attempts === 0 ? 'no calls' : `${count(attempts)} attempts, ${count(failed)} failed`}`;
}

function LastFailure({
  failure,
  errors,
}: {
  failure: ProviderHealth['last_failure'];
  errors: ProviderHealth['errors'];
}) {
  if (failure === null) return <span class="quiet">none</span>;
  const { request_id: id, at, error_code: code, message } = failure;
  const all = errors.map(({ error_code, attempts }) => `${error_code} ×${attempts}`).join(', ');
  return (
    <>
      <a href={hrefOf('calls', [id])} title={message ?? undefined}>
        {code}
      </a>{' '}
      <span class="quiet" title={all}>
        {ago(at, now.value)}
      </span>
      {/* Attempts are no calls: one that failed may be of a call that another provider answered. */}
      {errors.length > 1 && ` · ${errors.length} kinds`}
    </>
  );
}
