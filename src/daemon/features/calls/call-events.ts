import { formatUsd } from '../../../shared/money/money.ts';
import { credentialId } from '../../base/handler.ts';
import type { EventFeed } from '../events/index.ts';
import type { CallObserver, ModelCall } from './call-observer.ts';
import { limitHit } from './key-policy.ts';

/** Publishes the events of running calls and `limit.reached`, and announces the stored event of a settlement. */
export function callEvents(feed: Pick<EventFeed, 'publish' | 'announce'>): CallObserver {
  const publish = (type: string, call: ModelCall, details: Record<string, unknown>) => {
    const { caller, requestId, endpoint } = call;
    const data = { request_id: requestId, endpoint, key: credentialId(caller), ...details };
    feed.publish({ type, workspaceId: caller.workspaceId, data });
  };
  return {
    onQueued: ({ call, model, limit, position }) =>
      publish('request.queued', call, { model, limit: limit.kind, name: limit.name, position }),
    onAdmitted: ({ call, model }) =>
      publish('request.started', call, { model, streamed: call.inference.stream }),
    onRouted: ({ call, model, provider, attempt }) =>
      publish('request.routed', call, { model, provider, attempt }),
    onProgress: (call, { model, provider, tokens, cost, ttftMs }) =>
      publish('request.progress', call, {
        model,
        provider,
        input_tokens: tokens.input,
        output_tokens: tokens.output,
        cost_usd: cost === null ? null : formatUsd(cost),
        ttft_ms: ttftMs,
      }),
    onSettled: (usage) => feed.announce(usage),
    onRejected({ call, error }) {
      const limit = limitHit(error);
      if (limit !== undefined) publish('limit.reached', call, { param: limit, model: call.inference.model });
    },
  };
}
