import { EventEmitter } from 'node:events';
import { MessageChannel, type Worker } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import type { HttpServer } from '../../../src/daemon/http/server.ts';
import { SharedChanges } from '../../../src/daemon/storage/shared-changes.ts';
import { CallWorkers } from '../../../src/daemon/workers/call-workers.ts';

/** In place of a thread: answers every question with nothing, and keeps what it is told. */
class FakeThread extends EventEmitter {
  readonly told: { name: string; question: unknown }[] = [];

  postMessage({ name, question, id }: { name: string; question: unknown; id?: number }): void {
    if (id === undefined) this.told.push({ name, question });
    else this.emit('message', { answers: id });
  }

  async terminate(): Promise<void> {}
}

test('a worker learns how much of its content was taken, so that it can send more', async () => {
  const thread = new FakeThread();
  const workers = new CallWorkers({
    count: 1,
    changes: new SharedChanges(),
    log: { info() {}, warn() {}, error() {} },
    onDeath: () => {},
    start: () => thread as unknown as Worker,
  });
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => port1.close());
  const taken: unknown[] = [];
  let dropped = 0;
  const server = await workers.start(
    { close: async () => {} } as HttpServer,
    { config: { dataFolder: '/data' }, connect: () => port2 } as Parameters<CallWorkers['start']>[1],
    {
      observed: () => {},
      content: (captured) => taken.push(captured),
      contentDropped: (calls) => {
        dropped += calls;
      },
    },
  );
  thread.emit('message', { name: 'content', question: { captured: 'a call', bytes: 4096, dropped: 2 } });
  expect({ taken, dropped }).toEqual({ taken: ['a call'], dropped: 2 });
  expect(thread.told).toEqual([{ name: 'contentTaken', question: 4096 }]);
  await server.close();
});
