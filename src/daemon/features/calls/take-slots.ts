import { ApiError } from '../../../shared/errors.ts';
import { credentialId } from '../../base/handler.ts';
import type { CallSlots } from '../concurrency/index.ts';
import type { Route } from '../routing/index.ts';
import type { CallDeps } from './call-deps.ts';
import { type ModelCall, observersOf } from './call-observer.ts';
import { cancellationError, watchCancellation } from './cancellation.ts';
import { policyOf } from './key-policy.ts';

/** The client of a call left while it waited. */
export class ClientLeft extends ApiError {
  constructor() {
    super('unavailable', { message: 'The client left.' });
  }
}

/**
 * Waits until the limits of a call's key, and those of one of its routes, let it start; undefined if nothing limits it. Whatever
 * ends a running call ends the wait, too. Fails with `rate_limited` if it may not wait, or not for longer.
 */
export async function takeSlots(
  deps: CallDeps,
  call: ModelCall,
  { routes, startedAt }: { routes: readonly Route[]; startedAt: number },
): Promise<CallSlots | undefined> {
  const { caller, inference } = call;
  const { abort, canceled, release } = watchCancellation(call, deps.running);
  try {
    return await deps.concurrency?.enter({
      policy: policyOf(caller),
      owner: credentialId(caller) ?? `${caller.kind} ${caller.workspaceId}`,
      routes,
      startedAt,
      signal: abort.signal,
      onQueued({ limit, position }) {
        const model = routes[0]?.offer.model ?? inference.model ?? null;
        for (const observer of observersOf(deps, call)) observer.onQueued?.({ call, model, limit, position });
      },
    });
  } catch (error) {
    const reason = canceled();
    if (reason === 'client-left') throw new ClientLeft();
    throw reason ? cancellationError(reason) : error;
  } finally {
    release();
  }
}
