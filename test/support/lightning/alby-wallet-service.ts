import {
  NWCWalletService,
  NWCWalletServiceKeyPair,
  type NWCWalletServiceRequestHandler,
  type NWCWalletServiceResponse,
} from '@getalby/sdk/nwc';
import { publicKeyOf } from '../../../src/daemon/upstream/lightning/nostr.ts';
import { FakeNode } from './fake-node.ts';
import { allMethods, answerTo, clientSecret, connectionString, walletSecret } from './fake-nwc.ts';
import { startFakeRelay } from './fake-relay.ts';

const walletSecretHex = Buffer.from(walletSecret).toString('hex');

/**
 * The wallet service of `@getalby/sdk`, which signs, encrypts and subscribes by its own code, over the books of a
 * `FakeNode`. With `nip04`, its information event names no encryption, like that of older wallets.
 */
export async function startAlbyWalletService({ encryption }: { encryption: 'nip44_v2' | 'nip04' }) {
  const node = new FakeNode();
  const relay = await startFakeRelay();
  const service = new NWCWalletService({ relayUrls: [relay.url] });
  // biome-ignore lint/suspicious/noExplicitAny: the results of each method, as NIP-47 documents them.
  const answer = async (method: string, params: object): Promise<NWCWalletServiceResponse<any>> => {
    const given = await answerTo(node, method, params);
    if (given === 'vanish') {
      relay.disconnect();
      return await new Promise(() => {});
    }
    return 'error' in given
      ? { result: undefined, error: given.error }
      : { result: given.result, error: undefined };
  };
  const handler: NWCWalletServiceRequestHandler = {
    getInfo: () => answer('get_info', {}),
    getBalance: () => answer('get_balance', {}),
    makeInvoice: (request) => answer('make_invoice', request),
    payInvoice: (request) => answer('pay_invoice', request),
    lookupInvoice: (request) => answer('lookup_invoice', request),
    listTransactions: (request) => answer('list_transactions', request),
  };
  await service.subscribe(new NWCWalletServiceKeyPair(walletSecretHex, publicKeyOf(clientSecret)), handler);
  if (encryption === 'nip44_v2') {
    await service.publishWalletServiceInfoEvent(walletSecretHex, [...allMethods], []);
  } else {
    const created_at = Math.floor(Date.now() / 1000);
    const info = { kind: 13194, created_at, tags: [], content: allMethods.join(' ') };
    await Promise.all(service.pool.publish([relay.url], await service.signEvent(info, walletSecretHex)));
  }
  const close = async () => {
    service.close();
    await relay.close();
  };
  return { url: relay.url, relay, node, secret: connectionString(relay.url), close };
}
