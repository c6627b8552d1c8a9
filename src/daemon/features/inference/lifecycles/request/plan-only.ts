import type { Identified } from '../../../../base/handler.ts';
import { capableRoutes, enforceKeyPolicy, inputTokens, type ServiceOptions } from '../../../calls/index.ts';
import type { Inference } from '../../../upstreams/neutral.ts';
import type { Subscription } from '../../../upstreams/subscription.ts';
import type { InferenceDeps } from '../inference-deps.ts';

export interface Planned {
  caller: Identified;
  inference: Inference;
  options: ServiceOptions;
}

/** The routes of a call that is planned, but not made. Fails like the call itself for its key, its model and its contents. */
export async function planOnly(
  deps: InferenceDeps,
  { caller, inference, options }: Planned,
  subscription?: Subscription,
) {
  const policy = enforceKeyPolicy(deps, { caller, inference, options });
  const input = inputTokens(inference);
  const planned = await deps.router.plan({
    inference,
    inputTokensMax: input.most,
    // Of a cached answer no one knows how long it stays.
    options: { ...options, cache: 'off' },
    workspaceId: caller.workspaceId,
    subscription,
    ...policy,
  });
  return { routes: capableRoutes(planned, inference, input.most), input };
}
