import type { TextStore } from '../../../../shared/constants/text-stores.ts';
import type { StoredTexts, TextsStore } from '../../../features/capture/texts-store.ts';
import type { StoreContext } from '../engine/store-context.ts';
import { readLabelsText } from '../metering/call-details.ts';
import { idParts } from './text-ids.ts';
import type { TextsWrites } from './writes.ts';

const pages: Readonly<Record<TextStore, string>> = {
  responses: `SELECT id, request_id AS "requestId" FROM responses
    WHERE workspace_id = @workspaceId AND id > @after ORDER BY id LIMIT @limit`,
  background_responses: `SELECT id, request_id AS "requestId" FROM background_responses
    WHERE id > @after AND workspace_id = @workspaceId AND is_running = 0 ORDER BY id LIMIT @limit`,
  threads: `SELECT threads.id || ' ' || thread_runs.id AS id, request_id AS "requestId"
    FROM threads CROSS JOIN thread_runs
    WHERE threads.workspace_id = @workspaceId AND threads.id >= @first AND thread_runs.thread_id = threads.id
      AND (thread_runs.thread_id, thread_runs.id) > (@first, @second) AND thread_runs.status <> 'running'
    ORDER BY threads.id, thread_runs.id LIMIT @limit`,
  cached_answers: `SELECT digest AS id, request_id AS "requestId" FROM cached_answers
    WHERE workspace_id = @workspaceId AND digest > @after AND request_id IS NOT NULL ORDER BY digest LIMIT @limit`,
  idempotency_keys: `SELECT scope || ' ' || key AS id, request_id AS "requestId" FROM idempotency_keys
    WHERE (scope, key) > (@first, @second) AND state = 'done' ORDER BY scope, key LIMIT @limit`,
};

export function textsStore({ database, writer }: StoreContext<TextsWrites>): TextsStore {
  return {
    page: async (store, { workspaceId, after, limit }) => {
      const [first, second] = idParts(after);
      return database
        .prepare<[object], StoredTexts>(pages[store])
        .all({ workspaceId, after, first, second, limit });
    },
    remove: (store, workspaceId, ids) =>
      writer.write('texts.remove', { store, workspaceId, ids }, { lane: 'bulk' }),
    forgetUser: (forgotten) => writer.write('texts.forgetUser', forgotten, { lane: 'bulk' }),
    running: async (workspaceId, { keyId, user }) =>
      database
        .prepare<[string], { keyId: string | null; labels: string | null }>(
          'SELECT key_id AS "keyId", labels FROM holds WHERE workspace_id = ?',
        )
        .all(workspaceId)
        .filter((hold) => keyId === undefined || hold.keyId === keyId)
        .filter(({ labels }) => user === undefined || readLabelsText(labels).user === user).length,
  };
}
