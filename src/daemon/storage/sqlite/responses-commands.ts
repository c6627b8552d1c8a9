import { and, eq, inArray, lte, type Orm } from './orm.ts';
import { responseItems, responses } from './schema/responses.ts';

export function responsesCommands(orm: Orm) {
  const drop = (ids: string[]): number => {
    orm.delete(responseItems).where(inArray(responseItems.responseId, ids)).run();
    return orm.delete(responses).where(inArray(responses.id, ids)).run().changes;
  };

  return {
    'responses.remove': ({ workspaceId, id }: { workspaceId: string; id: string }): boolean => {
      const found = orm
        .select({ id: responses.id })
        .from(responses)
        .where(and(eq(responses.id, id), eq(responses.workspaceId, workspaceId)))
        .get();
      return found !== undefined && drop([id]) > 0;
    },
    'responses.removeExpired': ({ at, limit }: { at: number; limit: number }): number => {
      const expired = orm
        .select({ id: responses.id })
        .from(responses)
        .where(lte(responses.expiresAt, at))
        .orderBy(responses.expiresAt)
        .limit(limit)
        .all();
      return expired.length === 0 ? 0 : drop(expired.map(({ id }) => id));
    },
  };
}
