import type { NewEvent } from '../../events/index.ts';
import type { Route } from '../../routing/index.ts';
import type { InferenceDeps, ModelCall } from './start-call.ts';

export function tellRouted(
  deps: InferenceDeps,
  call: ModelCall,
  { route, attempt }: { route: Route; attempt: number },
): void {
  const data = { model: route.offer.model, provider: route.provider, attempt };
  deps.publish(liveEvent(deps, 'request.routed', call, data));
}

/** What is told of a call to those who watch while it runs, and to nobody later. */
export function liveEvent(
  { world }: Pick<InferenceDeps, 'world'>,
  type: string,
  { caller, requestId, endpoint }: ModelCall,
  data: Record<string, unknown>,
): NewEvent {
  const key = caller.kind === 'key' ? caller.keyId : null;
  return {
    type,
    workspaceId: caller.workspaceId,
    at: world.now(),
    data: { request_id: requestId, endpoint, key, ...data },
  };
}
