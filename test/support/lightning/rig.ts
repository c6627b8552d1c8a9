import { onTestFinished } from 'vitest';
import { worldOfProcess } from '../../../src/daemon/process/world-of-process.ts';
import type { LightningAdapter } from '../../../src/daemon/upstream/lightning/adapter.ts';
import { createNetwork } from '../../../src/daemon/upstream/network.ts';
import type { BackendRig } from '../../daemon/upstream/lightning/lightning-backend.contract.ts';
import type { FakeNode } from './fake-node.ts';

interface RigOptions {
  url: string;
  node: FakeNode;
  close: () => Promise<void>;
  secret: string;
  certificate?: string;
  takesFeeLimit: boolean;
}

/** A rig of an adapter and a fake server over the books of a `FakeNode`, which is closed when the test ends. */
export function fakeRig(adapter: LightningAdapter, options: RigOptions) {
  const { url, node, close, secret, certificate, takesFeeLimit } = options;
  onTestFinished(close);
  const start = () => {
    const network = createNetwork({ certificate });
    const world = worldOfProcess(network.send);
    const backend = adapter.create({
      url,
      network: node.network,
      send: network.send,
      world,
      secret: async () => secret,
    });
    onTestFinished(async () => {
      await backend.close?.();
      await network.close();
    });
    return backend;
  };
  return {
    node,
    start,
    startOther() {
      node.nodeId = '03'.padEnd(66, 'b');
      return start();
    },
    foreignInvoice: async (amountMsat: number) => node.foreignInvoice(amountMsat),
    payFromOutside: async (invoice: string) => node.receive(invoice),
    faults: {
      next: (fate) => node.next(fate),
      end: (invoice, state) => node.end(invoice, state),
      reportUnknownState: () => {
        node.reportedState = 'BEING_RESOLVED';
      },
      setFee: (feeMsat) => {
        node.feeMsat = feeMsat;
      },
      takesFeeLimit,
      asked: () => node.asked.length,
    },
    stop: close,
  } satisfies BackendRig & { node: FakeNode };
}
