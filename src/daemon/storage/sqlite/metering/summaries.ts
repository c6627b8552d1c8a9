import { utcDay } from '../../../../shared/time.ts';
import type { ServedDay, UsageFilter, UsageGroup } from '../../../features/metering/store.ts';
import type { Connection } from '../engine/connection.ts';

export function servedDays(database: Connection): ServedDay[] {
  type Row = Omit<ServedDay, 'ownKey'> & { ownKey: number };
  return database
    .prepare<[], Row>(
      `SELECT day, caller, own_key AS ownKey, tier, requests, input_tokens AS inputTokens,
         output_tokens AS outputTokens
       FROM served_days ORDER BY day, caller, own_key, tier`,
    )
    .all()
    .map((row) => ({ ...row, ownKey: row.ownKey === 1 }));
}

interface Sums {
  name: string | number | null;
  requests: number;
  unpriced: number;
  input: number;
  cachedInput: number;
  cacheWrite: number;
  output: number;
  reasoning: number;
  provider: number;
  margin: number;
  charged: number;
}

export function summarizeUsage(database: Connection, filter: UsageFilter): UsageGroup[] {
  const { keyId = null, model = null, ...others } = filter;
  const rows = database
    .prepare<[object], Sums>(
      `SELECT CASE @groupBy WHEN 'day' THEN completed_at / 86400000 WHEN 'model' THEN model ELSE key_id END AS name,
         count(*) AS requests, count(*) - count(cost_provider) AS unpriced,
         sum(input) AS input, sum(cached_input) AS cachedInput, sum(cache_write) AS cacheWrite,
         sum(output) AS output, sum(reasoning) AS reasoning, coalesce(sum(cost_provider), 0) AS provider,
         coalesce(sum(cost_margin), 0) AS margin, sum(charged) AS charged
       FROM usage
       WHERE workspace_id = @workspaceId AND completed_at >= @since AND completed_at < @until
         AND (@keyId IS NULL OR key_id = @keyId) AND (@model IS NULL OR model = @model)
       GROUP BY name ORDER BY name IS NULL, name`,
    )
    .all({ ...others, keyId, model });
  return rows.map(({ name, requests, unpriced, provider, margin, charged, ...tokens }) => ({
    group: typeof name === 'number' ? utcDay(name * 86_400_000) : name,
    requests,
    unpriced,
    tokens,
    cost: { provider, margin, total: provider + margin },
    charged,
  }));
}
