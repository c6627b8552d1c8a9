import type { TokenRecord, TokensStore } from '../../../features/tokens/store.ts';
import { and, eq, isNull, lt, type Orm, or } from '../engine/orm.ts';
import { tokens } from './tables.ts';

type Revocation = { userId: string; tokenId: string | undefined; at: number };

export function tokensWrites(orm: Orm) {
  return {
    'tokens.insert': (record: TokenRecord): void => {
      orm.insert(tokens).values(record).run();
    },
    'tokens.revoke': ({ userId, tokenId, at }: Revocation): string[] => {
      const isMeant = tokenId === undefined ? undefined : eq(tokens.id, tokenId);
      return orm
        .update(tokens)
        .set({ revokedAt: at })
        .where(and(eq(tokens.userId, userId), isNull(tokens.revokedAt), isMeant))
        .returning({ id: tokens.id })
        .all()
        .map(({ id }) => id);
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

export type TokensWrites = ReturnType<typeof tokensWrites>;
