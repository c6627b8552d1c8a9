import type { ResponsesStore, StoredResponse } from '../../features/inference/responses-store.ts';
import { and, desc, eq, gt, type Orm, sql } from './orm.ts';
import { responseItems, responses } from './schema/responses.ts';
import type { Writer } from './writer.ts';

/** Stored responses: reads by id in the main thread, writes in the writer's, apart from those of money. */
export function responsesStore(orm: Orm, writer: Writer): ResponsesStore {
  const visible = (workspaceId: string, at: number) =>
    and(eq(responses.workspaceId, workspaceId), gt(responses.expiresAt, at));

  const byId = (workspaceId: string, id: string, at: number) =>
    orm
      .select()
      .from(responses)
      .where(and(eq(responses.id, id), visible(workspaceId, at)))
      .get();

  const chain = (workspaceId: string, id: string, at: number): StoredResponse[] | undefined => {
    const found = new Map<string, StoredResponse>();
    for (let next: string | null = id; next !== null; ) {
      // A response that follows itself can only come from a damaged file.
      const record: StoredResponse | undefined = found.has(next) ? undefined : byId(workspaceId, next, at);
      if (!record) return undefined;
      found.set(record.id, record);
      next = record.previousId;
    }
    return [...found.values()].reverse();
  };

  const item = (workspaceId: string, itemId: string, at: number) =>
    orm
      .select({
        text: sql<string>`CASE ${responseItems.place} WHEN 'input' THEN ${responses.input} ELSE ${responses.output} END
          -> ${responseItems.position}`,
      })
      .from(responseItems)
      .innerJoin(responses, eq(responses.id, responseItems.responseId))
      .where(and(eq(responseItems.itemId, itemId), visible(workspaceId, at)))
      .orderBy(desc(responses.createdAt), desc(responses.id))
      .limit(1)
      .get()?.text;

  return {
    insert: (record) => writer.write('responses.insert', record, { lane: 'bulk' }),
    byId: async (workspaceId, id, at) => byId(workspaceId, id, at),
    chain: async (workspaceId, id, at) => chain(workspaceId, id, at),
    items: async (workspaceId, ids, at) => {
      const found = new Map<string, string>();
      for (const id of ids) {
        const text = item(workspaceId, id, at);
        if (text !== undefined) found.set(id, text);
      }
      return found;
    },
    remove: (workspaceId, id) => writer.write('responses.remove', { workspaceId, id }),
    removeExpired: (at, limit) =>
      writer.write('responses.removeExpired', { at, limit: Math.min(limit, 1000) }),
  };
}
