import type { Irremovable, ProfileChanges, Removed } from '../../../features/profile/store.ts';
import { autopilots } from '../autopilots/tables.ts';
import type { Connection } from '../engine/connection.ts';
import { and, asc, eq, isNull, ne, type Orm, type SQL, sql } from '../engine/orm.ts';
import { inheritedScopes, keys } from '../keys/tables.ts';
import { paywalls } from '../paywalls/tables.ts';
import { shouts } from '../shouts/store.ts';
import { tokens } from '../tokens/store.ts';
import { endCodesOf } from '../workspaces/code-writes.ts';
import { invitations, loginCodes, logins, members, users } from '../workspaces/tables.ts';

type Change = { userId: string; changes: ProfileChanges; at: number };
type Removal = { userId: string; at: number };

export function profileWrites(database: Connection, orm: Orm) {
  // A workspace with other members but no other owner.
  const solelyOwned = database
    .prepare<[Removal], string>(
      `SELECT w.slug FROM members m JOIN workspaces w ON w.id = m.workspace_id
       WHERE m.user_id = @userId AND m.role = 'owner'
         AND EXISTS (SELECT 1 FROM members o WHERE o.workspace_id = m.workspace_id AND o.user_id <> m.user_id)
         AND NOT EXISTS (SELECT 1 FROM members o WHERE o.workspace_id = m.workspace_id AND o.role = 'owner'
           AND o.user_id <> m.user_id)`,
    )
    .pluck();

  return {
    'profile.change': ({ userId, changes, at }: Change): 'email' | 'handle' | undefined => {
      const { name, email, avatar, handle } = changes;
      const isTaken = (by: SQL) =>
        orm
          .select({ id: users.id })
          .from(users)
          .where(and(by, ne(users.id, userId)))
          .get() !== undefined;
      if (
        typeof email === 'string' &&
        isTaken(sql`${users.email} is not null and lower(${users.email}) = ${asciiLower(email)}`)
      )
        return 'email';
      if (handle !== undefined && isTaken(eq(users.handle, handle))) return 'handle';
      orm
        .update(users)
        .set({ name, avatar, handle, updatedAt: at, ...(typeof email === 'string' && { email }) })
        .where(eq(users.id, userId))
        .run();
      return undefined;
    },

    'profile.remove': (removal: Removal): Removed | Irremovable => {
      const { userId } = removal;
      const first = orm.select({ id: users.id }).from(users).orderBy(asc(users.number)).limit(1).get();
      if (first?.id === userId) return 'host-owner';
      const slug = solelyOwned.get(removal);
      if (slug !== undefined) return { lastOwnerOf: slug };
      passOnKeys(database, userId);
      const credentials = endCredentials(orm, removal);
      endCodesOf(orm, credentials);
      const workspaces = orm
        .delete(members)
        .where(eq(members.userId, userId))
        .returning({ id: members.workspaceId })
        .all()
        .map(({ id }) => id);
      anonymize(orm, removal);
      return { credentials, workspaces };
    },
  };
}

/** Gives the user's keys in workspaces that stay to the first other owner there. */
function passOnKeys(database: Connection, userId: string): void {
  database
    .prepare(
      `UPDATE keys SET owner_id = heir.user_id, scopes = ${inheritedScopes}
      FROM (SELECT k.id, (SELECT m.user_id FROM members m WHERE m.workspace_id = k.workspace_id
        AND m.role = 'owner' AND m.user_id <> @userId ORDER BY m.joined_at, m.user_id LIMIT 1) AS user_id
        FROM keys k WHERE k.owner_id = @userId) heir
      WHERE heir.id = keys.id AND heir.user_id IS NOT NULL`,
    )
    .run({ userId });
}

/** Revokes the user's remaining keys, logins and tokens; returns their ids. */
function endCredentials(orm: Orm, { userId, at: revokedAt }: Removal): string[] {
  const owned = [
    [keys, keys.ownerId],
    [logins, logins.userId],
    [tokens, tokens.userId],
  ] as const;
  return owned.flatMap(([table, owner]) =>
    orm
      .update(table)
      .set({ revokedAt })
      .where(and(eq(owner, userId), isNull(table.revokedAt)))
      .returning({ id: table.id })
      .all()
      .map(({ id }) => id),
  );
}

/** The row of the user stays, because others received whispers from them. */
function anonymize(orm: Orm, { userId, at }: Removal): void {
  const number = orm.select({ number: users.number }).from(users).where(eq(users.id, userId));
  orm.delete(loginCodes).where(eq(loginCodes.userId, userId)).run();
  const isOpen = and(isNull(invitations.acceptedAt), isNull(invitations.revokedAt));
  orm
    .update(invitations)
    .set({ revokedAt: at })
    .where(and(eq(invitations.createdBy, userId), isOpen))
    .run();
  orm
    .delete(shouts)
    .where(eq(shouts.author, sql`${number}`))
    .run();
  orm
    .update(autopilots)
    .set({ status: 'archived', schedule: null, scheduledBy: null, nextRunAt: null, updatedAt: at })
    .where(and(ne(autopilots.status, 'archived'), eq(autopilots.owner, sql`${number}`)))
    .run();
  orm
    .update(paywalls)
    .set({ status: 'deleted', updatedAt: at, deletedAt: at })
    .where(and(ne(paywalls.status, 'deleted'), eq(paywalls.ownerId, userId)))
    .run();
  const handle = sql`'deleted:' || ${users.number}`;
  orm
    .update(users)
    .set({ handle, name: 'Deleted user', email: null, avatar: '', updatedAt: at, deletedAt: at })
    .where(eq(users.id, userId))
    .run();
}

/** As `lower` in SQL, which changes no other letters. */
function asciiLower(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

export type ProfileWrites = ReturnType<typeof profileWrites>;
