import { EventEmitter } from 'node:events';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type Cuttable, cutStalled } from '../../../../src/daemon/http/event-stream.ts';
import type { HttpLimits } from '../../../../src/daemon/http/protection/limits.ts';
import { PeerWatch } from '../../../../src/daemon/http/sockets/peer-watch.ts';

test('only peers that are behind are disconnected when memory is short', async () => {
  const destroy = vi.fn();
  const socket = Object.assign(new EventEmitter(), { destroyed: false, setTimeout: () => {}, destroy });
  const webSocket = Object.assign(new EventEmitter(), { bufferedAmount: 2_000 });
  const limits: Partial<HttpLimits> = {
    heartbeatMs: 30_000,
    stalledReaderMs: 60_000,
    streamBufferBytesMax: 1_000,
  };
  const stalled = new Set<Cuttable>();
  const watch = new PeerWatch(webSocket as never, socket as never, {
    limits: limits as HttpLimits,
    stalled,
  });
  onTestFinished(() => watch.end());
  const runShort = () => cutStalled({ stalled, log: { info() {}, warn() {}, error() {} } });

  const caughtUp = watch.untilTaken();
  socket.emit('drain');
  await caughtUp;
  runShort();
  expect(destroy).not.toHaveBeenCalled();

  const behind = watch.untilTaken();
  runShort();
  expect(destroy).toHaveBeenCalledOnce();
  socket.emit('close');
  await behind;
});
