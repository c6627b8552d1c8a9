import { ApiError } from '../../../shared/errors.ts';
import type { Caller } from '../../base/handler.ts';
import { capsOf, policyOf } from '../calls/index.ts';
import { matchesPattern } from '../catalog/index.ts';
import type { ProviderRoute, Router } from '../routing/index.ts';
import { isFree } from './host-budget.ts';
import { inferenceFor } from './provider-decision-source.ts';

/** Providers of a model that a decision tries at most. */
const routesMax = 3;

export interface UpstreamRoutesDeps {
  router: Router<ProviderRoute>;
  settings: {
    /** Models that the host pays for, as ids with `*` for any characters. */
    readonly models: readonly string[];
  };
  /** The models that `service/decide` asks after the engines, in order. */
  backupModels: () => readonly string[];
}

interface RoutesRequest {
  caller: Caller;
  model: string;
  pay: 'mine' | 'ours' | undefined;
}

/** Fails with `limit_reached` for a model that the caller's key may not use. */
export function requireAllowedModel(caller: Caller, model: string): void {
  if (caller.kind === 'anonymous' || caller.kind === 'token') return;
  const limit = capsOf(policyOf(caller)).models?.find(
    ({ allowed }) => !allowed.some((pattern) => matchesPattern(pattern, model)),
  );
  if (limit === undefined) return;
  throw new ApiError('limit_reached', { param: limit.param, message: `This key may not use ${model}.` });
}

/**
 * The routes by which a model may answer a caller's decisions, best first: those that cost nothing, those of models that
 * the host offers for decisions, and those that the workspace's own key pays. Without any, `refusal` is the reason.
 * Fails with `model_not_found`, or with `limit_reached` for a model that the caller's key may not use.
 */
export async function upstreamRoutes(
  { router, settings }: UpstreamRoutesDeps,
  { caller, model, pay }: RoutesRequest,
): Promise<{ routes: ProviderRoute[]; refusal: string }> {
  const isIdentified = caller.kind !== 'anonymous' && caller.kind !== 'token';
  const ownKeyNeeds = 'To ask with your own provider key, call with an API key or login.';
  if (pay === 'mine' && !isIdentified) return { routes: [], refusal: ownKeyNeeds };
  let planned: ProviderRoute[];
  try {
    planned = await router.plan({
      inference: inferenceFor({ system: '', user: '', outputTokensMax: 1 }, { kind: 'compatible', model }),
      inputTokensMax: 1,
      options: { ...(pay && { pay }), ...(!isIdentified && { pay: 'ours' }) },
      workspaceId: isIdentified ? caller.workspaceId : '',
      ...(isIdentified && { caps: capsOf(policyOf(caller)) }),
    });
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'no_route') throw error;
    return { routes: [], refusal: error.message.replace(/\.$/, '') };
  }
  const routes = planned.filter(({ offer, ownKey }) => {
    if (ownKey || isFree(offer)) return true;
    return settings.models.some((pattern) => matchesPattern(pattern, offer.model));
  });
  const refusal = `${model} costs the host money, and decisions are free: the host can add it to decisions.models, or you ask with your own provider key (service.pay: "mine")`;
  return { routes: routes.slice(0, routesMax), refusal };
}
