import type { FallbackReason } from '../../../shared/constants/fallback-reasons.ts';
import { ApiError } from '../../../shared/errors.ts';
import type { Catalog, Resolution } from '../catalog/index.ts';
import { affinityOf } from './affinity.ts';
import type { ProviderRoute, RoutePlanRequest, Router } from './contract.ts';
import { requirementsOf } from './needs.ts';
import { countInput, type OpenDeps, openRoute } from './open-route.ts';
import { planRoutes } from './plan-routes.ts';
import { RetryBudget } from './retry-budget.ts';

export interface RouterDeps extends Omit<OpenDeps, 'retries'> {
  catalog: Pick<Catalog, 'resolve' | 'resolveAll'>;
  /** Read for each call, as a reload changes it: what the host adds to prices, in millionths, and when calls go on. */
  settings: { readonly marginPpm: number; readonly fallbackOn?: readonly FallbackReason[] };
  /** Providers for which a workspace has its own keys; none by default. */
  ownKeysOf?: (workspaceId: string) => ReadonlySet<string> | Promise<ReadonlySet<string>>;
  /** The names of a workspace's own keys for a provider, if there are several. */
  ownKeyNamesOf?: (workspaceId: string, provider: string) => readonly string[] | undefined;
}

const noFallbacks: readonly string[] = [];

/** Joins the catalog, the plan and the failover. */
export function createRouter(deps: RouterDeps): Router<ProviderRoute> {
  const openDeps: OpenDeps = { ...deps, retries: new RetryBudget(deps.world) };
  type OwnKeys = ReadonlySet<string> | undefined;
  const candidatesOf = ({ inference, options }: RoutePlanRequest, ownKeys: OwnKeys) => {
    const affinity = () => affinityOf(inference);
    const all = deps.catalog.resolveAll(inference.model, options.fallbacks ?? noFallbacks, {
      ownKeys,
      affinity,
    });
    return inference.embedding ? ofSameModel(inference.model, all, ownKeys) : all;
  };
  /** Vectors of different models cannot be compared, so only other providers of the same model are tried. */
  const ofSameModel = async (
    name: string,
    candidates: Resolution[] | Promise<Resolution[]>,
    ownKeys: OwnKeys,
  ) => {
    // Both fail for an unknown name, and neither failure may stay unhandled.
    const [all, first] = await Promise.all([candidates, deps.catalog.resolve(name, { ownKeys })]);
    const others = all.filter(({ isOneOfSeveral }) => isOneOfSeveral);
    const same = others.filter((one) => one.offers[0]?.providerModel === first.offers[0]?.providerModel);
    return same.length > 0 ? same : [first];
  };
  const plan = (request: RoutePlanRequest, candidates: readonly Resolution[], ownKeys: OwnKeys) => {
    const {
      inference,
      inputTokensMax,
      options,
      workspaceId,
      caps = {},
      isPrepaid = false,
      subscription,
    } = request;
    const planRequest = {
      candidates,
      requirements: requirementsOf(inference, inputTokensMax),
      preferences: options,
      caps,
      isPrepaid,
      ownKeys,
      subscription,
      ownKeyNamesOf: deps.ownKeyNamesOf,
      affinity: () => affinityOf(inference),
      workspaceId,
      marginPpm: deps.settings.marginPpm,
    };
    const routes = planRoutes(planRequest, deps.health, deps.speed);
    if (routes instanceof ApiError) throw routes;
    return routes;
  };
  const planOnceRead = async (request: RoutePlanRequest, ownKeys: OwnKeys | Promise<OwnKeys>) => {
    const known = await ownKeys;
    return plan(request, await candidatesOf(request, known), known);
  };
  return {
    plan(request) {
      const { subscription } = request;
      const ownKeys = subscription ? new Set([subscription.provider]) : deps.ownKeysOf?.(request.workspaceId);
      if (ownKeys instanceof Promise) return planOnceRead(request, ownKeys);
      const candidates = candidatesOf(request, ownKeys);
      if (candidates instanceof Promise)
        return candidates.then((resolved) => plan(request, resolved, ownKeys));
      return plan(request, candidates, ownKeys);
    },
    open: (request) =>
      openRoute(openDeps, { ...request, fallbackOn: request.fallbackOn ?? deps.settings.fallbackOn }),
    countInput: (request) => countInput(openDeps, request),
  };
}
