import type { Kinds } from './field-columns.tsx';

/** The classes of the columns of calls: narrow windows show the state, the model and the cost. */
export const callKinds: Kinds = {
  created_at: 'time',
  completed_at: 'time',
  status: 'state',
  model: 'wide',
  cost_usd: 'number cost',
  total_ms: 'number total',
};

/** What narrow windows show below the state, and below the cost. */
export const liveSeconds = { status: 'created_at', cost_usd: 'total_ms' };
export const endedSeconds = { status: 'completed_at', cost_usd: 'total_ms' };
