import type { KeyLimits } from '../../handler.ts';
import type { Connection } from './engine/connection.ts';

const updates = [
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
  expireKeys(database, times);
  for (const update of updates) database.prepare(update).run(times);
}

/** Keys have their expiry among other limits. */
function expireKeys(database: Connection, { at, seen }: { at: number; seen: number }): void {
  const limited = database.prepare<[], { id: string; limits: string }>(
    'SELECT id, limits FROM keys WHERE limits IS NOT NULL',
  );
  const update = database.prepare<[string, string]>('UPDATE keys SET limits = ? WHERE id = ?');
  for (const { id, limits } of limited.all()) {
    const { expiresAt, ...others } = JSON.parse(limits) as KeyLimits;
    if (typeof expiresAt === 'number' && expiresAt > at && expiresAt <= seen)
      update.run(JSON.stringify({ ...others, expiresAt: at }), id);
  }
}
