import { ApiError } from '../../../shared/errors.ts';
import { listOf } from '../../../shared/json/json-object.ts';
import { BackendFailure } from '../../features/lightning/backend.ts';
import type {
  BackendInfo,
  NodeMove,
  PaymentFailure,
  PaymentOutcome,
} from '../../features/lightning/index.ts';
import { type Json, objectsOf, textOf } from '../json.ts';
import type { LightningAdapter } from './adapter.ts';
import { amountOf, feeOf, timeOf, wholeOf } from './amounts.ts';
import { networkNamed } from './network-names.ts';
import { nodeTimeoutMs } from './node-call.ts';
import type { WalletConnection } from './nostr-wallet.ts';
import { preimageFrom } from './preimage.ts';

const payTimeoutMs = 90_000;
/** Requests have no fee limit. Wallets have limits of their own, of which this is the usual one. */
const usualFeeLimit = { share: 0.01, minMsat: 10_000 };
const requiredMethods = ['pay_invoice', 'make_invoice', 'lookup_invoice', 'get_balance'];

/** Any wallet that supports Nostr Wallet Connect (NIP-47), with the string that it gives out. Amounts are in msats. */
export const nwc: LightningAdapter = {
  secretForm: 'a connection string: nostr+walletconnect://, a public key, relay and secret',
  parseSecret(given) {
    const text = given.toString('utf8').trim();
    return connectionIn(text) && text;
  },
  create({ network, secret, world }) {
    const link = walletLink(secret, world);
    const ask = async (method: string, params: Json, signal?: AbortSignal, timeoutMs = nodeTimeoutMs) =>
      await (await link.wallet()).ask(method, params, { timeoutMs, signal });
    const expect = async (method: string, params: Json, signal?: AbortSignal): Promise<Json> => {
      const answer = await ask(method, params, signal);
      if ('result' in answer) return answer.result;
      throw failureFor(method, answer);
    };
    /** Undefined if the wallet has no such invoice or payment. */
    const lookUp = async (paymentHash: string, signal: AbortSignal): Promise<Json | undefined> => {
      const answer = await ask('lookup_invoice', { payment_hash: paymentHash }, signal);
      if ('result' in answer) return answer.result;
      if (answer.refusal === 'NOT_FOUND') return undefined;
      throw failureFor('lookup_invoice', answer);
    };
    const lookUpPayment = async (paymentHash: string, signal: AbortSignal): Promise<PaymentOutcome> =>
      outcomeOf(await lookUp(paymentHash, signal), world.now());
    return {
      name: 'nwc',
      network,
      isConnected: true,
      // Many wallets show a connection only what it received.
      mayForget: true,
      async nodeId(signal) {
        const answer = await ask('get_info', {}, signal);
        return 'result' in answer ? textOf(answer.result.pubkey) || null : null;
      },
      async check(signal): Promise<BackendInfo> {
        const info = await expect('get_info', {}, signal);
        const { balance } = await expect('get_balance', {}, signal);
        const methods = listOf(info.methods);
        const missing = requiredMethods.filter((method) => !methods.includes(method));
        const clock = (await link.wallet()).clockProblem();
        return {
          nodeId: textOf(info.pubkey) || null,
          network: networkNamed(textOf(info.network)),
          balanceMsat: wholeOf(balance) ?? null,
          problems: [
            ...(missing.length === 0 ? [] : [`The connection does not permit ${missing.join(', ')}.`]),
            ...(clock === undefined ? [] : [clock]),
          ],
        };
      },
      async prepare(signal) {
        await expect('get_balance', {}, signal);
      },
      async createInvoice({ amountMsat, description, descriptionHash, expirySeconds }) {
        const { invoice } = await expect('make_invoice', {
          amount: amountMsat,
          expiry: expirySeconds,
          ...(descriptionHash === undefined ? { description } : { description_hash: descriptionHash }),
        });
        if (typeof invoice === 'string') return { invoice: invoice.toLowerCase() };
        throw new BackendFailure('rejected', 'The wallet returned no invoice.');
      },
      async pay({ invoice, paymentHash, signal }) {
        const answer = await ask('pay_invoice', { invoice }, signal, payTimeoutMs);
        if ('result' in answer) {
          const preimage = preimageFrom(textOf(answer.result.preimage), 'hex');
          const { fees_paid: fee } = answer.result;
          if (preimage && fee !== undefined) return { state: 'succeeded', preimage, feeMsat: feeOf(fee) };
          return await lookUpPayment(paymentHash, signal);
        }
        // Other codes, PAYMENT_FAILED included, may mean that the wallet stopped waiting.
        const reason = definiteRefusals[answer.refusal];
        if (reason === undefined) return await lookUpPayment(paymentHash, signal);
        // The wallet may know an earlier payment. A connection that permits few methods may not say.
        const found = await lookUp(paymentHash, signal).catch(() => undefined);
        const isFound = found !== undefined && !isIncoming(found);
        return isFound ? outcomeOf(found, world.now()) : { state: 'failed', reason };
      },
      lookUpPayment,
      async lookUpInvoice(paymentHash, signal) {
        const found = await lookUp(paymentHash, signal);
        if (found === undefined || isOutgoing(found) || !isSettled(found)) return undefined;
        return { receivedMsat: amountOf(found.amount) };
      },
      ownFeeMsat: (amountMsat) =>
        Math.max(usualFeeLimit.minMsat, Math.ceil(amountMsat * usualFeeLimit.share)),
      async history(since, signal) {
        const from = Math.max(0, Math.floor(since / 1000));
        const found = new Map<string, Json>();
        for (let offset = 0; ; ) {
          const page = { from, limit: pageSize, offset, unpaid: false };
          const entries = objectsOf((await expect('list_transactions', page, signal)).transactions);
          const known = found.size;
          for (const entry of entries) found.set(`${entry.type} ${entry.payment_hash}`, entry);
          // A wallet may have shorter pages than asked for, or know of no offset.
          if (found.size === known)
            return [...found.values()]
              .map((entry) => moveOf(entry, since))
              .filter((move) => move !== undefined);
          offset += entries.length;
        }
      },
      close: link.close,
    };
  },
};

