import type { KeyLimits } from '../../base/handler.ts';
import { aheadMsMax, type Refusal, type SetBack } from '../passed-time.ts';
import type { Connection } from './engine/connection.ts';
import { readMeta, writeMeta } from './engine/meta.ts';

/** What has expired of that which daemons keep in memory. */
export interface Expired {
  keys: { workspaceId: string; keyId: string }[];
  /** Logins and access tokens. */
  ended: string[];
}

const nothing: Expired = { keys: [], ended: [] };

interface Range {
  /** What expires after this time, and at or before `until`, has expired at `at`. */
  after: number;
  until: number;
  at: number;
}

const isOver = 'expires_at > @after AND expires_at <= @until';

// Not invoices: they can be paid until the time in them, and are followed until then.
const updates = [
  `UPDATE login_codes SET expires_at = @at WHERE ${isOver}`,
  `UPDATE invitations SET expires_at = @at WHERE ${isOver}`,
  // Holders append earlier expiries to what was sold, which only the token has.
  `UPDATE paywall_challenges SET seen_at = @until
   WHERE expires_at > @after AND (seen_at IS NULL OR seen_at < @until)`,
  // What was paid for a call, and came too late for it, is credit.
  `UPDATE payment_challenges SET expires_at = @at WHERE used_at IS NULL AND ${isOver}`,
];

const endings = [
  `UPDATE tokens SET expires_at = @at WHERE ${isOver} RETURNING id`,
  `UPDATE logins SET revoked_at = @at WHERE revoked_at IS NULL
     AND coalesce(last_used_at, created_at) + idle_ms > @after AND coalesce(last_used_at, created_at) + idle_ms <= @until
   RETURNING id`,
];

const ofKey = 'RETURNING workspace_id AS "workspaceId", key_id AS "keyId"';
const endSecrets = `UPDATE previous_secrets SET ends_at = @at WHERE ends_at > @after AND ends_at <= @until ${ofKey}`;
const endSecret = `UPDATE previous_secrets SET ends_at = @at WHERE digest = @id AND ends_at = @expiry ${ofKey}`;

const endCodes = `DELETE FROM login_codes WHERE used_at IS NULL
  AND maker_id IN (SELECT id FROM logins WHERE revoked_at = @at AND idle_ms IS NOT NULL)`;

/**
 * Lets credentials that had expired by the time `seen` be expired at the earlier time `at`, too, to which the clock was set back. Of
 * several threads whose clock it is, the first one does so; what was made since is left alone.
 */
export function setClockBack(database: Connection, { seen, at }: SetBack): Expired {
  const last = readMeta(database, 'last_seen') ?? 0;
  const sinceLast = at - (readMeta(database, 'set_back_at') ?? 0);
  if (seen - at <= aheadMsMax && sinceLast >= 0 && sinceLast <= aheadMsMax) return nothing;
  // After it was done, the times of the other threads are far ahead of the one that is stored.
  const until = seen - last > aheadMsMax ? last : Math.max(seen, last);
  if (at >= until) return nothing;
  writeMeta(database, 'last_seen', at);
  writeMeta(database, 'set_back_at', at);
  const range = { after: at, until, at };
  const keys = expireKeys(database, { limited: limitedKeys(database), range });
  keys.push(...database.prepare<[Range], Expired['keys'][number]>(endSecrets).all(range));
  const ended = end(database, endings, range);
  for (const update of updates) database.prepare(update).run(range);
  return { keys, ended };
}

const refusals = [
  'UPDATE tokens SET expires_at = @at WHERE id = @id AND expires_at = @expiry RETURNING id',
  'UPDATE logins SET revoked_at = @at WHERE id = @id AND revoked_at IS NULL AND idle_ms IS NOT NULL RETURNING id',
];

/** Lets a credential that was refused for its expiry be expired at an earlier time, too. */
export function expireRefused(database: Connection, { id, expiry, at }: Refusal): Expired {
  const keys = expireKeys(database, {
    limited: limitedKeys(database, 'AND id = ?', id),
    range: { after: expiry - 1, until: expiry, at },
  });
  keys.push(...database.prepare<[Refusal], Expired['keys'][number]>(endSecret).all({ id, expiry, at }));
  return { keys, ended: end(database, refusals, { id, expiry, at }) };
}

/** Runs statements that end logins and tokens, whose ids it returns. */
function end<Data extends { at: number }>(database: Connection, statements: string[], data: Data): string[] {
  const ended = statements.flatMap((sql) => database.prepare<[Data], string>(sql).pluck().all(data));
  database.prepare<[{ at: number }]>(endCodes).run({ at: data.at });
  return ended;
}

interface LimitedKey {
  id: string;
  workspaceId: string;
  limits: string;
}

function limitedKeys(database: Connection, which = '', ...values: string[]): LimitedKey[] {
  return database
    .prepare<string[], LimitedKey>(
      `SELECT id, workspace_id AS "workspaceId", limits FROM keys WHERE limits IS NOT NULL ${which}`,
    )
    .all(...values);
}

/** Keys have their expiry among other limits. */
function expireKeys(
  database: Connection,
  { limited, range: { after, until, at } }: { limited: LimitedKey[]; range: Range },
): Expired['keys'] {
  const update = database.prepare<[string, string]>('UPDATE keys SET limits = ? WHERE id = ?');
  return limited.flatMap(({ id, workspaceId, limits }) => {
    const { expiresAt, ...others } = JSON.parse(limits) as KeyLimits;
    if (typeof expiresAt !== 'number' || expiresAt <= after || expiresAt > until) return [];
    update.run(JSON.stringify({ ...others, expiresAt: at }), id);
    return [{ workspaceId, keyId: id }];
  });
}
