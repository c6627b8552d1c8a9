import { useSignal } from '@preact/signals';
import type { Paywall } from '../../../shared/contract/paywalls.ts';
import { listPaywalls, updatePaywall } from '../../../shared/endpoints.ts';
import { bitcoin } from '../../../shared/money/sats.ts';
import { count, sum } from '../../../view/numbers.ts';
import { change, useList } from '../../data/query.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { Panel } from '../../parts/panel.tsx';
import { actions, number } from '../../parts/table-head.tsx';
import { toast } from '../../parts/toast.tsx';
import { Typed } from '../../parts/typed.tsx';

/** The paywalls of the caller, what they earned, and the way to pause one. */
export function Paywalls() {
  const query = useList(listPaywalls, { query: {} });
  const rows = query.data?.data ?? [];
  return (
    <Panel title="Paywalls" queries={[query]}>
      {rows.length === 0 ? (
        <p class="quiet">
          None. A paywall puts a price on requests to a web server: <Typed>gateway paywalls create</Typed>.
        </p>
      ) : (
        <DataTable
          name="paywalls"
          foot={
            rows.length > 1 && (
              <tr>
                <th scope="row">Total</th>
                <td class="number is-minor" />
                <td class="number">{count(sum(rows.map(({ stats }) => stats.paid)))}</td>
                <td class="number">{bitcoin(sum(rows.map(({ stats }) => stats.revenueMsats)))}</td>
                <td />
                <td />
              </tr>
            )
          }
          columns={[
            { name: 'Paywall', value: ({ name }) => name },
            { ...number('Price'), value: ({ priceSats }) => priceSats },
            { ...number('Paid'), value: ({ stats }) => stats.paid },
            { ...number('Revenue'), value: ({ stats }) => stats.revenueMsats },
            { name: 'Status', value: ({ status }) => status },
            actions,
          ]}
          rows={rows}
        >
          {(paywall) => <PaywallRow key={paywall.id} paywall={paywall} />}
        </DataTable>
      )}
    </Panel>
  );
}

function PaywallRow({ paywall }: { paywall: Paywall }) {
  const { id, name, url, match, priceSats, status, stats, proxy } = paywall;
  const isPausing = useSignal(false);
  const setStatus = async (next: 'active' | 'paused') => {
    await change(updatePaywall, { params: { paywallId: id }, body: { status: next } });
    toast(next === 'paused' ? `${name} is paused.` : `${name} is active again.`);
    isPausing.value = false;
  };
  return (
    <tr class={status === 'active' ? '' : 'is-ended'}>
      <th scope="row" class="is-title">
        {name}
        <code class="quiet sub">{url ?? match.pathPrefix}</code>
      </th>
      <td class="number">{bitcoin(priceSats * 1000)}</td>
      <td class="number">
        {count(stats.paid)} <span class="quiet">of {count(stats.challenges)}</span>
      </td>
      <td class="number">{bitcoin(stats.revenueMsats)}</td>
      <td>
        {status}
        {proxy.state !== 'applied' && (
          <span class="warn" title={proxy.lastError ?? undefined}>
            {' '}
            · proxy {proxy.state}
          </span>
        )}
      </td>
      <td>
        <span class="row-actions">
          <PauseButton
            paywall={paywall}
            onPause={() => {
              isPausing.value = true;
            }}
            onResume={() => setStatus('active')}
          />
        </span>
        {isPausing.value && (
          <Confirm
            title={`Pause ${name}?`}
            action="Pause"
            onClose={() => {
              isPausing.value = false;
            }}
            onConfirm={() => setStatus('paused')}
          >
            <p>Requests get 503 until it is resumed. Tokens that were paid for stay valid.</p>
          </Confirm>
        )}
      </td>
    </tr>
  );
}

interface PauseProps {
  paywall: Paywall;
  onPause: () => void;
  onResume: () => Promise<void>;
}

function PauseButton({ paywall: { name, status }, onPause, onResume }: PauseProps) {
  if (status === 'active')
    return (
      <button type="button" aria-label={`Pause ${name}`} onClick={onPause}>
        Pause
      </button>
    );
  return (
    <button
      type="button"
      aria-label={`Resume ${name}`}
      onClick={() => {
        onResume().catch((error: unknown) => toast(String(error)));
      }}
    >
      Resume
    </button>
  );
}