const pageSize = 50;

function moveOf(entry: Json, since: number): NodeMove | undefined {
  const state = stateOf(entry);
  const paymentHash = textOf(entry.payment_hash)?.toLowerCase();
  const isPayment = isOutgoing(entry);
  if (paymentHash === undefined || (!isPayment && !(isIncoming(entry) && isSettled(entry)))) return undefined;
  if (isPayment && (state === 'failed' || state === 'expired')) return undefined;
  const preimage = preimageFrom(textOf(entry.preimage), 'hex');
  const invoice = textOf(entry.invoice);
  return {
    kind: isPayment ? 'payment' : 'receipt',
    paymentHash,
    amountMsat: amountOf(entry.amount),
    feeMsat: isPayment ? feeOf(entry.fees_paid) : 0,
    at: timeOf(entry.created_at) ?? since,
    ...(preimage && { preimage }),
    ...(isPayment && !isSettled(entry) && { isPending: true as const }),
    ...(invoice && { invoice: invoice.toLowerCase() }),
  };
}

type Wallet = import('./nostr-wallet.ts').NostrWallet;

/** The connection of the current secret; another one replaces it. */
function walletLink(
  secret: () => Promise<string>,
  world: ConstructorParameters<typeof import('./nostr-wallet.ts').NostrWallet>[1],
) {
  let current: { text: string; wallet: Promise<Wallet> } | undefined;
  const connect = async (text: string): Promise<Wallet> => {
    const connection = connectionIn(text);
    if (connection === undefined)
      throw new ApiError('unavailable', { message: 'The connection string is invalid.' });
    const { NostrWallet } = await import('./nostr-wallet.ts');
    return new NostrWallet(connection, world);
  };
  const close = async () => await (await current?.wallet)?.close();
  return {
    async wallet(): Promise<Wallet> {
      const text = await secret();
      if (current?.text !== text) {
        void close().catch(() => {});
        current = { text, wallet: connect(text) };
      }
      return await current.wallet;
    },
    close,
  };
}

