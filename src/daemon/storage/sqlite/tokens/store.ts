import type { TokensStore } from '../../../features/tokens/store.ts';
import { and, desc, eq, isNull } from '../engine/orm.ts';
import type { StoreContext } from '../engine/store-context.ts';
import { tokens } from './tables.ts';
import type { TokensWrites } from './writes.ts';

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
