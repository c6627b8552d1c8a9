import { createHash } from 'node:crypto';
import type { World } from '../../base/world.ts';
import { type LightningBackend, loadBolt11, type NodeKey } from '../lightning/index.ts';

interface EmbeddedDeps {
  /** The key that signs a wallet's invoices. Fails with `unavailable` while the vault is sealed. */
  nodeKeyOf: (walletId: string) => Promise<NodeKey>;
  world: Pick<World, 'now' | 'randomBytes'>;
}

/** Onion messages, payment secrets and multi-part payments, as every node expects of an invoice. */
const features = [8, 14, 17];

/**
 * Lightning without a node: invoices are signed by the wallet's own key, for the network of play money, so that no real
 * wallet tries to pay them. Only wallets of this host can pay them, which never involves the back end.
 */
export function embeddedBackend({ nodeKeyOf, world }: EmbeddedDeps): LightningBackend {
  return {
    name: 'embedded',
    network: 'regtest',
    isConnected: false,
    nodeId: async () => null,
    check: async () => ({ nodeId: null, network: 'regtest', balanceMsat: null, problems: [] }),
    prepare: async () => {},
    async createInvoice({ walletId, amountMsat, description, descriptionHash, expirySeconds }) {
      const { encodeInvoice } = await loadBolt11();
      const { privateKey } = await nodeKeyOf(walletId);
      const preimage = world.randomBytes(32);
      const invoice = encodeInvoice(
        {
          network: 'regtest',
          amountMsat,
          timestamp: Math.floor(world.now() / 1000),
          expirySeconds,
          paymentHash: createHash('sha256').update(preimage).digest(),
          paymentSecret: world.randomBytes(32),
          description:
            descriptionHash === undefined ? description : { hash: Buffer.from(descriptionHash, 'hex') },
          features,
        },
        privateKey,
      );
      privateKey.fill(0);
      return { invoice, preimage };
    },
    pay: async () => ({ state: 'failed', reason: 'no_route' }),
    lookUpPayment: async () => ({ state: 'pending', isUnknown: true }),
    lookUpInvoice: async () => undefined,
    cancelInvoice: async () => true,
  };
}
