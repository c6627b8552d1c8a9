import type { Irremovable, ProfileChanges, Removed } from '../../../features/profile/profile-store.ts';
import type { Connection } from '../engine/connection.ts';
import { passedOnScopes } from '../keys/inherited-scopes.ts';

/** What changes about a person, and their end. */
export function profileCommands(database: Connection) {
  return {
    'profile.change': ({
      userId,
      changes,
      at,
    }: {
      userId: string;
      changes: ProfileChanges;
      at: number;
    }): 'email' | 'handle' | undefined => {
      const { name, email, avatar, handle } = changes;
      const isTaken = (where: string, text: string) =>
        database.prepare(`SELECT 1 FROM users WHERE ${where} AND id <> ?`).get(text, userId) !== undefined;
      if (typeof email === 'string' && isTaken('lower(email) = lower(?)', email)) return 'email';
      if (handle !== undefined && isTaken('handle = ?', handle)) return 'handle';
      database
        .prepare(
          `UPDATE users SET name = coalesce(?, name), email = coalesce(?, email), avatar = coalesce(?, avatar),
            handle = coalesce(?, handle), updated_at = ? WHERE id = ?`,
        )
        .run(name ?? null, email ?? null, avatar ?? null, handle ?? null, at, userId);
      return undefined;
    },

    'profile.remove': ({ userId, at }: { userId: string; at: number }): Removed | Irremovable => {
      const first = database
        .prepare<[], string>('SELECT id FROM users ORDER BY number LIMIT 1')
        .pluck()
        .get();
      if (first === userId) return 'host-owner';
      const slug = database.prepare<[string, string], string>(lastOwnerOf).pluck().get(userId, userId);
      if (slug !== undefined) return { lastOwnerOf: slug };
      const removed = {
        credentials: endCredentials(database, userId, at),
        workspaces: leaveAll(database, userId),
      };
      for (const sql of forgetting) database.prepare(sql).run({ userId, at });
      return removed;
    },
  };
}

/** A workspace that has other members but no other owner. */
const lastOwnerOf = `SELECT w.slug FROM members m JOIN workspaces w ON w.id = m.workspace_id
  WHERE m.user_id = ? AND m.role = 'owner'
    AND EXISTS (SELECT 1 FROM members o WHERE o.workspace_id = m.workspace_id AND o.user_id <> m.user_id)
    AND NOT EXISTS (SELECT 1 FROM members o WHERE o.workspace_id = m.workspace_id AND o.role = 'owner'
      AND o.user_id <> ?)`;

/** The keys of workspaces that go on pass to their first owner; the others end, with every login and token. */
function endCredentials(database: Connection, userId: string, at: number): string[] {
  database
    .prepare(
      `UPDATE keys SET owner_id = heir.user_id, scopes = ${passedOnScopes}
      FROM (SELECT k.id, (SELECT m.user_id FROM members m WHERE m.workspace_id = k.workspace_id
        AND m.role = 'owner' AND m.user_id <> @userId ORDER BY m.joined_at, m.user_id LIMIT 1) AS user_id
        FROM keys k WHERE k.owner_id = @userId) heir
      WHERE heir.id = keys.id AND heir.user_id IS NOT NULL`,
    )
    .run({ userId });
  const end = (table: string, column: string) =>
    database
      .prepare<object, string>(
        `UPDATE ${table} SET revoked_at = @at WHERE ${column} = @userId AND revoked_at IS NULL RETURNING id`,
      )
      .pluck()
      .all({ userId, at });
  return [...end('keys', 'owner_id'), ...end('logins', 'user_id'), ...end('tokens', 'user_id')];
}

function leaveAll(database: Connection, userId: string): string[] {
  return database
    .prepare<[string], string>('DELETE FROM members WHERE user_id = ? RETURNING workspace_id')
    .pluck()
    .all(userId);
}

const forgetting = [
  'DELETE FROM login_codes WHERE user_id = @userId',
  `UPDATE invitations SET revoked_at = @at
    WHERE created_by = @userId AND accepted_at IS NULL AND revoked_at IS NULL`,
  'DELETE FROM shouts WHERE author = (SELECT number FROM users WHERE id = @userId)',
  `UPDATE autopilots SET status = 'archived', updated_at = @at
    WHERE status <> 'archived' AND owner = (SELECT number FROM users WHERE id = @userId)`,
  `UPDATE users SET handle = 'deleted:' || number, name = 'Deleted user', email = NULL, avatar = '',
    updated_at = @at, deleted_at = @at WHERE id = @userId`,
];
