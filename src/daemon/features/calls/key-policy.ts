import { type CallLabels, noLabels } from '../../../shared/constants/call-labels.ts';
import { decisionPaths } from '../../../shared/constants/decision-paths.ts';
import type { ActionName } from '../../../shared/contract/key-limits.ts';
import { ApiError } from '../../../shared/errors.ts';
import { invalid } from '../../../shared/faults/invalid-request.ts';
import { credentialId, type Identified, type KeyDefaults, type KeyPolicy } from '../../base/handler.ts';
import type { Route, RouteCaps } from '../routing/index.ts';
import type { Inference } from '../upstreams/neutral.ts';
import type { ModelCall } from './call-observer.ts';
import { modelOfTool, requestedTier, uncountedFee } from './pricing/provider-extras.ts';

/** The policy of a calling key or autopilot; a login has none. */
export function policyOf(caller: Identified): KeyPolicy | undefined {
  return caller.kind === 'key' || caller.kind === 'autopilot' ? caller.policy : undefined;
}

/** The defaults for calls of a key; null when it has none. */
export function defaultsOf(caller: Identified): KeyDefaults | null {
  return policyOf(caller)?.defaults ?? null;
}

const actions: Readonly<Record<string, ActionName>> = {
  '/v1/responses': 'responses',
  '/v1/chat/completions': 'chat',
  '/v1/embeddings': 'embeddings',
  '/v1/messages': 'messages',
  '/v1/responses/compact': 'compact',
  [decisionPaths.decisions]: 'decisions',
  [decisionPaths.systemOne]: 'decisions',
};

/** Fails with `limit_reached` when the key was not issued for this endpoint. */
export function checkAction(policy: KeyPolicy | undefined, endpoint: string): void {
  const action = actions[endpoint];
  for (let key = policy; key; key = key.parent) {
    if (key.actions === null || (action !== undefined && key.actions.includes(action))) continue;
    throw new ApiError('limit_reached', {
      param: 'scopes.actions',
      message: `This key may not call ${endpoint}: it was issued for ${key.actions.join(', ')}.`,
    });
  }
}

/** Members by which resellers choose other models and providers, at other prices, or add services. */
const routingMembers = [
  ...['models', 'route', 'provider', 'providerOptions', 'plugins', 'preset'],
  ...['fallbacks', 'context_window_fallbacks', 'content_policy_fallbacks'],
];
/** Service tiers at the list price or below. */
const standardTiers = new Set(['auto', 'default', 'standard', 'standard_only', 'flex']);

/** The rules that a call must comply with. */
export interface EnforcedPolicy {
  caps: RouteCaps;
  isPrepaid: boolean;
  /** Whether what the call costs the caller is limited, so that it must be known. */
  isCostLimited: boolean;
}

interface PolicyDeps {
  isPrepaid?: ((workspaceId: string) => boolean) | undefined;
  hasHardBudget?: HasHardBudget | undefined;
  budgets?: RouteBudgets | undefined;
}

/** The budgets that count calls by the routes that answer them. */
export interface RouteBudgets {
  /** Whether a workspace has any. */
  hasRouted(workspaceId: string): boolean;
  /** Whether one could keep a call from a route; undefined if its workspace has no hard one. */
  hardRoutes(call: {
    workspaceId: string;
    keyId: string | null;
    labels: CallLabels;
    endpoint?: string;
  }): RouteCaps['isSpendCappedOn'];
}

/** Whether calls of a caller with these labels could be rejected by a budget. */
export type HasHardBudget = (caller: Identified, labels: CallLabels) => boolean;

type PolicyCall = Pick<ModelCall, 'caller' | 'inference' | 'options'> &
  Partial<Pick<ModelCall, 'labels' | 'endpoint'>>;

/**
 * Returns the limits of a call's key and workspace. Fails with `invalid_request` when the body, which a provider with
 * the same format gets unchanged, would let the provider bypass them.
 */
