import type { Endpoint } from '../../shared/contract/endpoint.ts';
import { ApiError } from '../../shared/errors.ts';
import type { Caller } from '../base/handler.ts';
import type { Authenticator } from '../features/keys/index.ts';
import { carriesPayment, type PaidCalls } from '../features/payment-required/index.ts';
import type { Workspaces } from '../features/workspaces/index.ts';

interface CallerSources {
  authentication: Authenticator;
  workspaces: Workspaces;
  /** Undefined where calls cannot be paid. */
  paidCalls: Pick<PaidCalls, 'issuedTo'> | undefined;
}

/** Resolves the caller of a request, acting in the workspace that the request names. */
export function createAuthenticate({ authentication, workspaces, paidCalls }: CallerSources) {
  const byPayment = async (authorization: string): Promise<Caller> => {
    const credential = await paidCalls?.issuedTo(authorization);
    if (credential === undefined) throw new ApiError('unauthenticated');
    return await authentication.callerOf(credential);
  };
  return (
    authorization: string | undefined,
    { endpoint, workspace }: { endpoint: Endpoint | undefined; workspace?: string | string[] | undefined },
  ) => {
    const isPayment = endpoint?.payable && authorization !== undefined && carriesPayment({ authorization });
    const caller = isPayment ? byPayment(authorization) : authentication.authenticate(authorization);
    // Most requests name no workspace and need no lookup.
    if (workspace === undefined) return caller;
    return workspaces.actIn(caller, String(workspace), authentication.inWorkspace);
  };
}
