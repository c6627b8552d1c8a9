import type { AutopilotPolicy } from '../../../shared/contract/autopilots.ts';
import { inputFault } from '../../../shared/faults/input-faults.ts';
import { parseUsd } from '../../../shared/money/money.ts';
import type { KeyPolicy, SpendCap } from '../../base/handler.ts';

/** The cap on what an autopilot's model calls cost; null without one. Fails with `invalid_request` for a malformed amount. */
export function modelSpendCapOf({ modelSpendCap }: AutopilotPolicy): SpendCap | null {
  if (!modelSpendCap) return null;
  const amount = parseUsd(modelSpendCap.usd);
  if (amount === undefined || amount < 0)
    throw inputFault('policy.modelSpendCap.usd', 'must be dollars, like "2.50", at most 9000000');
  return { amount, period: modelSpendCap.period };
}

/** The cap as the policy of the autopilot's model calls, within that of the key that started the run. */
export function spendingPolicyOf(
  { id, policy }: { id: string; policy: AutopilotPolicy },
  parent: KeyPolicy | undefined,
): KeyPolicy {
  const spendCap = modelSpendCapOf(policy);
  const others = { maxPrice: null, models: null, requestsPerMinute: null, expiresAt: null };
  return {
    keyId: id,
    isAutopilot: true,
    parent,
    models: null,
    actions: null,
    limits: spendCap && { ...others, spendCap },
    // The defaults that a key has for its calls.
    defaults: parent?.defaults ?? null,
    get isRestricted() {
      return spendCap !== null || (parent?.isRestricted ?? false);
    },
  };
}
