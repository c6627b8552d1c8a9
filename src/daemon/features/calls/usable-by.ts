import { noLabels } from '../../../shared/constants/call-labels.ts';
import { type Caller, credentialId } from '../../base/handler.ts';
import type { Resolution } from '../catalog/index.ts';
import type { BudgetRules } from '../metering/index.ts';
import { isUsable } from '../routing/index.ts';
import { capsOf, policyOf } from './key-policy.ts';

interface UsabilityDeps {
  settings: { readonly marginPpm: number };
  budgets: Pick<BudgetRules, 'isHard' | 'hardRoutes'>;
  isPrepaid: (workspaceId: string) => boolean;
}

/** Tells whether a caller can use a model. Those without a workspace of their own see what the host can call. */
export function usability({ settings, budgets, isPrepaid }: UsabilityDeps) {
  return (caller: Caller, ownKeys: ReadonlySet<string>) => {
    const { marginPpm } = settings;
    if (caller.kind === 'anonymous' || caller.kind === 'token') {
      const anyone = { caps: {}, isPrepaid: false, ownKeys, workspaceId: '', marginPpm };
      return (model: Resolution) => isUsable(model, anyone);
    }
    const { workspaceId } = caller;
    const policy = policyOf(caller);
    const call = { workspaceId, keyId: credentialId(caller), labels: noLabels };
    const caps = capsOf(policy);
    const request = {
      caps: {
        ...caps,
        ...(budgets.isHard(call, policy) && { isSpendCapped: true }),
        isSpendCappedOn: budgets.hardRoutes(call),
      },
      isPrepaid: isPrepaid(workspaceId),
      ownKeys,
      workspaceId,
      marginPpm,
    };
    return (model: Resolution) => isUsable(model, request);
  };
}
