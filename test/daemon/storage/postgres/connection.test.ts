import { MessageChannel, Worker } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { openConnection } from '../../../../src/daemon/storage/postgres/engine/connection.ts';

/** Answers each message, but wakes the thread that waits for the answer once before. */
const serveLate = `
const { workerData: { port, answers } } = require('node:worker_threads');
const counter = new Int32Array(answers);
port.on('message', () => {
  while (Atomics.notify(counter, 0) === 0);
  const result = { columns: ['one'], rows: [[1]], changes: 0, isSuspended: false };
  port.postMessage({ results: [result], inTransaction: false });
  Atomics.add(counter, 0, 1);
  Atomics.notify(counter, 0);
});`;

test('a late notification of one answer is not taken for the next', () => {
  const { port1, port2 } = new MessageChannel();
  const answers = new SharedArrayBuffer(4);
  const workerData = { port: port1, answers };
  const server = new Worker(serveLate, { eval: true, workerData, transferList: [port1] });
  onTestFinished(async () => void (await server.terminate()));
  const connection = openConnection({ port: port2, answers });
  onTestFinished(() => connection.close());
  expect(connection.prepare('SELECT 1 AS one').all()).toEqual([{ one: 1 }]);
});
