import type { TraceView } from '../../../shared/contract/traces.ts';
import { sumOfUsd } from '../../../view/money.ts';

/** Loaded calls of one conversation as one row: its latest call, with the sums of all. */
export type GroupedCall = TraceView & { calls: number };

/** Rows by conversation, in the order of their latest calls; calls without one stay on their own. */
export function groupedByConversation(rows: readonly TraceView[]): GroupedCall[] {
  const groups = new Map<string, TraceView[]>();
  for (const row of rows) {
    const name = row.conversation === null ? `call ${row.request_id}` : `conversation ${row.conversation}`;
    const group = groups.get(name);
    if (group) group.push(row);
    else groups.set(name, [row]);
  }
  return [...groups.values()].map(grouped);
}

function grouped(calls: readonly TraceView[]): GroupedCall {
  const [latest] = calls as [TraceView];
  if (calls.length === 1) return { ...latest, calls: 1 };
  const total = (of: (call: TraceView) => number) => calls.reduce((sum, call) => sum + of(call), 0);
  const costs = calls.flatMap(({ cost }) => (cost ? [cost.total_usd] : []));
  return {
    ...latest,
    calls: calls.length,
    tokens: {
      input: total(({ tokens }) => tokens.input),
      cached_input: total(({ tokens }) => tokens.cached_input),
      cache_write: total(({ tokens }) => tokens.cache_write),
      output: total(({ tokens }) => tokens.output),
      reasoning: total(({ tokens }) => tokens.reasoning),
    },
    // The sum is known only if each is.
    cost:
      latest.cost && costs.length === calls.length ? { ...latest.cost, total_usd: sumOfUsd(costs) } : null,
    timings: {
      ...latest.timings,
      first_token_ms: null,
      total_ms: total(({ timings }) => timings.total_ms),
    },
  };
}
