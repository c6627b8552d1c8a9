import { ApiError } from '../../../shared/errors.ts';
import type { Catalog } from '../catalog/index.ts';
import type { Router } from '../inference/index.ts';
import { factsOf } from './facts.ts';
import { type Openers, type OpenRequest, openRoute } from './open-route.ts';
import { planRoutes } from './plan-routes.ts';
import { RetryBudget } from './retry-budget.ts';
import type { Route } from './route.ts';

export interface RouterNeeds extends Omit<Openers, 'retries'> {
  catalog: Pick<Catalog, 'resolveAll'>;
  /** In millionths. */
  marginPpm: number;
  /** The key that pays for a route: the host's, or the workspace's own where `route.ownKey`. */
  keyFor: OpenRequest['keyFor'];
  /** Providers that a workspace has keys of its own for; none unless told. */
  ownKeysOf?: (workspaceId: string) => ReadonlySet<string> | Promise<ReadonlySet<string>>;
}

/** What model calls are given to find a provider: the catalog, the plan and the fail-over joined. */
export function createRouter(needs: RouterNeeds): Router {
  const openers: Openers = { ...needs, retries: new RetryBudget(needs.world) };
  return {
    /** The ways to have a call answered, best first. Fails with `model_not_found`, `no_route` or `limit_reached`. */
    async plan({ inference, options, workspaceId, caps = {}, isPrepaid = false }) {
      const ownKeys = await needs.ownKeysOf?.(workspaceId);
      const candidates = await needs.catalog.resolveAll(inference.model, options.fallbacks, { ownKeys });
      const request = {
        candidates,
        facts: factsOf(inference),
        preferences: options,
        caps,
        isPrepaid,
        ownKeys,
        workspaceId,
        marginPpm: needs.marginPpm,
      };
      const routes = planRoutes(request, needs.health, needs.live);
      if (routes instanceof ApiError) throw routes;
      return routes;
    },

    /** Tries routes until one begins to answer; see `openRoute`. */
    open(request) {
      // Callers see only a part of the routes that `plan` gave them.
      const routes = request.routes as Route[];
      return openRoute(openers, { ...request, routes, keyFor: needs.keyFor });
    },
  };
}
