import { randomBytes } from 'node:crypto';
import { WebSocket } from 'ws';
import {
  isAuthentic,
  type NostrEvent,
  nip04,
  nip44,
  publicKeyOf,
  signEvent,
} from '../../../src/daemon/upstream/lightning/nostr.ts';
import { FakeNode, type FakePayment } from './fake-node.ts';
import { startFakeRelay } from './fake-relay.ts';

export const walletSecret = new Uint8Array(32).fill(11);
export const clientSecret = new Uint8Array(32).fill(13);

export interface FakeNwcOptions {
  encryption?: 'nip44_v2' | 'nip04';
  /** Whether no relay has the event that says so. */
  isUnknown?: boolean;
  /** What the connection permits. */
  methods?: readonly string[];
  /** By how much the clock of the wallet is ahead, in seconds. */
  aheadSeconds?: number;
  /** Changes its answers. */
  // biome-ignore lint/suspicious/noExplicitAny: the answers of wallets have any form.
  rewrite?: (answer: any, method: string) => unknown;
}

export const allMethods = [
  'get_info',
  'get_balance',
  'make_invoice',
  'pay_invoice',
  'lookup_invoice',
  'list_transactions',
] as const;

/** A wallet that supports Nostr Wallet Connect (NIP-47), and its relay. */
export async function startFakeNwc(
  {
    encryption = 'nip44_v2',
    isUnknown = false,
    methods = allMethods,
    aheadSeconds = 0,
    rewrite = (answer) => answer,
  }: FakeNwcOptions = {},
  node = new FakeNode(),
) {
  const relay = await startFakeRelay();
  const walletKey = publicKeyOf(walletSecret);
  const clientKey = publicKeyOf(clientSecret);
  const make = encryption === 'nip04' ? nip04 : nip44;
  const cipher = make(walletSecret, clientKey, (count) => randomBytes(count));
  const socket = new WebSocket(relay.url);
  await new Promise((resolve) => socket.once('open', resolve));
  const publish = (kind: number, tags: string[][], content: string) => {
    const created_at = Math.floor(Date.now() / 1000) + aheadSeconds;
    socket.send(JSON.stringify(['EVENT', signEvent({ kind, created_at, tags, content }, walletSecret)]));
  };
  if (!isUnknown)
    publish(13194, encryption === 'nip04' ? [] : [['encryption', 'nip44_v2 nip04']], methods.join(' '));
  const serve = async (event: NostrEvent) => {
    if (!isAuthentic(event) || event.pubkey !== clientKey) return;
    const expiration = event.tags.find(([name]) => name === 'expiration')?.[1];
    if (Number(expiration) < Date.now() / 1000 + aheadSeconds) return;
    if (event.content.includes('?iv=') !== (encryption === 'nip04')) {
      const old = nip04(walletSecret, clientKey, (count) => randomBytes(count));
      const refusal = { error: { code: 'UNSUPPORTED_ENCRYPTION', message: 'no' } };
      return publish(
        23195,
        [
          ['p', clientKey],
          ['e', event.id],
        ],
        old.encrypt(JSON.stringify(refusal)),
      );
    }
    const { method, params } = JSON.parse(cipher.decrypt(event.content));
    const answer = methods.includes(method)
      ? await answerTo(node, method, params)
      : { error: { code: 'RESTRICTED', message: 'not permitted' } };
    if (answer === 'vanish') return relay.disconnect();
    if (socket.readyState !== socket.OPEN) return;
    const tags = [
      ['p', clientKey],
      ['e', event.id],
    ];
    const whole = rewrite({ result_type: method, result: null, ...answer }, method);
    publish(23195, tags, cipher.encrypt(JSON.stringify(whole)));
  };
  socket.on('message', (data) => {
    const [type, , event] = JSON.parse(String(data));
    if (type === 'EVENT') void serve(event);
  });
  socket.send(JSON.stringify(['REQ', 'requests', { kinds: [23194], '#p': [walletKey] }]));
  const secret = connectionString(relay.url);
  const close = async () => {
    socket.terminate();
    await relay.close();
  };
  return { url: relay.url, relay, node, secret, close };
}

