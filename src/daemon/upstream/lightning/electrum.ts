import { listOf } from '../../../shared/json/json-object.ts';
import type { World } from '../../base/world.ts';
import { BackendFailure } from '../../features/lightning/backend.ts';
import type {
  BackendInfo,
  InvoiceRequest,
  IssuedInvoice,
  LightningBackend,
  PaymentFailure,
  PaymentOutcome,
  PaymentRequest,
} from '../../features/lightning/index.ts';
import { type Json, objectOf, objectsOf, parseObject, textOf } from '../json.ts';
import type { LightningAdapter, LightningAdapterDeps } from './adapter.ts';
import { amountOf, integerOf, wholeOf } from './amounts.ts';
import { electrumHistory, markedLabel } from './electrum-history.ts';
import { networkNamed } from './network-names.ts';
import { callNode } from './node-call.ts';
import { preimageFrom } from './preimage.ts';

/** The daemon retries a payment for two minutes, and answers when it ended. */
const payTimeoutMs = 180_000;
/** The history of a wallet is one answer. */
const answerBytesMax = 64 * 1024 * 1024;
/** A payment is in its channel a round trip to the peer after it was sent. */
const settleDownMs = 1_000;
/** The states of invoices in which no payment is being sent: unpaid, expired and failed. Source: electrum/invoices.py. */
const idleStates: readonly unknown[] = [0, 1, 5];
const failedState = 5;
const paidState = 3;
/** Since this version, payments take a fee limit, and invoices need no address. */
const modernVersion = [4, 6, 2];
/** Earlier versions allow as much for fees as 1 % of the amount, or 5 sats if that is more. */
const ownFeeLimit = { share: 0.01, minMsat: 5_000 };

/**
 * The daemon of the Electrum wallet (https://electrum.readthedocs.io/en/latest/jsonrpc.html), with one wallet loaded.
 * Commands and their parameters are in electrum/commands.py.
 */
export const electrum: LightningAdapter = {
  secretForm: 'the user and the password of its JSON-RPC, as user:password, or its file `config`',
  parseSecret(given) {
    const text = given.toString('utf8').trim();
    const { rpcuser, rpcpassword } = parseObject(text) ?? {};
    const secret = typeof rpcuser === 'string' ? `${rpcuser}:${rpcpassword}` : text;
    return /^[^\s:]{1,200}:\S{1,200}$/.test(secret) ? secret : undefined;
  },
  create(deps) {
    const call = commandsOf(deps);
    const node = knowledgeOf(call, deps.world);
    const isModern = async (signal?: AbortSignal) => isModernVersion(await call('version', {}, { signal }));
    return {
      name: 'electrum',
      network: deps.network,
      isConnected: true,
      nodeId: (signal) => nodeIdOf(call, signal),
      check: (signal) => check(call, signal),
      async prepare(signal) {
        await node.channels(signal);
      },
      createInvoice: async (request) => await createInvoice(call, request, await isModern()),
      async pay(request) {
        const { paymentHash, invoice, maxFeeMsat, signal } = request;
        // Electrum cannot pay itself, and would forget that it issued the invoice.
        if (await node.request(paymentHash, signal)) return { state: 'failed', reason: 'no_route' };
        const earlier = await node.invoice(paymentHash, signal);
        if (earlier && !idleStates.includes(earlier.status)) return await node.outcome(request);
        const limit = (await isModern(signal)) ? { max_fee_msat: maxFeeMsat } : {};
        const sending = send(call, node, { invoice, ...limit }, request);
        await markOnceSent(call, node, { request, sending, world: deps.world });
        return await sending;
      },
      lookUpPayment: (paymentHash, signal) => node.outcome({ paymentHash, signal }),
      async lookUpInvoice(paymentHash, signal) {
        const request = await node.request(paymentHash, signal);
        if (request?.status !== paidState) return undefined;
        const entry = await node.settled(paymentHash, signal);
        if (entry === undefined) return undefined;
        const received = amountOf(entry.amount_msat);
        const asked = amountOf(request.amount_msat);
        if (asked === null)
          throw new BackendFailure('rejected', 'Electrum lists an invoice whose amount cannot be read.');
        // Parts of a payment are settled one by one.
        return received === null || received >= asked ? { receivedMsat: received } : undefined;
      },
      history: (since, signal) => electrumHistory((command) => call(command, {}, { signal }), since),
      cannotPayItself: true,
      ownFeeMsat: (amountMsat) => Math.max(ownFeeLimit.minMsat, Math.ceil(amountMsat * ownFeeLimit.share)),
    } satisfies LightningBackend;
  },
};

interface CallOptions {
  signal?: AbortSignal | undefined;
  timeoutMs?: number;
}

/** Runs a command. Fails with a BackendFailure of kind `rejected` for an error of the daemon. */
type RunCommand = (command: string, params: Json, options?: CallOptions) => Promise<unknown>;

