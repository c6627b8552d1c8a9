import { EventEmitter } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import type { FromWriter, ToWriter } from '../../../../../src/daemon/storage/sqlite/engine/serve-writes.ts';
import { Writer } from '../../../../../src/daemon/storage/sqlite/engine/writer.ts';

const log = { info() {}, warn() {}, error() {} };

/** A thread that exits in the same turn in which it answers, before the awaiting code resumes. */
class EndsAtOnce extends EventEmitter {
  postMessage(message: ToWriter): void {
    setImmediate(() => {
      if ('open' in message) this.#answer({ opened: true });
      if (!('close' in message)) return;
      this.#answer({ closed: true });
      this.emit('exit', 0);
    });
  }

  async terminate(): Promise<number> {
    return 0;
  }

  #answer(message: FromWriter): void {
    this.emit('message', message);
  }
}

/** A writer with an open database, and the fatal errors it reported. */
async function opened() {
  const deaths: Error[] = [];
  const thread = new EndsAtOnce();
  const writer = new Writer({ now: () => 0, log, worker: thread as unknown as Worker });
  writer.onFatal((reason) => deaths.push(reason));
  await writer.open('/nowhere');
  return { writer, thread, deaths };
}

test('a thread that exits after closing the database has not died', async () => {
  const { writer, deaths } = await opened();
  await writer.close();
  expect(deaths).toEqual([]);
});

test('a thread that exits earlier has died', async () => {
  const { writer, thread, deaths } = await opened();
  thread.emit('exit', 1);
  await writer.close();
  expect(deaths).toHaveLength(1);
});
