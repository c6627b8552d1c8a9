import { and, eq, inArray, lte, type Orm, type SQL, sql } from '../engine/orm.ts';
import { backgroundResponses, responseEvents } from './background-tables.ts';
import { responseItems, responses } from './tables.ts';

/** Bytes deleted in one write: freeing pages takes time, during which calls wait for their holds. */
const removedBytesMax = 2 * 1024 * 1024;

const sizeOf = sql<number>`octet_length(${responses.output}) + octet_length(${responses.input}) + octet_length(${responses.body})`;

interface Removed {
  workspaceId: string;
  ids: readonly string[];
}

/** Deletes responses of a workspace with their items; returns how many there were. */
export function removeResponses(orm: Orm, { workspaceId, ids }: Removed): number {
  const mine = and(inArray(responses.id, ids), eq(responses.workspaceId, workspaceId));
  return drop(orm, idsOf(orm.select({ id: responses.id }).from(responses).where(mine).all()));
}

/** The same of background responses with their events, of those that match. */
export function removeBackground(orm: Orm, { workspaceId, ids }: Removed, matching?: SQL): number {
  const { id, workspaceId: workspace } = backgroundResponses;
  const mine = and(inArray(id, ids), eq(workspace, workspaceId), matching);
  const found = idsOf(orm.select({ id }).from(backgroundResponses).where(mine).all());
  orm.delete(responseEvents).where(inArray(responseEvents.responseId, found)).run();
  return orm.delete(backgroundResponses).where(inArray(id, found)).run().changes;
}

function drop(orm: Orm, ids: string[]): number {
  orm.delete(responseItems).where(inArray(responseItems.responseId, ids)).run();
  return orm.delete(responses).where(inArray(responses.id, ids)).run().changes;
}

const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id);

export function responsesWrites(orm: Orm) {
  return {
    'responses.remove': ({ workspaceId, id }: { workspaceId: string; id: string }): boolean => {
      const removed = { workspaceId, ids: [id] };
      // A background response is also the stored response that it became.
      return removeBackground(orm, removed) + removeResponses(orm, removed) > 0;
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
      return drop(orm, ids);
    },
  };
}

export type ResponsesWrites = ReturnType<typeof responsesWrites>;
