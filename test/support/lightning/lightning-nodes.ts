import { eventually } from '../eventually.ts';
import { freePort } from '../free-port.ts';
import { type ElectrumNode, startElectrumNode } from './electrum-node.ts';
import { startElectrumServer } from './electrum-server.ts';
import { regtestChain } from './regtest-chain.ts';

/** Two Lightning nodes on loopback with an open channel, in which both have money. */
export interface LightningNodes {
  alice: ElectrumNode;
  bob: ElectrumNode;
  /** A new invoice of Bob, for whole satoshis. */
  invoiceOfBob(amountMsat: number): Promise<string>;
  /** Waits until payments are possible, after a restart of a node. */
  connected(): Promise<void>;
  close(): Promise<void>;
}

const fundingSats = 100_000_000;
/** In BTC. Alice keeps 0.10 BTC, less a reserve; bob is given the rest. */
const channel = { amount: 0.15, push_amount: 0.05 };
const confirmations = 6;

/** Starts a chain, an Electrum server and two nodes, and opens a channel between them. */
export async function startLightningNodes(): Promise<LightningNodes> {
  const chain = regtestChain();
  chain.mine(10);
  const server = await startElectrumServer(chain);
  const lightningPort = await freePort();
  const [alice, bob] = await Promise.all([
    startElectrumNode({ serverPort: server.port }),
    startElectrumNode({ serverPort: server.port, lightningPort }),
  ]);
  const mine = (count: number) => {
    chain.mine(count);
    server.announce();
  };
  const connected = async () => {
    for (const node of [alice, bob]) {
      await eventually('the channel is open', async () => {
        const [found] = await node.call('list_channels');
        return found?.state === 'OPEN' && found.peer_state === 'GOOD';
      });
    }
  };

  chain.fund(await alice.call('getunusedaddress'), fundingSats);
  mine(1);
  for (const node of [alice, bob]) {
    await eventually('the node is connected', async () => (await node.call('getinfo')).connected);
  }
  await eventually('the funds arrive', async () => Number((await alice.call('getbalance')).confirmed) > 0);
  await alice.call('open_channel', { connection_string: await bob.call('nodeid'), ...channel });
  mine(confirmations);
  await connected();
  return {
    alice,
    bob,
    connected,
    async invoiceOfBob(amountMsat) {
      const amount = (amountMsat / 100_000_000_000).toFixed(8);
      return (await bob.call('add_request', { amount, memo: 'Books', force: true })).lightning_invoice;
    },
    async close() {
      await Promise.all([alice.close(), bob.close()]);
      await server.close();
    },
  };
}

/** Electrum needs to know its Lightning port before it starts. */
