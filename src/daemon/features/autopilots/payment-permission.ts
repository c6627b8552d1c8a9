import type { AutopilotPolicy } from '../../../shared/contract/autopilots.ts';
import { ApiError } from '../../../shared/errors.ts';
import type { Caller } from '../../base/handler.ts';
import { coversHost } from './allowed-hosts.ts';
import { toolsOf } from './http-tools.ts';
import { modelSpendCapOf } from './spending-cap.ts';

/** Whether a credential may pay from the wallet by itself. */
export function mayPay(caller: Caller): boolean {
  if (caller.kind === 'key') return caller.scopes.has('billing');
  if (caller.kind === 'token') return caller.abilities.has('*') || caller.abilities.has('payments');
  return true;
}

/**
 * Fails with `out_of_scope` if a change of the policy lets the autopilot pay more, or pay others, than before, and the
 * caller may not pay: later runs may be started by those who may.
 */
export function requireMayRaise(caller: Caller, before: AutopilotPolicy, after: AutopilotPolicy): void {
  const raised = raisedMember(before, after);
  if (raised === undefined || mayPay(caller)) return;
  const param = `policy.${raised}`;
  const message = `\`${param}\` can only be raised by a credential that may pay: a key with the scope \`billing\`, or an access token with the ability \`payments\`.`;
  throw new ApiError('out_of_scope', { param, message, extra: { errors: { [param]: [message] } } });
}

/** Whether a cap on model costs is lifted, raised, or of another period, in which it may allow more. */
function raisesCap(before: AutopilotPolicy, after: AutopilotPolicy): boolean {
  const [old, next] = [modelSpendCapOf(before), modelSpendCapOf(after)];
  if (old === null) return false;
  return next === null || next.period !== old.period || next.amount > old.amount;
}

/** The first member by which a policy allows payments that the one before did not. */
function raisedMember(before: AutopilotPolicy, after: AutopilotPolicy): keyof AutopilotPolicy | undefined {
  for (const name of ['l402MaxSpendMsatsPerCall', 'l402MaxSpendMsatsPerDay'] as const)
    if ((after[name] ?? 0) > (before[name] ?? 0)) return name;
  if (raisesCap(before, after)) return 'modelSpendCap';
  if (after.l402RequireApproval === false && before.l402RequireApproval !== false)
    return 'l402RequireApproval';
  const allowed = before.l402AllowedHosts ?? [];
  const isNew = (host: string) => !allowed.some((known) => coversHost(known, host));
  if (after.l402AllowedHosts?.some(isNew)) return 'l402AllowedHosts';
  const hasTool = (policy: AutopilotPolicy) => toolsOf(policy).includes('paid_http_request');
  if (!hasTool(after) || hasTool(before)) return undefined;
  return before.toolDenylist?.includes('paid_http_request') ? 'toolDenylist' : 'toolAllowlist';
}
