import { ApiError } from '../../../shared/errors.ts';
import type { Catalog } from '../catalog/index.ts';
import type { ProviderRoute, Router } from './contract.ts';
import { countInput, type OpenDeps, openRoute } from './open-route.ts';
import { planRoutes } from './plan-routes.ts';
import { requirementsOf } from './requirements.ts';
import { RetryBudget } from './retry-budget.ts';

export interface RouterDeps extends Omit<OpenDeps, 'retries'> {
  catalog: Pick<Catalog, 'resolve' | 'resolveAll'>;
  /** Read for each call, as a reload changes it: what the host adds to prices, in millionths. */
  settings: { readonly marginPpm: number };
  /** Providers for which a workspace has its own keys; none by default. */
  ownKeysOf?: (workspaceId: string) => ReadonlySet<string> | Promise<ReadonlySet<string>>;
}

/** Joins the catalog, the plan and the failover. */
export function createRouter(deps: RouterDeps): Router<ProviderRoute> {
  const openDeps: OpenDeps = { ...deps, retries: new RetryBudget(deps.world) };
  return {
    async plan({ inference, inputTokensMax, options, workspaceId, caps = {}, isPrepaid = false }) {
      const ownKeys = await deps.ownKeysOf?.(workspaceId);
      const { model, embedding } = inference;
      // Vectors of different models cannot be compared, so only other providers of the same model are tried.
      const candidates = embedding
        ? [await deps.catalog.resolve(model, { ownKeys })]
        : await deps.catalog.resolveAll(model, options.fallbacks ?? [], { ownKeys });
      const request = {
        candidates,
        requirements: requirementsOf(inference, inputTokensMax),
        preferences: options,
        caps,
        isPrepaid,
        ownKeys,
        workspaceId,
        marginPpm: deps.settings.marginPpm,
      };
      const routes = planRoutes(request, deps.health, deps.live);
      if (routes instanceof ApiError) throw routes;
      return routes;
    },
    open: (request) => openRoute(openDeps, request),
    countInput: (request) => countInput(openDeps, request),
  };
}
