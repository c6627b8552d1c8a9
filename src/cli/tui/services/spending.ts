import type { Client } from '../../../shared/client.ts';
import type { Result } from '../../../shared/contract/endpoint.ts';
import type { listUsage as listUsageContract } from '../../../shared/contract/usage.ts';
import { sumUsage } from '../../commands/usage.ts';

/** The workspace's charges in dollars: one source for every screen. Unset until it is known. */
export interface Spending {
  today?: string;
  /** In the last `daysShown` days. */
  recent?: string;
}

export const daysShown = 30;
const dayMs = 86_400_000;

type Grouping = 'day' | 'model' | 'key';

interface UsageDeps {
  client: Client;
  now(): number;
  spending: Spending;
}

/** Sums up the usage of the last days, and updates `spending`. */
export async function loadUsage(
  { client, now, spending }: UsageDeps,
  grouping: Grouping,
): Promise<Result<typeof listUsageContract>> {
  const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  const since = dayOf(now() - (daysShown - 1) * dayMs);
  const usage = await sumUsage(client, { group_by: grouping, since });
  spending.recent = usage.total.charged_usd;
  if (grouping === 'day') {
    const today = usage.data.find(({ group }) => group === dayOf(now()));
    spending.today = today?.charged_usd ?? '0';
  }
  return usage;
}
