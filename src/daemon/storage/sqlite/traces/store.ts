import type { TracesStore } from '../../../features/traces/store.ts';
import { eq, inArray } from '../engine/orm.ts';
import { usageRecord } from '../metering/store.ts';
import { calls } from '../metering/tables.ts';
import type { StoreContext } from '../store-context.ts';

/** Reads the usage of finished calls. Pages are found in the reader thread, as a filter may scan many calls. */
export function tracesStore({ orm, reader, names }: StoreContext): TracesStore {
  return {
    find: async (workspaceId, requestId) => {
      const row = orm.select().from(calls).where(eq(calls.requestId, requestId)).get();
      const record = row && usageRecord(row, names);
      return record?.workspaceId === workspaceId ? record : undefined;
    },
    list: async (filter) => {
      const numbers = await reader.run('traces', filter);
      const rows = orm.select().from(calls).where(inArray(calls.number, numbers)).all();
      const byNumber = new Map(rows.map((row) => [row.number, usageRecord(row, names)]));
      return numbers.flatMap((number) => byNumber.get(number) ?? []);
    },
  };
}
