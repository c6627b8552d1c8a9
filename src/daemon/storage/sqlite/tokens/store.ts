import type { Ability } from '../../../../shared/contract/endpoint.ts';
import type { TokenRecord, TokensStore } from '../../../features/tokens/store.ts';
import { and, desc, eq, integer, isNull, lt, type Orm, or, sqliteTable, text } from '../engine/orm.ts';
import type { StoreContext } from '../engine/store-context.ts';

/** Columns of a `TokenRecord`. */
export const tokens = sqliteTable('tokens', {
  id: text().primaryKey(),
  userId: text().notNull(),
  digest: text().notNull(),
  name: text().notNull(),
  abilities: text({ mode: 'json' }).$type<Ability[]>().notNull(),
  createdAt: integer().notNull(),
  expiresAt: integer(),
  lastUsedAt: integer(),
  revokedAt: integer(),
  makerId: text(),
});

export function tokensStore({ orm, writer }: StoreContext<TokensWrites>): TokensStore {
  return {
    insert: (record) => writer.write('tokens.insert', record),
    byDigest: async (digest) => orm.select().from(tokens).where(eq(tokens.digest, digest)).get(),
    list: async (userId) =>
      orm
        .select()
        .from(tokens)
        .where(and(eq(tokens.userId, userId), isNull(tokens.revokedAt)))
        .orderBy(desc(tokens.id))
        .all(),
    revoke: (userId, tokenId, at) => writer.write('tokens.revoke', { userId, tokenId, at }),
    touch: (uses) => writer.write('tokens.touch', uses),
  };
}

type Revocation = { userId: string; tokenId: string | undefined; at: number };

export function tokensWrites(orm: Orm) {
  return {
    'tokens.insert': (record: TokenRecord): boolean => {
      const { makerId } = record;
      if (makerId !== null && !isActive(orm, makerId)) return false;
      orm.insert(tokens).values(record).run();
      return true;
    },
    'tokens.revoke': ({ userId, tokenId, at }: Revocation): string[] => {
      const isMeant = tokenId === undefined ? undefined : eq(tokens.id, tokenId);
      const revoked = orm
        .update(tokens)
        .set({ revokedAt: at })
        .where(and(eq(tokens.userId, userId), isNull(tokens.revokedAt), isMeant))
        .returning({ id: tokens.id })
        .all()
        .map(({ id }) => id);
      return [...revoked, ...revokeTokensOf(orm, revoked, at)];
    },
    'tokens.touch': (uses: Parameters<TokensStore['touch']>[0]): void => {
      for (const { id, at } of uses) {
        orm
          .update(tokens)
          .set({ lastUsedAt: at })
          .where(and(eq(tokens.id, id), or(isNull(tokens.lastUsedAt), lt(tokens.lastUsedAt, at))))
          .run();
      }
    },
  };
}

/** Revokes the tokens that others made, and those that came from them; returns the ids of those that were active. */
function revokeTokensOf(orm: Orm, makerIds: readonly string[], at: number): string[] {
  const revoked: string[] = [];
  for (const makerId of makerIds) {
    const made = orm
      .update(tokens)
      .set({ revokedAt: at })
      .where(and(eq(tokens.makerId, makerId), isNull(tokens.revokedAt)))
      .returning({ id: tokens.id })
      .all()
      .map(({ id }) => id);
    revoked.push(...made, ...revokeTokensOf(orm, made, at));
  }
  return revoked;
}

function isActive(orm: Orm, id: string): boolean {
  const isIt = and(eq(tokens.id, id), isNull(tokens.revokedAt));
  return orm.select({ id: tokens.id }).from(tokens).where(isIt).get() !== undefined;
}

export type TokensWrites = ReturnType<typeof tokensWrites>;
