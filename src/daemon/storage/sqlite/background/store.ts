import type {
  BackgroundStore,
  EventBatch,
} from '../../../features/inference/lifecycles/background/background-store.ts';
import type { Connection } from '../engine/connection.ts';
import { and, eq, gt, type Orm } from '../engine/orm.ts';
import type { Writer } from '../engine/writer.ts';
import { backgroundResponses } from './tables.ts';

interface Sources {
  database: Connection;
  orm: Orm;
  writer: Writer;
}

const bulk = { lane: 'bulk' } as const;

/** Background responses: reads by id in the main thread, writes in the writer's, apart from those of money. */
export function backgroundStore({ database, orm, writer }: Sources): BackgroundStore {
  const nextBatch = database.prepare<[string, number], EventBatch>(
    `SELECT last_sequence AS lastSequence, text FROM response_events
     WHERE response_id = ? AND last_sequence > ? ORDER BY last_sequence LIMIT 1`,
  );
  const running = database.prepare<[], { workspaceId: string; id: string }>(
    'SELECT workspace_id AS workspaceId, id FROM background_responses WHERE is_running = 1 ORDER BY id',
  );
  return {
    start: (record) =>
      writer.write('background.start', record, {
        lane: 'bulk',
        bytes: record.input.length + record.body.length,
      }),
    finish: (end) =>
      writer.write('background.finish', end, { lane: 'bulk', bytes: end.body.length + end.output.length }),
    byId: async (workspaceId, id, at) =>
      orm
        .select()
        .from(backgroundResponses)
        .where(
          and(
            eq(backgroundResponses.id, id),
            eq(backgroundResponses.workspaceId, workspaceId),
            gt(backgroundResponses.expiresAt, at),
          ),
        )
        .get(),
    running: async () => running.all(),
    appendEvents: (responseId, batch) =>
      writer.write(
        'background.appendEvents',
        { responseId, ...batch },
        { lane: 'bulk', bytes: batch.text.length },
      ),
    eventsAfter: async (responseId, sequence) => nextBatch.get(responseId, sequence),
    removeExpired: (at, limit) =>
      writer.write('background.removeExpired', { at, limit: Math.min(limit, 1000) }, bulk),
  };
}
