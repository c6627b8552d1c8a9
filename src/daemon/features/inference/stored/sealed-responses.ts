import { KnownSecrets } from '../../../../shared/masking/known-secrets.ts';
import { type TextSealer, withMethods } from '../../vault/index.ts';
import type { ResponsesStore } from './responses-store.ts';

/**
 * Stored responses without secrets in the clear. What a continuation sends again is sealed, such as a signature in the address of
 * an image; what is only shown is masked.
 */
export function sealedResponses(store: ResponsesStore, texts: TextSealer): ResponsesStore {
  return withMethods(store, {
    insert(record, secrets = new KnownSecrets()) {
      const { workspaceId } = record;
      // First, as answers repeat what requests contain.
      const input = texts.seal(record.input, workspaceId, secrets);
      const body = texts.mask(record.body, secrets);
      // The response contains its output.
      const output =
        body === record.body ? record.output : texts.sealAnswer(record.output, workspaceId, secrets);
      return store.insert({ ...record, input, body, output });
    },
    async byId(workspaceId, id, at) {
      const found = await store.byId(workspaceId, id, at);
      return found && { ...found, body: texts.mask(found.body), input: texts.mask(found.input) };
    },
    async chain(workspaceId, id, options) {
      const turns = await store.chain(workspaceId, id, options);
      if (turns === undefined || turns === 'too-long') return turns;
      return turns.map((turn) => ({
        id: turn.id,
        input: texts.open(turn.input, workspaceId),
        output: texts.open(turn.output, workspaceId),
      }));
    },
    async items(workspaceId, ids, options) {
      const found = await store.items(workspaceId, ids, options);
      if (found === 'too-long') return found;
      for (const [id, item] of found) found.set(id, texts.open(item, workspaceId));
      return found;
    },
  });
}
