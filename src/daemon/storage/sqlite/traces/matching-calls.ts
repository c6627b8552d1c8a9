import type { FacetsFilter } from '../../../features/traces/store.ts';
import type { Connection } from '../engine/connection.ts';
import type { NameTexts } from '../engine/names.ts';
import { lookFor } from './call-conditions.ts';

/** Of some requests, the numbers of those that match, in the same order. */
export function matchingCalls(
  database: Connection,
  names: NameTexts,
  { requestIds, ...filter }: FacetsFilter & { requestIds: readonly string[] },
): number[] {
  return database.transaction(() => {
    const workspace = names.numberOf(filter.workspaceId);
    if (workspace === undefined) return [];
    const { since = 0, until = Number.MAX_SAFE_INTEGER } = filter;
    const looked = lookFor(database, names, filter, { workspace, since });
    if (!looked) return [];
    const { sql, values } = looked.conditions;
    const found = database
      .prepare<[object], { requestId: string; number: number }>(
        `SELECT request_id AS requestId, number FROM calls
         WHERE request_id IN (SELECT asked.value FROM json_each(@requestIds) AS asked)
           AND workspace = @workspace AND completed_at >= @since AND completed_at < @until AND ${sql}`,
      )
      .all({ ...values, requestIds: JSON.stringify(requestIds), workspace, since, until });
    const byId = new Map(found.map(({ requestId, number }) => [requestId, number]));
    return requestIds.flatMap((id) => byId.get(id) ?? []);
  })();
}
