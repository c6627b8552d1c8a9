import type { StoredResponse } from '../../features/inference/responses-store.ts';
import { and, eq, inArray, lte, type Orm } from './orm.ts';
import { responseItems, responses } from './schema/responses.ts';

export function responsesCommands(orm: Orm) {
  const drop = (ids: string[]): number => {
    orm.delete(responseItems).where(inArray(responseItems.responseId, ids)).run();
    return orm.delete(responses).where(inArray(responses.id, ids)).run().changes;
  };

  return {
    'responses.insert': (record: StoredResponse): void => {
      orm.insert(responses).values(record).run();
      for (const place of ['input', 'output'] as const) {
        for (const { itemId, position } of itemsOf(record[place])) {
          // An id may come twice, as input that was an earlier output; the first place is as good as the second.
          orm
            .insert(responseItems)
            .values({ itemId, responseId: record.id, place, position })
            .onConflictDoNothing()
            .run();
        }
      }
    },
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

function itemsOf(list: string): { itemId: string; position: number }[] {
  const items: unknown = JSON.parse(list);
  if (!Array.isArray(items)) return [];
  return items.flatMap((item: unknown, position) => {
    const itemId = item && typeof item === 'object' && 'id' in item ? item.id : undefined;
    return typeof itemId === 'string' ? [{ itemId, position }] : [];
  });
}
