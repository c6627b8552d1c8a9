import { deleteBudget, getBudget, listBudgets, putBudget } from '../../../shared/contract/budgets.ts';
import { type Handler, implement, keyOrLogin, loginOf } from '../../base/handler.ts';
import { budgetView } from './budget-view.ts';
import type { SpendingBudgets } from './budgets.ts';

export function budgetHandlers(budgets: SpendingBudgets, now: () => number): Handler[] {
  return [
    implement(listBudgets, async ({ caller, params }) => {
      const listed = await budgets.list(keyOrLogin(caller), params.workspace);
      const data = listed.map((used) => budgetView(used, now()));
      return { object: 'list', data, has_more: false, next: null };
    }),

    implement(getBudget, async ({ caller, params }) =>
      budgetView(await budgets.get(keyOrLogin(caller), params.workspace, params.id), now()),
    ),

    implement(
      putBudget,
      async ({ caller, params: { workspace, id }, body }) =>
        budgetView(await budgets.put(loginOf(caller), workspace, { id, settings: body }), now()),
      ({ caller, params }) => budgets.permit(loginOf(caller), params.workspace),
    ),

    implement(deleteBudget, async ({ caller, params: { workspace, id } }) => {
      await budgets.remove(loginOf(caller), workspace, id);
      return { id, object: 'budget', deleted: true };
    }),
  ];
}