export function enforceKeyPolicy(
  { isPrepaid, hasHardBudget, budgets }: PolicyDeps,
  { caller, inference, options, labels = noLabels, endpoint }: PolicyCall,
): EnforcedPolicy {
  const ofKey = capsOf(policyOf(caller));
  const isBudgeted = hasHardBudget?.(caller, labels) ?? false;
  const isSpendCappedOn = budgets?.hasRouted(caller.workspaceId)
    ? budgets.hardRoutes({
        workspaceId: caller.workspaceId,
        keyId: credentialId(caller),
        labels,
        ...(endpoint !== undefined && { endpoint }),
      })
    : undefined;
  const capped = isBudgeted ? { ...ofKey, isSpendCapped: true } : ofKey;
  const limits = {
    caps: isSpendCappedOn ? { ...capped, isSpendCappedOn } : capped,
    isPrepaid: isPrepaid?.(caller.workspaceId) ?? false,
  };
  const isCostLimited = limitsCost(limits) && options.pay !== 'mine';
  const policy = { ...limits, isCostLimited };
  const placeOf = (ofKeys: string) => {
    if (policy.isPrepaid) return 'in prepaid workspaces';
    return isBudgeted ? 'within a hard budget' : ofKeys;
  };
  if (isCostLimited || (policy.caps.models?.length ?? 0) > 0)
    rejectOtherModels(inference, placeOf('for keys with a model, price or spending limit'));
  if (isCostLimited) rejectUnknownCost(inference, placeOf('for keys with a price or spending limit'));
  return policy;
}

/** Whether a budget of a route limits what a call costs. */
export function isCostLimitedOn(routes: readonly Route[], { isSpendCappedOn }: RouteCaps): boolean {
  return (
    isSpendCappedOn !== undefined && routes.some(({ ownKey, offer }) => !ownKey && isSpendCappedOn(offer))
  );
}

/** Fails with `invalid_request` for what would make the cost of a call another one than is reserved for it. */
export function requireKnownCost(inference: Inference, where: string): void {
  rejectOtherModels(inference, where);
  rejectUnknownCost(inference, where);
}

function rejectOtherModels(inference: Inference, where: string): void {
  const { body } = inference;
  const isSet = (name: string) => body[name] !== undefined && body[name] !== null;
  const chosen = routingMembers.find(isSet) ?? modelOfTool(inference);
  if (chosen) throw invalid(chosen, `\`${chosen}\` is not allowed ${where}.`);
}

function rejectUnknownCost(inference: Inference, where: string): void {
  const requested = requestedTier(inference);
  if (requested && !standardTiers.has(requested.tier)) {
    throw invalid(requested.param, `Only standard service tiers are allowed ${where}.`);
  }
  const fee = uncountedFee(inference);
  if (fee) {
    const message = `${fee.what} is not allowed ${where}, as its cost is not reported. Remove it, or pay with your own provider key.`;
    throw invalid(fee.param, message);
  }
}

function limitsCost({ caps, isPrepaid }: Pick<EnforcedPolicy, 'caps' | 'isPrepaid'>): boolean {
  const { input = null, output = null } = caps.maxPrice ?? {};
  return isPrepaid || caps.isSpendCapped === true || input !== null || output !== null;
}

const noCaps: RouteCaps = {};

/** The limits of a key and its ancestors on routes: the lowest price of all, and every list of models. */
export function capsOf(policy: KeyPolicy | undefined): RouteCaps {
  if (!policy?.isRestricted) return noCaps;
  const models: NonNullable<RouteCaps['models']>[number][] = [];
  const maxPrice = { input: Number.POSITIVE_INFINITY, output: Number.POSITIVE_INFINITY };
  let isSpendCapped = false;
  for (let key: KeyPolicy | undefined = policy; key; key = key.parent) {
    if (key.models) models.push({ param: 'scopes.models', allowed: key.models });
    if (key.limits?.models) models.push({ param: 'limits.models', allowed: key.limits.models });
    maxPrice.input = Math.min(maxPrice.input, key.limits?.maxPrice?.input ?? maxPrice.input);
    maxPrice.output = Math.min(maxPrice.output, key.limits?.maxPrice?.output ?? maxPrice.output);
    isSpendCapped ||= (key.limits?.spendCap ?? null) !== null;
  }
  const finite = (price: number) => (price === Number.POSITIVE_INFINITY ? null : price);
  return {
    models,
    maxPrice: { input: finite(maxPrice.input), output: finite(maxPrice.output) },
    isSpendCapped,
  };
}

/** Whether a key, or one that it descends from, limits its concurrent calls. */
export function limitsConcurrency(policy: KeyPolicy | undefined): boolean {
  if (!policy?.isRestricted) return false;
  return policy.limits?.concurrency != null || limitsConcurrency(policy.parent);
}

/** The `param` of the limit that an error reports; undefined for other errors. */
export function limitHit(error: unknown): string | undefined {
  if (!(error instanceof ApiError) || error.param === null) return undefined;
  if (error.code === 'limit_reached') return error.param;
  return error.code === 'no_route' && error.param.startsWith('limits.') ? error.param : undefined;
}
