import type { RouteCaps } from '../../routing/index.ts';
import { invalid } from '../fault.ts';
import { uncountedFee } from '../pricing/tool-fees.ts';
import { capsOf, policyOf } from './restraints.ts';
import type { ModelCall } from './start-call.ts';

/** Members by which resellers choose other models and hosts, at other prices, or add work of their own. */
const choosing = ['models', 'route', 'provider', 'providerOptions', 'plugins', 'preset'];
/** At the price that is known, or below it. */
const usualTiers = new Set(['auto', 'default', 'standard', 'standard_only', 'flex']);

export interface EnforcedPolicy {
  caps: RouteCaps;
  isPrepaid: boolean;
}

/**
 * What holds for a call by its key and its workspace. Fails with `invalid_request` where the body, which a provider of
 * its own format gets as it is, would have the provider step around it.
 */
export function enforceKeyPolicy(
  { isPrepaid }: { isPrepaid?: ((workspaceId: string) => boolean) | undefined },
  { caller, inference, options }: Pick<ModelCall, 'caller' | 'inference' | 'options'>,
): EnforcedPolicy {
  const { body } = inference;
  const held = {
    caps: capsOf(policyOf(caller)),
    isPrepaid: isPrepaid?.(caller.workspaceId) ?? false,
  };
  const isPaying = isHeldToMoney(held) && options.pay !== 'mine';
  if (isPaying || (held.caps.models?.length ?? 0) > 0) {
    const chosen = choosing.find((name) => body[name] !== undefined && body[name] !== null);
    if (chosen)
      throw invalid(chosen, 'Who is limited leaves it to the gateway who answers, and at what price.');
  }
  const { service_tier: tier } = body;
  if (isPaying && tier !== undefined && tier !== null && !usualTiers.has(String(tier))) {
    throw invalid('service_tier', 'Who is limited is answered at the usual price.');
  }
  const fee = isPaying ? uncountedFee(inference) : undefined;
  if (fee) {
    throw invalid(
      fee.param,
      `Nobody can count what ${fee.what} costs: who is limited leaves it out, or pays with a key of their own.`,
    );
  }
  return held;
}

function isHeldToMoney({ caps, isPrepaid }: EnforcedPolicy): boolean {
  const { input = null, output = null } = caps.maxPrice ?? {};
  return isPrepaid || caps.isSpendCapped === true || input !== null || output !== null;
}