/** What the fake wallets give out. */
export function connectionString(...relayUrls: string[]): string {
  const query = new URLSearchParams({ secret: hex(clientSecret) });
  for (const url of relayUrls) query.append('relay', url);
  return `nostr+walletconnect://${publicKeyOf(walletSecret)}?${query}`;
}

type Answer = { result: unknown } | { error: { code: string; message: string } } | 'vanish';

/** What a wallet over the books of a node answers. */
// biome-ignore lint/suspicious/noExplicitAny: the parameters of the methods.
export async function answerTo(node: FakeNode, method: string, params: any): Promise<Answer> {
  switch (method) {
    case 'get_info':
      return {
        result: { alias: 'Fake', pubkey: node.nodeId, network: node.network, methods: allMethods },
      };
    case 'get_balance':
      return { result: { balance: node.balanceMsat } };
    case 'make_invoice': {
      const { amount: amountMsat, description, expiry: expirySeconds } = params;
      const { invoice, paymentHash } = node.createInvoice({ amountMsat, description, expirySeconds });
      return { result: { type: 'incoming', invoice, payment_hash: paymentHash, amount: amountMsat } };
    }
    case 'pay_invoice':
      return await pay(node, params.invoice);
    case 'list_transactions': {
      const { from = 0, limit = 20, offset = 0 } = params;
      const hashes = [...node.incoming.keys(), ...node.outgoing.keys()];
      const listed = hashes.map((hash) => {
        const found = lookUp(node, hash);
        return typeof found === 'object' && 'result' in found
          ? (found.result as { state: string; created_at: number })
          : undefined;
      });
      const since = listed.filter(
        (each) => each !== undefined && each.state === 'settled' && each.created_at >= from,
      );
      return { result: { transactions: since.reverse().slice(offset, offset + Math.min(2, limit)) } };
    }
    default:
      return lookUp(node, params.payment_hash);
  }
}

async function pay(node: FakeNode, invoice: string): Promise<Answer> {
  try {
    const { payment, vanishes } = node.pay(invoice);
    await payment.ended;
    if (vanishes) return 'vanish';
    if (payment.state === 'failed') return { error: { code: 'PAYMENT_FAILED', message: 'no route' } };
    if (node.reportedState !== undefined) return { result: {} };
    return { result: { preimage: hex(payment.preimage), fees_paid: payment.feeMsat } };
  } catch (error) {
    const { message } = error as Error;
    const code = /self-payments/.test(message) ? 'RESTRICTED' : 'OTHER';
    return { error: { code, message } };
  }
}

const states: Readonly<Record<FakePayment['state'], string>> = {
  'in-flight': 'pending',
  succeeded: 'settled',
  failed: 'failed',
};

function lookUp(node: FakeNode, hash: string): Answer {
  const payment = node.outgoing.get(hash);
  if (payment) {
    const { state, invoice, preimage, feeMsat, startedAt, amountMsat } = payment;
    const reported = node.reportedState ?? states[state];
    return {
      result: {
        type: 'outgoing',
        payment_hash: hash,
        invoice,
        state: reported,
        amount: amountMsat,
        fees_paid: feeMsat,
        ...(reported === 'settled' && { preimage: hex(preimage) }),
        created_at: Math.floor(startedAt / 1000),
      },
    };
  }
  const invoice = node.incoming.get(hash);
  if (!invoice) return { error: { code: 'NOT_FOUND', message: 'no such transaction' } };
  const { amountMsat, createdAt, expiresAt } = invoice;
  const unpaid = expiresAt > Date.now() ? 'pending' : 'expired';
  return {
    result: {
      type: 'incoming',
      payment_hash: hash,
      invoice: invoice.invoice,
      created_at: Math.floor(createdAt / 1000),
      state: invoice.state === 'paid' ? 'settled' : unpaid,
      amount: amountMsat,
      expires_at: Math.floor(expiresAt / 1000),
    },
  };
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
