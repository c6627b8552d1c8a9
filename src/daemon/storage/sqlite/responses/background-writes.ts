import type {
  BackgroundEnd,
  BackgroundResponse,
  EventBatch,
} from '../../../features/inference/lifecycles/background/background-store.ts';
import type { Connection } from '../engine/connection.ts';
import { and, eq, type Orm } from '../engine/orm.ts';
import { backgroundResponses, isRunning, responseEvents } from './background-tables.ts';
import { responseInsert } from './response-insert.ts';

/** Rows deleted in one write: freeing pages takes time, during which calls wait for their holds. */
const batchesMax = 32;

export function backgroundWrites(database: Connection, orm: Orm, daemon: number) {
  const insert = responseInsert(database)['responses.insert'];
  const dropEvents = database.prepare<[object]>(
    `DELETE FROM response_events WHERE (response_id, last_sequence) IN (
       SELECT e.response_id, e.last_sequence FROM response_events e JOIN background_responses r ON r.id = e.response_id
       WHERE r.expires_at <= @at AND r.is_running = 0 LIMIT ${batchesMax})`,
  );
  const dropRows = database.prepare<[object]>(
    `DELETE FROM background_responses WHERE id IN (
       SELECT id FROM background_responses WHERE expires_at <= @at AND is_running = 0 LIMIT @limit)`,
  );

  return {
    'background.start': (record: BackgroundResponse): void => {
      orm
        .insert(backgroundResponses)
        .values({ ...record, daemon })
        .run();
    },
    'background.finish': ({ id, body, output, lastSequence }: BackgroundEnd): boolean => {
      const running = and(eq(backgroundResponses.id, id), isRunning);
      const found = orm.select().from(backgroundResponses).where(running).get();
      if (!found) return false;
      const { workspaceId, requestId, previousId, input, createdAt, expiresAt } = found;
      insert({ id, workspaceId, requestId, previousId, body, input, output, createdAt, expiresAt });
      const ended = { isRunning: false, lastSequence, input: '', body: '' };
      orm.update(backgroundResponses).set(ended).where(eq(backgroundResponses.id, id)).run();
      return true;
    },
    'background.appendEvents': (batch: EventBatch & { responseId: string }): void => {
      orm.insert(responseEvents).values(batch).run();
    },
    'background.removeExpired': ({ at, limit }: { at: number; limit: number }): number =>
      dropEvents.run({ at }).changes || dropRows.run({ at, limit }).changes,
  };
}

export type BackgroundWrites = ReturnType<typeof backgroundWrites>;
