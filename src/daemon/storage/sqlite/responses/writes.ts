import { and, eq, inArray, lte, type Orm, sql } from '../engine/orm.ts';
import { backgroundResponses, responseEvents } from './background-tables.ts';
import { responseItems, responses } from './tables.ts';

/** Bytes deleted in one write: freeing pages takes time, during which calls wait for their holds. */
const removedBytesMax = 2 * 1024 * 1024;

const sizeOf = sql<number>`octet_length(${responses.output}) + octet_length(${responses.input}) + octet_length(${responses.body})`;

export function responsesWrites(orm: Orm) {
  const drop = (ids: string[]): number => {
    orm.delete(responseItems).where(inArray(responseItems.responseId, ids)).run();
    return orm.delete(responses).where(inArray(responses.id, ids)).run().changes;
  };

  /** Deletes what is stored of a background response besides the stored response that it became. */
  const dropBackground = (workspaceId: string, id: string): boolean => {
    const mine = and(eq(backgroundResponses.id, id), eq(backgroundResponses.workspaceId, workspaceId));
    if (!orm.select({ id: backgroundResponses.id }).from(backgroundResponses).where(mine).get()) return false;
    orm.delete(responseEvents).where(eq(responseEvents.responseId, id)).run();
    return orm.delete(backgroundResponses).where(mine).run().changes > 0;
  };

  return {
    'responses.remove': ({ workspaceId, id }: { workspaceId: string; id: string }): boolean => {
      const found = orm
        .select({ id: responses.id })
        .from(responses)
        .where(and(eq(responses.id, id), eq(responses.workspaceId, workspaceId)))
        .get();
      const wasInBackground = dropBackground(workspaceId, id);
      return (found !== undefined && drop([id]) > 0) || wasInBackground;
    },
    'responses.removeExpired': ({ at, limit }: { at: number; limit: number }): number => {
      const expired = orm
        .select({ id: responses.id, bytes: sizeOf })
        .from(responses)
        .where(lte(responses.expiresAt, at))
        .orderBy(responses.expiresAt)
        .limit(limit)
        .all();
      let bytes = 0;
      const ids = expired
        .filter((response, place) => {
          bytes += response.bytes;
          return place === 0 || bytes <= removedBytesMax;
        })
        .map(({ id }) => id);
      return ids.length === 0 ? 0 : drop(ids);
    },
  };
}

export type ResponsesWrites = ReturnType<typeof responsesWrites>;
