import type { Query } from '../contract/endpoint.ts';
import type { listTraces, TraceView } from '../contract/traces.ts';

type TraceQuery = Query<typeof listTraces>;

/** A rejected call reached no provider: it left nothing in a cache, and its successor repeats it. */
const answered = 'completed,incomplete,failed,canceled,interrupted';

/**
 * How to find the call that a call followed: each query lists it first, if it finds any; the best one comes first. It is the call
 * of the same conversation, or without one of the same key, with the same model, that had ended when this one began: agents
 * make several calls at a time, to other models for small tasks.
 */
export function previousCallQueries({
  conversation,
  endpoint,
  model,
  key,
  client,
  created_at: until,
}: Pick<TraceView, 'conversation' | 'endpoint' | 'model' | 'key' | 'client' | 'created_at'>): TraceQuery[] {
  const before: TraceQuery = { status: answered, endpoint, until };
  if (model !== null) before.model = model;
  if (conversation !== null)
    return [
      { ...before, conversation },
      { status: answered, conversation, until },
    ];
  if (key !== null) before.key = key;
  return [client === null ? before : { ...before, client }];
}