/** Source: `AuthenticatedServer` in electrum/daemon.py. */
function commandsOf({ url, secret, send }: LightningAdapterDeps): RunCommand {
  return async (command, params, { signal, timeoutMs } = {}) => {
    const authorization = `Basic ${Buffer.from(await secret()).toString('base64')}`;
    const { status, json } = await callNode(send, {
      method: 'POST',
      url,
      bytesMax: answerBytesMax,
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: command, params }),
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(signal && { signal }),
    });
    if (status === 401 || status === 403)
      throw new BackendFailure('unauthorized', 'Electrum rejects the user or the password.');
    const error = objectOf(json?.error);
    if (error) throw new BackendFailure('rejected', `Electrum: ${textOf(error.message) ?? 'unknown error'}.`);
    if (status === 200 && json !== undefined) return json.result;
    throw new BackendFailure('rejected', `Electrum answered with status ${status}.`);
  };
}

function isRejection(error: unknown): error is BackendFailure {
  return error instanceof BackendFailure && error.kind === 'rejected';
}

function isModernVersion(version: unknown): boolean {
  const parts = String(version).split('.').map(Number);
  for (const [at, wanted] of modernVersion.entries()) {
    const part = parts[at];
    if (part !== wanted) return part !== undefined && part > wanted;
  }
  return true;
}

async function nodeIdOf(call: RunCommand, signal: AbortSignal): Promise<string | null> {
  return textOf(await call('nodeid', {}, { signal }))?.split('@')[0] ?? null;
}

async function check(call: RunCommand, signal: AbortSignal): Promise<BackendInfo> {
  const { network, connected, version } = objectOf(await call('getinfo', {}, { signal })) ?? {};
  const nodeId = await nodeIdOf(call, signal);
  const channels = objectsOf(await call('list_channels', {}, { signal }));
  const open = channels.filter(({ state }) => state === 'OPEN');
  const balances = open.map((channel) => wholeOf(channel.local_balance));
  const sats = balances.every((balance) => balance !== undefined)
    ? balances.reduce((sum, balance) => sum + balance, 0)
    : undefined;
  const problems = [
    ...(connected === true ? [] : ['Electrum is not connected to a server.']),
    ...(open.length > 0 ? [] : ['Electrum has no open channel.']),
    ...(isModernVersion(version) || !(await offersAddresses(call, signal)) ? [] : [offersAddress]),
  ];
  return {
    nodeId,
    network: networkNamed(textOf(network)),
    balanceMsat: sats === undefined ? null : sats * 1000,
    problems,
  };
}

const offersAddress =
  'Electrum adds an on-chain address to its invoices, which wallets cannot follow. Run: electrum setconfig bolt11_fallback false';

async function offersAddresses(call: RunCommand, signal?: AbortSignal): Promise<boolean> {
  return (await call('getconfig', { key: 'bolt11_fallback' }, { signal })) !== false;
}

async function createInvoice(
  call: RunCommand,
  { amountMsat, description: memo, expirySeconds, mark }: InvoiceRequest,
  isModern: boolean,
): Promise<IssuedInvoice> {
  if (!isModern && (await offersAddresses(call))) throw new BackendFailure('not-ready', offersAddress);
  // In BTC, and in whole satoshis.
  const amount = (Math.ceil(amountMsat / 1000) / 100_000_000).toFixed(8);
  const terms = isModern
    ? { expiry: expirySeconds, lightning: true }
    : { expiration: expirySeconds, force: true };
  const request = objectOf(await call('add_request', { amount, memo, ...terms }));
  const invoice = textOf(request?.lightning_invoice);
  const key = textOf(request?.rhash) ?? textOf(request?.payment_hash) ?? textOf(request?.request_id);
  if (key !== undefined) await label(call, { key, mark, description: memo });
  if (invoice !== undefined) return { invoice: invoice.toLowerCase() };
  throw new BackendFailure('rejected', 'The wallet in Electrum has no Lightning.');
}

interface Label {
  /** The payment hash. */
  key: string;
  mark: string | undefined;
  description: string;
  signal?: AbortSignal;
}

/** Says in Electrum's history whose a payment is. A payment does not depend on it. */
async function label(call: RunCommand, { key, mark, description, signal }: Label): Promise<void> {
  if (mark === undefined) return;
  await call('setlabel', { key, label: markedLabel(mark, description) }, { signal }).catch(
    (error: unknown) => {
      if (!isRejection(error)) throw error;
    },
  );
}

const markEveryMs = 20;

/** Electrum replaces the label when it starts a payment. Never rejects: a payment without a mark is a payment, too. */
async function markOnceSent(
  call: RunCommand,
  node: ReturnType<typeof knowledgeOf>,
  { request, sending, world }: Sending,
): Promise<void> {
  const { paymentHash: key, mark, signal } = request;
  if (mark === undefined) return;
  let isOver = false;
  const ended = () => {
    isOver = true;
  };
  sending.then(ended, ended);
  try {
    let invoice: Json | undefined;
    while (!isOver && (invoice === undefined || idleStates.includes(invoice.status))) {
      await world.sleep(markEveryMs, signal);
      invoice = await node.invoice(key, signal);
    }
    if (invoice) await label(call, { key, mark, description: textOf(invoice.message) ?? '', signal });
  } catch {
    // Reconciling the wallets would then ask whose payment it was.
  }
}

