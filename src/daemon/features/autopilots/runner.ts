import { ApiError } from '../../../shared/errors.ts';
import {
  type ActingUser,
  type AutopilotCaller,
  actingUser,
  type Caller,
  credentialId,
  identified,
  type KeyPolicy,
} from '../../base/handler.ts';
import type { Authenticator } from '../keys/index.ts';
import type { Workspaces } from '../workspaces/index.ts';
import { mayPay } from './payment-permission.ts';
import { spendingPolicyOf } from './spending-cap.ts';
import type { AutopilotRecord, ScheduledBy } from './store.ts';

/** For whom an autopilot runs: the credential that started the run, or that set its schedule. */
export interface Runner extends ActingUser {
  /** That of the key, login or token; undefined if a schedule outlived the login that set it. */
  credentialId: string | undefined;
  /** The limits of a key. */
  keyPolicy: KeyPolicy | undefined;
  /** Whether it may pay from the wallet. */
  mayPay: boolean;
  revoked: AbortSignal;
}

/** The caller as one who runs autopilots. Fails with `out_of_scope` for a key that may not call models in threads. */
export function runnerOf(caller: Caller): Runner {
  if (caller.kind === 'key') {
    for (const scope of ['responses', 'threads'] as const) {
      if (caller.scopes.has(scope)) continue;
      throw new ApiError('out_of_scope', { message: `The key lacks the scope \`${scope}\`.` });
    }
  }
  return {
    ...actingUser(caller),
    credentialId: caller.kind === 'token' ? caller.tokenId : credentialId(identified(caller)),
    keyPolicy: caller.kind === 'key' ? caller.policy : undefined,
    mayPay: mayPay(caller),
  };
}

interface RunnerSources {
  authentication: Pick<Authenticator, 'callerOf' | 'membershipEnd'>;
  workspaces: Pick<Workspaces, 'roleOf'>;
}

/** For whom a schedule runs. Fails with an ApiError if the key or token has ended, or the user left the workspace. */
export async function scheduledRunner(
  { userId, workspaceId, credentialId, mayPay }: ScheduledBy,
  { authentication, workspaces }: RunnerSources,
): Promise<Runner> {
  if (credentialId !== null) {
    const caller = await authentication.callerOf({ workspaceId, userId, id: credentialId });
    return runnerOf(caller);
  }
  if ((await workspaces.roleOf(workspaceId, userId)) === undefined) throw new ApiError('unauthenticated');
  const revoked = authentication.membershipEnd(workspaceId, userId);
  return { userId, workspaceId, credentialId: undefined, keyPolicy: undefined, mayPay, revoked };
}

/** The autopilot as the caller of models, within its present spending cap. */
export function callerFor(
  autopilot: Pick<AutopilotRecord, 'id' | 'policy'>,
  { userId, workspaceId, credentialId: id, keyPolicy, revoked }: Runner,
): AutopilotCaller {
  return {
    kind: 'autopilot',
    autopilotId: autopilot.id,
    credentialId: id ?? autopilot.id,
    userId,
    workspaceId,
    policy: spendingPolicyOf(autopilot, keyPolicy),
    revoked,
  };
}
