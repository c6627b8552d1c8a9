import { KnownSecrets } from '../../../../../shared/masking/known-secrets.ts';
import { type TextSealer, withMethods } from '../../../vault/index.ts';
import type { BackgroundStore } from './background-store.ts';

/** Background responses without secrets in the clear. Their events are sealed as a whole, as a secret may be split between several. */
export function sealedBackground(store: BackgroundStore, texts: TextSealer): BackgroundStore {
  return withMethods(store, {
    start(record, secrets = new KnownSecrets()) {
      const input = texts.seal(record.input, record.workspaceId, secrets);
      return store.start({ ...record, input, body: texts.mask(record.body, secrets) });
    },
    finish(end, secrets = new KnownSecrets()) {
      const body = texts.mask(end.body, secrets);
      return store.finish({ ...end, body, output: texts.sealAnswer(end.output, end.workspaceId, secrets) });
    },
    async byId(workspaceId, id, at) {
      const found = await store.byId(workspaceId, id, at);
      return found && { ...found, body: texts.mask(found.body), input: texts.mask(found.input) };
    },
    appendEvents: (id, { lastSequence, text }) =>
      store.appendEvents(id, { lastSequence, text: texts.sealWhole(text, `events|${id}`) }),
    async eventsAfter(id, sequence) {
      const batch = await store.eventsAfter(id, sequence);
      return batch && { ...batch, text: texts.openWhole(batch.text, `events|${id}`) };
    },
  });
}
