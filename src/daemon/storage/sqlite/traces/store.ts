import type { TracesStore } from '../../../features/traces/store.ts';
import { and, eq, inArray } from '../engine/orm.ts';
import { usageRecord } from '../metering/store.ts';
import { usage } from '../metering/tables.ts';
import type { StoreContext } from '../store-context.ts';

/** Reads the usage of finished calls. Pages are found in the reader thread, as a filter may scan many calls. */
export function tracesStore({ orm, reader }: StoreContext): TracesStore {
  return {
    find: async (workspaceId, requestId) => {
      const mine = and(eq(usage.requestId, requestId), eq(usage.workspaceId, workspaceId));
      const row = orm.select().from(usage).where(mine).get();
      return row && usageRecord(row);
    },
    list: async (filter) => {
      const ids = await reader.run('traces', filter);
      const rows = orm.select().from(usage).where(inArray(usage.requestId, ids)).all();
      const byId = new Map(rows.map((row) => [row.requestId, usageRecord(row)]));
      return ids.flatMap((id) => byId.get(id) ?? []);
    },
  };
}
