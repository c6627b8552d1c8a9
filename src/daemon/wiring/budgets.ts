import type { Feature } from '../base/feature.ts';
import { budgetHandlers, SpendingBudgets } from '../features/budgets/index.ts';
import type { EventFeed } from '../features/events/index.ts';
import type { Workspaces } from '../features/workspaces/index.ts';
import type { Accounts } from './accounts.ts';
import type { CallAppDeps } from './app-deps.ts';
import type { Models } from './models.ts';

interface BudgetFeatures {
  accounts: Pick<Accounts, 'admission' | 'budgets'>;
  events: Pick<EventFeed, 'announce'>;
  models: Pick<Models, 'catalog' | 'providers'>;
  workspaces: Workspaces;
}

/** Limits on what workspaces, keys, users, tags, models and providers spend. */
export function createBudgetFeature(
  { storage, world }: CallAppDeps,
  { accounts, events, models, workspaces }: BudgetFeatures,
): Feature {
  const budgets = new SpendingBudgets({
    store: storage.budgets,
    changes: storage.changes,
    rules: accounts.budgets.rules,
    ledger: storage.ledger,
    workspaces,
    hasKey: async (workspaceId, keyId) => (await storage.keys.byId(workspaceId, keyId)) !== undefined,
    modelNamed: async (name) => {
      const alias = await models.catalog.alias(name);
      if (alias) return alias.models.length === 1 ? alias.models[0]?.id : undefined;
      return await models.catalog.find(name).then(
        ({ id }) => id,
        () => undefined,
      );
    },
    hasProvider: (name) => models.providers.byName.has(name),
    events,
    world,
  });
  accounts.budgets.onNews = (news) => budgets.noticed(news);
  return {
    handlers: budgetHandlers(budgets, () => world.now()),
    jobs: [(signal, onFailure) => budgets.keepFiring(signal, onFailure)],
    load: () => budgets.load(),
    takeOver: async () => budgets.checkAgain(),
  };
}