/** Parses a connection string, also as BTCPay Server stores it; undefined if it is not one. */
function connectionIn(text: string): WalletConnection | undefined {
  const [, walletKey, query] =
    /^(?:type=nwc;\s*key=)?nostr\+?walletconnect:(?:\/\/)?([0-9a-f]{64})\/?\?([^\s;]+);?$/i.exec(text) ?? [];
  const values = new URLSearchParams(query);
  const relays = values.getAll('relay').map((relay) => relay.trim());
  const usable = relays.filter((relay) => /^wss?:\/\/\S+$/i.test(relay) && URL.canParse(relay));
  const secret = values.get('secret')?.trim();
  if (walletKey === undefined || usable.length === 0 || !secret || !/^[0-9a-f]{64}$/i.test(secret))
    return undefined;
  return {
    walletKey: walletKey.toLowerCase(),
    relays: [...new Set(usable)],
    secretKey: Buffer.from(secret, 'hex'),
  };
}

/** Refusals before anything was sent, some of which only wallets define and NIP-47 does not. */
const definiteRefusals: Readonly<Record<string, PaymentFailure>> = {
  INSUFFICIENT_BALANCE: 'insufficient_balance',
  QUOTA_EXCEEDED: 'rejected',
  RATE_LIMITED: 'rejected',
  RESTRICTED: 'rejected',
  UNAUTHORIZED: 'rejected',
  NOT_IMPLEMENTED: 'rejected',
  EXPIRED: 'rejected',
  BAD_REQUEST: 'rejected',
  UNSUPPORTED_ENCRYPTION: 'rejected',
};

const stateOf = ({ state }: Json) => textOf(state)?.toLowerCase();
const isIncoming = ({ type }: Json) => textOf(type)?.toLowerCase() === 'incoming';
const isOutgoing = ({ type }: Json) => textOf(type)?.toLowerCase() === 'outgoing';

/** Wallets without `state` tell by the time of settlement. */
function isSettled(entry: Json): boolean {
  const state = stateOf(entry);
  return state === 'settled' || (state === undefined && timeOf(entry.settled_at) !== undefined);
}

function outcomeOf(found: Json | undefined, nowMs: number): PaymentOutcome {
  if (found === undefined) return { state: 'pending', isUnknown: true };
  if (isIncoming(found))
    return canStillBePaid(found, nowMs) ? { state: 'pending' } : { state: 'failed', reason: 'rejected' };
  if (isSettled(found)) {
    const preimage = preimageFrom(textOf(found.preimage), 'hex');
    return preimage
      ? { state: 'succeeded', preimage, feeMsat: feeOf(found.fees_paid) }
      : { state: 'pending' };
  }
  if (stateOf(found) !== 'failed') return { state: 'pending' };
  const startedAt = timeOf(found.created_at);
  return { state: 'failed', reason: 'failed', ...(startedAt !== undefined && { startedAt }) };
}

/** How much longer than its clock says a node may take payments of an invoice. */
const expiryMarginMs = 3_600_000;

/**
 * Whether the wallet's own invoice was or may still be paid. If not, the wallet's payment to itself has failed, whatever code
 * it was refused with: only the wallet knows the preimage, and reveals it when the invoice is paid.
 */
function canStillBePaid(invoice: Json, nowMs: number): boolean {
  const state = stateOf(invoice);
  const isOpen = state === undefined || state === 'pending' || state === 'expired';
  // `accepted`: a payment is held.
  if (isSettled(invoice) || !isOpen) return state !== 'failed';
  const expiresAt = timeOf(invoice.expires_at);
  return expiresAt === undefined ? state !== 'expired' : expiresAt + expiryMarginMs > nowMs;
}

function failureFor(method: string, { refusal, why }: { refusal: string; why: string }): BackendFailure {
  const isDenied = ['UNAUTHORIZED', 'RESTRICTED', 'NOT_IMPLEMENTED'].includes(refusal);
  const code = /^[A-Z_]{1,40}$/.test(refusal) ? refusal : 'an unknown code';
  if (isDenied) return new BackendFailure('unauthorized', `The connection does not permit ${method}.`);
  return new BackendFailure('rejected', `The wallet refused ${method}: ${code}${why && ` (${why})`}.`);
}
