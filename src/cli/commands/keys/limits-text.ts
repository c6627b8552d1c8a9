import type { Limits } from '../../../shared/contract/key-limits.ts';

/** What a key is limited to, on one line; empty when nothing is. */
export function limitsText({
  spend_cap,
  max_price,
  models,
  requests_per_minute,
  expires_at,
}: Limits): string {
  const parts: string[] = [];
  if (spend_cap) parts.push(`$${spend_cap.usd} per ${spend_cap.period}`);
  if (max_price?.input) parts.push(`input ≤ $${max_price.input}`);
  if (max_price?.output) parts.push(`output ≤ $${max_price.output}`);
  if (models) parts.push(`models ${models.join(' ')}`);
  if (requests_per_minute) parts.push(`${requests_per_minute} requests per minute`);
  if (expires_at) parts.push(`until ${expires_at}`);
  return parts.join(', ');
}
