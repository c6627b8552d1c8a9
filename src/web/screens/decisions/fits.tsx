import type { Calibration } from '../../../shared/contract/calibrations.ts';
import { deleteCalibration, listCalibrations } from '../../../shared/endpoints.ts';
import { count, decimal } from '../../../view/numbers.ts';
import { change, useQuery } from '../../data/query.ts';
import { ConfirmButton } from '../../parts/confirm.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { Panel } from '../../parts/panel.tsx';
import { actions, number } from '../../parts/table-head.tsx';
import { Time } from '../../parts/time.tsx';
import { toast } from '../../parts/toast.tsx';
import { Typed } from '../../parts/typed.tsx';

/** The temperatures that were fitted on labelled examples. */
export function Fits() {
  const query = useQuery(listCalibrations, {});
  const rows = query.data?.data ?? [];
  return (
    <Panel title="Fits" queries={[query]}>
      {rows.length === 0 ? (
        <p class="quiet">
          No model is calibrated. <Typed>gateway decide fit</Typed> fits one on labelled examples.
        </p>
      ) : (
        <DataTable
          name="fits"
          columns={[
            { name: 'Model', value: ({ model }) => model },
            { name: 'Question', value: ({ type }) => type },
            { ...number('Temperature'), value: ({ temperature }) => temperature },
            { ...number('Examples'), value: ({ examples }) => examples },
            {
              ...number('Loss before → after', 'Mean negative log-likelihood of the right option, in nats'),
              value: ({ nll_after: after }) => after,
            },
            { name: 'Fitted', value: ({ fitted_at: at }) => Date.parse(at) },
            actions,
          ]}
          rows={rows}
        >
          {(fit) => <FitRow key={`${fit.model} ${fit.type}`} fit={fit} />}
        </DataTable>
      )}
    </Panel>
  );
}

function FitRow({ fit }: { fit: Calibration }) {
  const { model, type, temperature, examples, nll_before: before, nll_after: after, fitted_at: at } = fit;
  return (
    <tr>
      <th scope="row" class="is-title">
        {model}
      </th>
      <td>{type}</td>
      <td class="number">{decimal(temperature, 2)}</td>
      <td class="number is-minor">{count(examples)}</td>
      <td class="number is-minor">
        {decimal(before, 3)} → {decimal(after, 3)}
      </td>
      <td class="quiet is-minor">
        <Time at={at} />
      </td>
      <td>
        <span class="row-actions">
          <ConfirmButton
            label="Remove"
            title={`Remove the fit of ${model} for ${type}`}
            question={`Remove the fit of ${model}?`}
            onConfirm={async () => {
              await change(deleteCalibration, { query: { model, type } });
              toast(`The fit of ${model} was removed.`);
            }}
          >
            <p>Its probabilities are no longer scaled.</p>
          </ConfirmButton>
        </span>
      </td>
    </tr>
  );
}
