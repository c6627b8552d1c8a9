import { KnownSecrets } from '../../../shared/masking/known-secrets.ts';
import { maskText } from '../../../shared/masking/mask-text.ts';
import { type TextSealer, withMethods } from '../vault/index.ts';
import type { MessageRecord, ThreadsStore } from './threads-store.ts';

/** Threads without secrets in the clear: runs that continue them send those again, and no one is shown them. */
export function sealedThreads(store: ThreadsStore, texts: TextSealer): ThreadsStore {
  const shown = (messages: MessageRecord[]) =>
    messages.map((message) => ({ ...message, item: texts.mask(message.item) }));
  return withMethods(store, {
    startRun: (start) => store.startRun({ ...start, title: start.title && maskText(start.title) }),
    endRun(end, secrets = new KnownSecrets()) {
      const { threadId } = end.run;
      const messages = end.messages.map((message) => {
        const seal = message.isOutput ? texts.sealAnswer : texts.seal;
        return { ...message, item: seal(message.item, threadId, secrets) };
      });
      return store.endRun({ ...end, messages });
    },
    async messages(threadId, page) {
      const found = await store.messages(threadId, page);
      return found && shown(found);
    },
    messagesOf: async (threadId, runId) => shown(await store.messagesOf(threadId, runId)),
    async conversation(threadId) {
      const found = await store.conversation(threadId);
      return found.map(({ item, isOutput }) => ({ item: texts.open(item, threadId), isOutput }));
    },
  });
}
