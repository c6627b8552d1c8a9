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

test('a thread that waits, as for a disk or a server, is left alone; one that works on and on is ended', async () => {
  let [asked, used] = [0, 0];
  const { writer, thread, deaths } = await opened();
  const cpuUsage = async () => {
    asked += 1;
    return { user: used, system: 0 };
  };
  Object.assign(thread, { cpuUsage });
  writer.watchMainThread({
    turns: new Int32Array(new SharedArrayBuffer(4)),
    logFile: '',
    cpuMsMax: 10,
    everyMs: 1,
  });
  writer.write('never.answered', undefined as never).catch(() => {});
  await expect.poll(() => asked).toBeGreaterThan(100);
  expect([deaths, writer.problem]).toEqual([[], undefined]);
  used = 39_999;
  await expect.poll(() => asked).toBeGreaterThan(200);
  expect([deaths, writer.problem]).toEqual([[], undefined]);
  used = 40_000;
  await expect.poll(() => writer.problem).toBe('one write takes very long');
  used = 60_000;
  await expect.poll(() => deaths).toHaveLength(1);
});
