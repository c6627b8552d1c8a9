import type { LinkOutcome, NewLoginCode } from '../../../features/workspaces/people-store.ts';
import type { NewLogin } from '../../../features/workspaces/store.ts';
import type { Connection } from '../engine/connection.ts';
import { and, eq, gt, inArray, isNotNull, isNull, lt, type Orm, type SQL, sql } from '../engine/orm.ts';
import { loginCodes, logins } from './tables.ts';

type Redemption = { digest: string; login: Omit<NewLogin, 'userId'>; at: number };
type LinkUse = {
  digest: string;
  login: Omit<NewLogin, 'userId' | 'idleMs'>;
  idleMs: { kept: number; other: number };
  at: number;
};

/** How long a used link is remembered, so that a second use of it is noticed. */
const rememberedMs = 24 * 60 * 60 * 1000;

export function codeWrites(database: Connection, orm: Orm) {
  // What the holder of a login could have made with it.
  const endTree = database
    .prepare<[{ loginId: string; at: number }], string>(
      `WITH RECURSIVE tree (id) AS (
         SELECT id FROM logins WHERE id = @loginId
         UNION SELECT login_codes.login_id FROM login_codes JOIN tree ON login_codes.maker_id = tree.id
         WHERE login_codes.login_id IS NOT NULL
       )
       UPDATE logins SET revoked_at = @at WHERE id IN (SELECT id FROM tree) AND revoked_at IS NULL RETURNING id`,
    )
    .pluck();

  /** Of several uses at the same time, also on several daemons, the condition holds for one. */
  const use = ({ digest, loginId, at }: { digest: string; loginId: string; at: number }, isKind: SQL) =>
    orm
      .update(loginCodes)
      .set({ usedAt: at, loginId })
      .where(and(eq(loginCodes.digest, digest), isUsableAt(at), isKind))
      .returning({ userId: loginCodes.userId, keep: loginCodes.keep })
      .all()[0];

  return {
    'people.insertCode': (code: NewLoginCode): boolean => insertCode(orm, code),

    'people.redeemCode': ({ digest, login, at }: Redemption): string | undefined => {
      const used = use({ digest, loginId: login.id, at }, isNull(loginCodes.keep));
      if (!used) return undefined;
      orm
        .insert(logins)
        .values({ ...login, userId: used.userId })
        .run();
      return used.userId;
    },

    'people.redeemLink': ({ digest, login, idleMs, at }: LinkUse): LinkOutcome => {
      const used = use({ digest, loginId: login.id, at }, isNotNull(loginCodes.keep));
      if (used) {
        const { userId, keep } = used;
        orm
          .insert(logins)
          .values({ ...login, userId, idleMs: keep ? idleMs.kept : idleMs.other })
          .run();
        return { userId, keep: keep ?? false };
      }
      const link = orm
        .select()
        .from(loginCodes)
        .where(and(eq(loginCodes.digest, digest), isNotNull(loginCodes.keep)))
        .get();
      if (link === undefined) return 'unknown';
      if (link.loginId === null) return link.expiresAt <= at ? 'expired' : 'unknown';
      const ended = endTree.all({ loginId: link.loginId, at });
      endCodesOf(orm, ended);
      return { ended, userId: link.userId };
    },
  };
}

/** A code that was not used, has not expired, and whose maker is still logged in. */
export function isUsableAt(at: number) {
  const isMakerActive = sql`(${loginCodes.makerId} is null or exists (
    select 1 from ${logins} where ${logins.id} = ${loginCodes.makerId} and ${logins.revokedAt} is null))`;
  return and(isNull(loginCodes.usedAt), gt(loginCodes.expiresAt, at), isMakerActive);
}

/** False if the login that makes the code has ended. */
export function insertCode(orm: Orm, code: NewLoginCode): boolean {
  const { makerId, createdAt } = code;
  const isMaker = makerId === null ? undefined : and(eq(logins.id, makerId), isNull(logins.revokedAt));
  if (isMaker && !orm.select({ id: logins.id }).from(logins).where(isMaker).get()) return false;
  // Not by a clock that may be wrong.
  const isForgotten = sql`${loginCodes.expiresAt} < (select value from meta where name = 'last_seen') - ${rememberedMs}`;
  orm
    .delete(loginCodes)
    .where(and(lt(loginCodes.expiresAt, createdAt - rememberedMs), isForgotten))
    .run();
  orm.insert(loginCodes).values(code).run();
  return true;
}

/** Removes the codes that were made by logins that have ended, and not used yet. */
export function endCodesOf(orm: Orm, loginIds: readonly string[]): void {
  if (loginIds.length === 0) return;
  orm
    .delete(loginCodes)
    .where(and(inArray(loginCodes.makerId, [...loginIds]), isNull(loginCodes.usedAt)))
    .run();
}

export type CodeWrites = ReturnType<typeof codeWrites>;
