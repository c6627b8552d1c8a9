import type { ResponsesStore } from '../../../features/inference/stored/responses-store.ts';
import { and, eq, gt } from '../engine/orm.ts';
import type { StoreContext } from '../engine/store-context.ts';
import type { ResponsesReads } from './reads.ts';
import type { ResponseInsert } from './response-insert.ts';
import { responseReads } from './response-reads.ts';
import { responses } from './tables.ts';
import type { ResponsesWrites } from './writes.ts';

const bulk = { lane: 'bulk' } as const;

/** Shorter responses share commits with settlements, as most calls end with both. */
const moneyLaneBytesMax = 16 * 1024;

export function responsesStore({
  database,
  orm,
  writer,
  reader,
}: StoreContext<ResponsesWrites & ResponseInsert, ResponsesReads>): ResponsesStore {
  return {
    ...responseReads(database),
    insert: (record) => {
      const bytes = record.body.length + record.input.length + record.output.length;
      return writer.write('responses.insert', record, bytes < moneyLaneBytesMax ? {} : { ...bulk, bytes });
    },
    byId: async (workspaceId, id, at) =>
      orm
        .select()
        .from(responses)
        .where(and(eq(responses.id, id), eq(responses.workspaceId, workspaceId), gt(responses.expiresAt, at)))
        .get(),
    list: (page) => reader.run('responses', page),
    remove: (workspaceId, id) => writer.write('responses.remove', { workspaceId, id }, bulk),
    removeExpired: (at, limit) =>
      writer.write('responses.removeExpired', { at, limit: Math.min(limit, 1000) }, bulk),
  };
}
