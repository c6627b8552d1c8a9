import type { ActionName } from '../../../../shared/contract/key-limits.ts';
import { ApiError } from '../../../../shared/errors.ts';
import type { KeyCaller, KeyDefaults, KeyPolicy, LoginCaller } from '../../../handler.ts';
import type { RouteCaps } from '../../routing/index.ts';

const actions: Readonly<Record<string, ActionName>> = {
  '/v1/responses': 'responses',
  '/v1/chat/completions': 'chat',
  '/v1/responses/compact': 'compact',
};

/** Fails with `limit_reached` when the key was issued for other kinds of calls. */
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

const none: RouteCaps = {};

/** What a key, and those that it descends from, leave to choose from: the lowest price of them all, and every list of models. */
export function capsOf(policy: KeyPolicy | undefined): RouteCaps {
  if (!policy?.isRestricted) return none;
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

/** What a calling key is held to; a login is held to nothing. */
export function policyOf(caller: KeyCaller | LoginCaller): KeyPolicy | undefined {
  return caller.kind === 'key' ? caller.policy : undefined;
}

/** What holds for the calls of a key that do not say; null where there is nothing. */
export function defaultsOf(caller: KeyCaller | LoginCaller): KeyDefaults | null {
  return policyOf(caller)?.defaults ?? null;
}

/** The limit that a failure tells of; undefined for every other failure. */
export function limitHit(error: unknown): string | undefined {
  if (!(error instanceof ApiError) || error.param === null) return undefined;
  if (error.code === 'limit_reached') return error.param;
  return error.code === 'no_route' && error.param.startsWith('limits.') ? error.param : undefined;
}
