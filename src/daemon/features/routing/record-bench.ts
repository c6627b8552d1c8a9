import type { EventFeed } from '../events/index.ts';
import { accountKey, type Bench } from './health.ts';

/** Records that a provider is left out: for the host, or for the workspace whose own key failed. */
export function recordBench(
  events: Pick<EventFeed, 'record'>,
  workspaceId: string | undefined,
  bench: Bench,
  at: number,
): void {
  if (workspaceId === undefined) return;
  const { provider, model = null, reason, retryAfterMs } = bench;
  const key = accountKey(bench);
  const data = {
    provider,
    ...(key !== undefined && { key }),
    model,
    reason,
    retry_after_ms: Math.round(retryAfterMs),
  };
  void events.record({ type: 'provider.benched', workspaceId, at, data });
}