interface Sending {
  request: PaymentRequest;
  sending: Promise<unknown>;
  world: Pick<World, 'sleep'>;
}

async function send(
  call: RunCommand,
  node: ReturnType<typeof knowledgeOf>,
  params: Json,
  request: PaymentRequest,
): Promise<PaymentOutcome> {
  const { paymentHash, signal } = request;
  try {
    const answer = objectOf(await call('lnpay', params, { signal, timeoutMs: payTimeoutMs }));
    return await node.outcome(request, listOf(answer?.log).length === 0 ? 'no_route' : 'failed');
  } catch (error) {
    if (!isRejection(error)) throw error;
    // The invoice is stored before anything is sent.
    if (await node.invoice(paymentHash, signal)) return await node.outcome(request);
    return { state: 'failed', reason: 'rejected' };
  }
}

type Sought = Pick<PaymentRequest, 'paymentHash' | 'signal'>;

/** Electrum's records of payments. */
function knowledgeOf(call: RunCommand, world: Pick<World, 'sleep'>) {
  const find = async (command: string, params: Json, signal: AbortSignal): Promise<Json | undefined> => {
    try {
      return objectOf(await call(command, params, { signal }));
    } catch (error) {
      if (isRejection(error) && error.message.includes('not found')) return undefined;
      throw error;
    }
  };

  /** `over`: no attempt is running, and nothing was sent. */
  const look = async ({ paymentHash, signal }: Sought): Promise<PaymentOutcome | 'over'> => {
    const invoice = await knowledge.invoice(paymentHash, signal);
    // The channels before the history: what is in neither was not sent, or has failed.
    const channels = await knowledge.channels(signal);
    const settled = await knowledge.settled(paymentHash, signal);
    // The invoice of a payment may have been deleted in Electrum.
    if (invoice === undefined) {
      const mayBeSent = settled !== undefined || mayHold(channels, {});
      return mayBeSent ? { state: 'pending' } : { state: 'pending', isUnknown: true };
    }
    const sent = successIn(settled, wholeOf(invoice.amount_msat));
    if (sent) return sent;
    return idleStates.includes(invoice.status) && !mayHold(channels, invoice) ? 'over' : { state: 'pending' };
  };

  const knowledge = {
    /** An invoice of another node that was to be paid. */
    invoice: (paymentHash: string, signal: AbortSignal) =>
      find('get_invoice', { invoice_id: paymentHash }, signal),

    /** An invoice of this node. */
    request: (paymentHash: string, signal: AbortSignal) =>
      find('get_request', { request_id: paymentHash }, signal),

    async channels(signal: AbortSignal): Promise<Json[]> {
      return objectsOf(await call('list_channels', {}, { signal }));
    },

    /** The entry of the history for a payment hash: what was received, or sent as a negative amount with the fee. */
    async settled(paymentHash: string, signal: AbortSignal): Promise<Json | undefined> {
      const history = objectsOf(await call('lightning_history', {}, { signal }));
      return history.find((entry) => entry.payment_hash === paymentHash);
    },

    /** A failed payment is deleted from the daemon, which cannot distinguish its attempts. */
    async outcome(
      { paymentHash, signal }: Sought,
      reason: PaymentFailure = 'failed',
    ): Promise<PaymentOutcome> {
      const first = await look({ paymentHash, signal });
      if (first !== 'over') return first;
      await world.sleep(settleDownMs, signal);
      const second = await look({ paymentHash, signal });
      if (second !== 'over') return second;
      await call('delete_invoice', { invoice_id: paymentHash }, { signal });
      return { state: 'failed', reason };
    },
  };
  return knowledge;
}

/** The success that an entry of the history proves, once all parts are settled. */
function successIn(entry: Json | undefined, amountMsat: number | undefined): PaymentOutcome | undefined {
  const moved = integerOf(entry?.amount_msat);
  const preimage = preimageFrom(textOf(entry?.preimage), 'hex');
  if (moved === undefined || amountMsat === undefined || preimage === undefined) return undefined;
  return -moved < amountMsat ? undefined : { state: 'succeeded', preimage, feeMsat: -moved - amountMsat };
}

/**
 * Whether channels may hold a part of the payment; only the sum of what each channel holds is known. After a restart,
 * which makes a failed invoice unpaid again, a part may be missing from it until the peer is connected.
 */
function mayHold(channels: readonly Json[], { status }: Json): boolean {
  return channels.some(
    ({ type, state, peer_state, local_unsettled_sent: held }) =>
      type !== 'BACKUP' &&
      state !== 'REDEEMED' &&
      (wholeOf(held) !== 0 || (status !== failedState && state === 'OPEN' && peer_state !== 'GOOD')),
  );
}
