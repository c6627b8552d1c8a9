import type { Kinds } from './field-columns.tsx';

/** The classes of the columns of calls: narrow windows show the state, the model, the cost and the total. */
export const callKinds: Kinds = {
  created_at: 'time',
  completed_at: 'time',
  status: 'state',
  model: 'wide',
  cost_usd: 'number cost',
  total_ms: 'number total',
};
