import type { KeyLimits } from '../../handler.ts';
import type { SetBack } from '../passed-time.ts';
import type { Connection } from './engine/connection.ts';
import { readMeta, writeMeta } from './engine/meta.ts';

/** What has expired of that which daemons keep in memory. */
export interface Expired {
  keys: { workspaceId: string; keyId: string }[];
  /** Logins and access tokens. */
  ended: string[];
}

const nothing: Expired = { keys: [], ended: [] };

const isOver = 'expires_at > @at AND expires_at <= @seen';

const updates = [
  `UPDATE login_codes SET expires_at = @at WHERE ${isOver}`,
  `UPDATE invitations SET expires_at = @at WHERE ${isOver}`,
  `UPDATE invoices SET expires_at = @at WHERE state = 'open' AND ${isOver}`,
  // Holders append earlier expiries to what was sold, which only the token has.
  `UPDATE paywall_challenges SET seen_at = @seen
   WHERE expires_at > @at AND (seen_at IS NULL OR seen_at < @seen)`,
  // What was paid for a call, and came too late for it, is credit.
  `UPDATE payment_challenges SET expires_at = @at WHERE used_at IS NULL AND ${isOver}`,
  // Of logins that end now.
  `DELETE FROM login_codes WHERE used_at IS NULL
     AND maker_id IN (SELECT id FROM logins WHERE revoked_at = @at AND idle_ms IS NOT NULL)`,
];

const endings = [
  `UPDATE tokens SET expires_at = @at WHERE ${isOver} RETURNING id`,
  `UPDATE logins SET revoked_at = @at WHERE revoked_at IS NULL
     AND coalesce(last_used_at, created_at) + idle_ms > @at AND coalesce(last_used_at, created_at) + idle_ms <= @seen
   RETURNING id`,
];

/** Two clocks of one machine are read less apart than this. */
const sameMs = 60_000;

/**
 * Lets credentials that had expired by the time `seen` be expired at the earlier time `at`, too, to which the clock was set back. Of
 * several threads whose clock it is, the first one does so.
 */
export function expireCredentials(database: Connection, times: SetBack): Expired {
  const { at, seen } = times;
  const last = readMeta(database, 'last_seen') ?? 0;
  const isDone = (readMeta(database, 'set_back_from') ?? 0) >= seen - sameMs && last < seen - 2 * sameMs;
  if (isDone) return nothing;
  writeMeta(database, 'set_back_from', seen);
  writeMeta(database, 'last_seen', at);
  const keys = expireKeys(database, times);
  const ended = endings.flatMap((ending) => database.prepare<[SetBack], string>(ending).pluck().all(times));
  for (const update of updates) database.prepare(update).run(times);
  return { keys, ended };
}

/** Keys have their expiry among other limits. */
function expireKeys(database: Connection, { at, seen }: SetBack): Expired['keys'] {
  const limited = database
    .prepare<[], { id: string; workspaceId: string; limits: string }>(
      'SELECT id, workspace_id AS "workspaceId", limits FROM keys WHERE limits IS NOT NULL',
    )
    .all();
  const update = database.prepare<[string, string]>('UPDATE keys SET limits = ? WHERE id = ?');
  return limited.flatMap(({ id, workspaceId, limits }) => {
    const { expiresAt, ...others } = JSON.parse(limits) as KeyLimits;
    if (typeof expiresAt !== 'number' || expiresAt <= at || expiresAt > seen) return [];
    update.run(JSON.stringify({ ...others, expiresAt: at }), id);
    return [{ workspaceId, keyId: id }];
  });
}
