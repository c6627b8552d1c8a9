import type { BackgroundStore } from '../../../features/inference/lifecycles/background/background-store.ts';
import { and, columnsOf, eq, gt, sql } from '../engine/orm.ts';
import type { StoreContext } from '../engine/store-context.ts';
import { backgroundResponses, isRunning, responseEvents } from './background-tables.ts';
import type { BackgroundWrites } from './background-writes.ts';

const bulk = { lane: 'bulk' } as const;

export function backgroundStore({ orm, writer }: StoreContext<BackgroundWrites>): BackgroundStore {
  const { daemon: _daemon, ...columns } = columnsOf(backgroundResponses);
  const { lastSequence, text } = responseEvents;
  // Prepared, as each turn of a streamed replay runs it.
  const nextBatch = orm
    .select({ lastSequence, text })
    .from(responseEvents)
    .where(
      and(
        eq(responseEvents.responseId, sql.placeholder('responseId')),
        gt(lastSequence, sql.placeholder('sequence')),
      ),
    )
    .orderBy(lastSequence)
    .limit(1)
    .prepare();
  return {
    start: (record) =>
      writer.write('background.start', record, { ...bulk, bytes: record.input.length + record.body.length }),
    finish: (end) =>
      writer.write('background.finish', end, { ...bulk, bytes: end.body.length + end.output.length }),
    byId: async (workspaceId, id, at) =>
      orm
        .select(columns)
        .from(backgroundResponses)
        .where(
          and(
            eq(backgroundResponses.id, id),
            eq(backgroundResponses.workspaceId, workspaceId),
            gt(backgroundResponses.expiresAt, at),
          ),
        )
        .get(),
    running: async (daemon) =>
      orm
        .select({ workspaceId: backgroundResponses.workspaceId, id: backgroundResponses.id })
        .from(backgroundResponses)
        .where(and(isRunning, eq(backgroundResponses.daemon, daemon)))
        .orderBy(backgroundResponses.id)
        .all(),
    appendEvents: (responseId, batch) =>
      writer.write(
        'background.appendEvents',
        { responseId, ...batch },
        { ...bulk, bytes: batch.text.length },
      ),
    eventsAfter: async (responseId, sequence) => nextBatch.get({ responseId, sequence }),
    removeExpired: (at, limit) =>
      writer.write('background.removeExpired', { at, limit: Math.min(limit, 1000) }, bulk),
  };
}
