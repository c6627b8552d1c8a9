import type { Connection } from './engine/connection.ts';

const updates = [
  `UPDATE keys SET limits = json_set(limits, '$.expiresAt', @at)
   WHERE limits ->> '$.expiresAt' > @at AND limits ->> '$.expiresAt' <= @seen`,
  ...['tokens', 'login_codes', 'invitations'].map(
    (table) => `UPDATE ${table} SET expires_at = @at WHERE expires_at > @at AND expires_at <= @seen`,
  ),
  // Holders append earlier expiries to what was sold, which only the token has.
  `UPDATE paywall_challenges SET seen_at = @seen
   WHERE expires_at > @at AND (seen_at IS NULL OR seen_at < @seen)`,
  // What was paid for a call, and came too late for it, is credit.
  `UPDATE payment_challenges SET expires_at = @at
   WHERE used_at IS NULL AND expires_at > @at AND expires_at <= @seen`,
];

/**
 * Lets credentials that had expired by the time `seen` be expired at the earlier time `at`, too, to which the clock was set back.
 * Both are milliseconds since 1970.
 */
export function expireCredentials(database: Connection, times: { at: number; seen: number }): void {
  for (const update of updates) database.prepare(update).run(times);
}
