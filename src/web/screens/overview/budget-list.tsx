import { listBudgets } from '../../../shared/endpoints.ts';
import { useQuery } from '../../data/query.ts';
import { hrefOf } from '../../data/route.ts';
import { BudgetBar } from '../../parts/budget-bar.tsx';
import { Panel } from '../../parts/panel.tsx';

/** How much of each budget is spent; nothing without any. */
export function BudgetList() {
  const budgets = useQuery(listBudgets, { params: { workspace: 'me' } });
  if (!budgets.data || budgets.data.data.length === 0) return null;
  return (
    <Panel
      title="Budgets"
      class="is-wide"
      queries={[budgets]}
      tools={<a href={hrefOf('keys')}>Keys & limits</a>}
    >
      <ul class="budget-list">
        {budgets.data.data.map((budget) => (
          <li key={budget.id}>
            <b>{budget.id}</b>
            <BudgetBar budget={budget} />
          </li>
        ))}
      </ul>
    </Panel>
  );
}
