import { EventEmitter } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { Writer } from '../../../../src/daemon/storage/sqlite/writer.ts';
import type { FromWriter, ToWriter } from '../../../../src/daemon/storage/sqlite/writer-protocol.ts';

const log = { info() {}, warn() {}, error() {} };

/** A thread that ends as it answers: its end is told in the same turn, before anybody who awaits the answer goes on. */
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

test('a thread that ends once the database is closed has not died', async () => {
  const deaths: Error[] = [];
  const worker = new EndsAtOnce() as unknown as Worker;
  const writer = new Writer({ now: () => 0, log, worker });
  writer.onFatal((reason) => deaths.push(reason));
  await writer.open('/nowhere');
  await writer.close();
  expect(deaths).toEqual([]);
});

test('a thread that ends before has', async () => {
  const deaths: Error[] = [];
  const worker = new EndsAtOnce() as unknown as Worker;
  const writer = new Writer({ now: () => 0, log, worker });
  writer.onFatal((reason) => deaths.push(reason));
  await writer.open('/nowhere');
  worker.emit('exit', 1);
  await writer.close();
  expect(deaths).toHaveLength(1);
});
