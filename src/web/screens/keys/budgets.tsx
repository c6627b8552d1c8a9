import { budgetIdPattern } from '../../../shared/constants/budget-ids.ts';
import type { Budget } from '../../../shared/contract/budgets.ts';
import { deleteBudget, listBudgets, listKeys, putBudget } from '../../../shared/endpoints.ts';
import { budgetFields } from '../../../view/budgets.ts';
import { textsOf } from '../../../view/field.ts';
import { isInUse } from '../../../view/key-names.ts';
import { points } from '../../../view/numbers.ts';
import { budgetCallsHref } from '../../data/budget-calls.ts';
import { callsHref } from '../../data/calls-link.ts';
import { useKeyNames } from '../../data/key-names.ts';
import { change, useList, useQuery } from '../../data/query.ts';
import { BudgetBar } from '../../parts/budget-bar.tsx';
import { ConfirmButton } from '../../parts/confirm.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { DialogButton } from '../../parts/dialog-button.tsx';
import { FieldFault, Form } from '../../parts/form.tsx';
import { Panel } from '../../parts/panel.tsx';
import { actions } from '../../parts/table-head.tsx';
import { toast } from '../../parts/toast.tsx';
import { type BudgetField, budgetFormFields, budgetIn } from './budget-fields.ts';

const workspace = 'me';

/** The budgets of the workspace with what is spent of them. */
export function Budgets() {
  const budgets = useQuery(listBudgets, { params: { workspace } });
  const rows = budgets.data?.data ?? [];
  return (
    <Panel
      title="Budgets"
      queries={[budgets]}
      action={{ label: 'Add a budget', dialog: (close) => <EditBudget onClose={close} /> }}
    >
      {rows.length === 0 ? (
        <p class="quiet">
          No budgets. One limits or reports what the workspace, a key, an end user or a tag spends, or what
          goes to a model or a provider.
        </p>
      ) : (
        <DataTable
          name="budgets"
          columns={[
            { name: 'Budget', value: ({ id }) => id },
            { name: 'Spent', value: ({ spent_usd: spent }) => Number(spent) },
            { name: 'Counts', value: ({ scope, value }) => `${scope} ${value ?? ''}` },
            { name: 'When it is reached', value: ({ hard }) => (hard ? 'rejects calls' : 'reports') },
            actions,
          ]}
          rows={rows}
        >
          {(budget) => <BudgetRow key={budget.id} budget={budget} />}
        </DataTable>
      )}
    </Panel>
  );
}

function BudgetRow({ budget }: { budget: Budget }) {
  const { id, hard, fired } = budget;
  const reached = fired.map(({ percent }) => points(percent)).join(', ');
  return (
    <tr>
      <th scope="row" class="is-title">
        {id}
      </th>
      <td class="is-bar">
        <BudgetBar budget={budget} />
      </td>
      <td>
        <Counted budget={budget} />
      </td>
      <td>
        {hard ? 'rejects calls' : 'reports'}
        {reached && <span class="warn"> · reached {reached}</span>}
        {budget.refused_at !== null && <span class="bad"> · rejects now</span>}
      </td>
      <td>
        <span class="row-actions">
          <DialogButton
            label="Change"
            title={`Change the budget ${id}`}
            dialog={(close) => <EditBudget budget={budget} onClose={close} />}
          />
          <ConfirmButton
            label="Delete"
            title={`Delete the budget ${id}`}
            question={`Delete the budget ${id}?`}
            onConfirm={async () => {
              await change(deleteBudget, { params: { workspace, id } });
              toast(`The budget ${id} was deleted.`);
            }}
          >
            <p>{hard ? 'Calls are no longer rejected because of it.' : 'Its events stay.'}</p>
          </ConfirmButton>
        </span>
      </td>
    </tr>
  );
}

/** Whose calls a budget counts, as the way to them. */
function Counted({ budget }: { budget: Budget }) {
  const { scope } = textsOf(budgetFields, budget, { keyNames: useKeyNames() });
  const href = budget.scope === 'key' ? callsHref({ key: budget.value }) : budgetCallsHref(budget);
  return budget.scope === 'workspace' ? scope : <a href={href}>{scope}</a>;
}

function EditBudget({ budget, onClose }: { budget?: Budget; onClose: () => void }) {
  const keys = useList(listKeys, { params: { workspace }, query: {} });
  const active = keys.data?.data.filter((key) => isInUse(key) || key.id === budget?.value) ?? [];
  return (
    <Dialog title={budget ? `Budget ${budget.id}` : 'Add a budget'} onClose={onClose}>
      <Form<BudgetField>
        fields={(values) => budgetFormFields(budget, active, values)}
        action={budget ? 'Save' : 'Add'}
        onCancel={onClose}
        onSubmit={async (values) => {
          const id = values.id.trim();
          if (!new RegExp(budgetIdPattern).test(id))
            throw new FieldFault(
              'id',
              'A name begins with a letter or digit, and has lower-case letters, digits, _ and - only.',
            );
          await change(putBudget, { params: { workspace, id }, body: budgetIn(values) });
          toast(budget ? `The budget ${id} was changed.` : `The budget ${id} was added.`);
          onClose();
        }}
      />
    </Dialog>
  );
}
