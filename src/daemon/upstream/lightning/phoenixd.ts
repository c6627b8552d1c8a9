import { BackendFailure } from '../../features/lightning/backend.ts';
import type {
  BackendInfo,
  NodeMove,
  PaymentFailure,
  PaymentOutcome,
} from '../../features/lightning/index.ts';
import { type Json, objectsOf, parseObject, textOf } from '../json.ts';
import type { LightningAdapter, LightningAdapterDeps } from './adapter.ts';
import { amountOf, feeOf, wholeOf } from './amounts.ts';
import { networkNamed } from './network-names.ts';
import { callNode, type NodeAnswer } from './node-call.ts';
import { preimageFrom } from './preimage.ts';

/** phoenixd answers a payment when it ended; the node retries for about a minute. */
const payTimeoutMs = 120_000;
/** What phoenixd charges for a payment: 0.4 % and 4 satoshis. It takes no limit. */
const fee = { share: 0.004, baseMsat: 4000 };
/** Descriptions that are longer are refused. */
const descriptionMax = 128;

/** phoenixd (https://phoenix.acinq.co/server/api): forms in, JSON out, whole satoshis, no idempotency. */
export const phoenixd: LightningAdapter = {
  secretForm: 'the http-password of its phoenix.conf',
  parseSecret: (given) => secretIn(given.toString('utf8')),
  create(deps) {
    const call = caller(deps);
    const lookUpPayment = async (paymentHash: string, signal: AbortSignal): Promise<PaymentOutcome> =>
      outcomeOf(await call('GET', `/payments/outgoingbyhash/${paymentHash}`, { signal }));
    const check = async (signal: AbortSignal): Promise<BackendInfo> => {
      const info = await expectJson(call('GET', '/getinfo', { signal }));
      const balance = await expectJson(call('GET', '/getbalance', { signal }));
      // Without an invoice nothing is paid; a password with limited access is rejected before that is noticed.
      const { status } = await call('POST', '/payinvoice', { form: {}, signal });
      const isLimited = status === 401 || status === 403;
      return infoOf(info, balance, isLimited ? [limitedPassword] : []);
    };
    return {
      name: 'phoenixd',
      network: deps.network,
      isConnected: true,
      async nodeId(signal) {
        return textOf((await expectJson(call('GET', '/getinfo', { signal }))).nodeId) ?? null;
      },
      check,
      async prepare(signal) {
        await expectJson(call('GET', '/getbalance', { signal }));
      },
      async createInvoice({ amountMsat, description, descriptionHash, expirySeconds, mark }) {
        const form = {
          amountSat: String(Math.ceil(amountMsat / 1000)),
          ...(descriptionHash === undefined ? { description: shortened(description) } : { descriptionHash }),
          expirySeconds: String(expirySeconds),
          ...(mark !== undefined && { externalId: mark }),
        };
        const { serialized } = await expectJson(call('POST', '/createinvoice', { form }));
        if (typeof serialized === 'string') return { invoice: serialized.toLowerCase() };
        throw new BackendFailure('rejected', 'phoenixd returned no invoice.');
      },
      async pay({ invoice, paymentHash, signal }) {
        const form = { invoice };
        const answer = await call('POST', '/payinvoice', { form, timeoutMs: payTimeoutMs, signal });
        const known = await lookUpPayment(paymentHash, signal);
        // A refusal is definite only if there is no payment: its reason may be that one is under way.
        const refusal = textOf(answer.json?.reason) ?? (isRefused(answer) ? '' : undefined);
        const isUnknown = known.state === 'pending' && known.isUnknown === true;
        return isUnknown && refusal !== undefined ? { state: 'failed', reason: failureOf(refusal) } : known;
      },
      lookUpPayment,
      async lookUpInvoice(paymentHash, signal) {
        const answer = await call('GET', `/payments/incoming/${paymentHash}`, { signal });
        if (answer.status === 404) return undefined;
        const { isPaid, receivedSat } = succeeded(answer);
        // Nothing is received if the whole amount became fee credit of the node; its payer paid it nevertheless.
        return isPaid === true ? { receivedMsat: amountOf(receivedSat, 1000) } : undefined;
      },
      cannotPayItself: true,
      async revealPreimage(paymentHash, signal) {
        const answer = await call('GET', `/payments/incoming/${paymentHash}`, { signal });
        if (answer.status === 404) return undefined;
        const { isPaid, preimage } = succeeded(answer);
        return isPaid === false ? preimageFrom(textOf(preimage), 'hex') : undefined;
      },
      async history(since, signal) {
        const received = await pagesOf(call, `/payments/incoming?from=${since}`, signal);
        // Without `all`, payments that are under way are left out.
        const paid = await pagesOf(call, `/payments/outgoing?all=true&from=${since}`, signal);
        const moves = [...received.map(receiptOf), ...paid.map(paymentOf)].filter(
          (move) => move !== undefined,
        );
        return moves.map(({ at, ...move }) => ({ ...move, at: at ?? since }));
      },
      ownFeeMsat: (amountMsat) => Math.ceil(amountMsat * fee.share) + fee.baseMsat,
    };
  },
};

const rejectsPassword = 'phoenixd rejects the password.';
const limitedPassword =
  'The password has limited access and cannot pay. Use `http-password` of phoenix.conf.';
const noChannel = 'phoenixd has no open channel yet. It opens one with the first payment that it receives.';

interface CallOptions {
  form?: Record<string, string>;
  timeoutMs?: number;
  bytesMax?: number;
  signal?: AbortSignal;
}

const pageSize = 500;
const pageBytesMax = 16 * 1024 * 1024;

/** All entries of a list. */
async function pagesOf(call: ReturnType<typeof caller>, path: string, signal: AbortSignal): Promise<Json[]> {
  const found: Json[] = [];
  for (;;) {
    const page = `${path}&limit=${pageSize}&offset=${found.length}`;
    const { status, text } = await call('GET', page, { signal, bytesMax: pageBytesMax });
    // A list, which is not an object.
    const json = parseObject(`{"entries":${text}}`);
    const entries = objectsOf(succeeded({ status, text, json }).entries);
    found.push(...entries);
    if (entries.length < pageSize) return found;
  }
}

/** `at` is undefined if it cannot be read. */
type Listed = Omit<NodeMove, 'at'> & { at: number | undefined };

function receiptOf(entry: Json): Listed | undefined {
  const move = moveOf('receipt', entry);
  if (!move || entry.isPaid !== true) return undefined;
  const mark = textOf(entry.externalId);
  return { ...move, amountMsat: amountOf(entry.receivedSat, 1000), ...(mark !== undefined && { mark }) };
}

function paymentOf(entry: Json): Listed | undefined {
  const move = moveOf('payment', entry);
  if (!move || (move.preimage === undefined && wholeOf(entry.completedAt) !== undefined)) return undefined;
  const feeMsat = feeOf(entry.fees);
  const sent = amountOf(entry.sent, 1000);
  // What was sent includes the fees, and both are zero until it ended.
  const amountMsat = sent === null || feeMsat === null ? null : Math.max(0, sent - feeMsat) || null;
  return { ...move, amountMsat, feeMsat, ...(move.preimage === undefined && { isPending: true }) };
}

/** Undefined for what is not a payment over Lightning, such as a channel that was closed. */
function moveOf(kind: NodeMove['kind'], entry: Json): Listed | undefined {
  const paymentHash = textOf(entry.paymentHash);
  if (paymentHash === undefined) return undefined;
  const preimage = preimageFrom(textOf(entry.preimage), 'hex');
  const invoice = textOf(entry.invoice);
  return {
    kind,
    paymentHash,
    amountMsat: null,
    feeMsat: 0,
    at: wholeOf(entry.createdAt),
    ...(preimage && { preimage }),
    ...(invoice && { invoice: invoice.toLowerCase() }),
  };
}

function caller({ url, secret, send }: LightningAdapterDeps) {
  return async (
    method: 'GET' | 'POST',
    path: string,
    { form, ...options }: CallOptions,
  ): Promise<NodeAnswer> => {
    const authorization = `Basic ${Buffer.from(`:${await secret()}`).toString('base64')}`;
    return await callNode(send, {
      method,
      url: url + path,
      ...options,
      headers: {
        authorization,
        ...(form && { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      ...(form && { body: new URLSearchParams(form).toString() }),
    });
  };
}

/** The password itself, or a `phoenix.conf` with it. */
function secretIn(given: string): string | undefined {
  const lines = given
    .replace(/^\ufeff/, '')
    .split('\n')
    .map((line) => line.trim());
  const named = lines.flatMap((line) => /^http-password\s*=(.*)$/.exec(line)?.[1]?.trim() ?? []);
  return [...named.reverse(), ...lines].find((line) => /^\S{8,200}$/.test(line));
}

async function expectJson(answer: Promise<NodeAnswer>): Promise<Json> {
  return succeeded(await answer);
}

/** Whether phoenixd rejected the request itself. */
const isRefused = ({ status }: NodeAnswer) => status === 400 || status === 401 || status === 403;

/** The object that phoenixd answered. */
function succeeded({ status, json }: NodeAnswer): Json {
  if (status === 401 || status === 403) throw new BackendFailure('unauthorized', rejectsPassword);
  if (status === 200 && json !== undefined) return json;
  throw new BackendFailure('rejected', `phoenixd answered with status ${status}.`);
}

/** Only a completed payment has ended. Earlier versions call failed ones paid, too: only a preimage proves a success. */
function outcomeOf(answer: NodeAnswer): PaymentOutcome {
  if (answer.status === 404) return { state: 'pending', isUnknown: true };
  const { preimage, completedAt, createdAt, fees, isPaid } = succeeded(answer);
  const proof = preimageFrom(textOf(preimage), 'hex');
  if (proof) return { state: 'succeeded', preimage: proof, feeMsat: feeOf(fees) };
  const startedAt = wholeOf(createdAt);
  const isFailed = wholeOf(completedAt) !== undefined && typeof isPaid === 'boolean';
  if (!isFailed || startedAt === undefined) return { state: 'pending' };
  return { state: 'failed', reason: 'failed', startedAt };
}

const failures: [RegExp, PaymentFailure][] = [
  [/insufficient|not enough funds/i, 'insufficient_balance'],
  [/expired/i, 'expired'],
  [/route|unreachable|liquidity|not online/i, 'no_route'],
  [/channel/i, 'rejected'],
];

function failureOf(reason: string): PaymentFailure {
  return failures.find(([pattern]) => pattern.test(reason))?.[1] ?? 'rejected';
}

function infoOf(
  { nodeId, chain, channels }: Json,
  { balanceSat }: Json,
  problems: readonly string[],
): BackendInfo {
  const isOpen = objectsOf(channels).some(({ state }) => /normal/i.test(textOf(state) ?? ''));
  const sats = wholeOf(balanceSat);
  return {
    nodeId: textOf(nodeId) ?? null,
    network: networkNamed(textOf(chain)),
    balanceMsat: sats === undefined ? null : sats * 1000,
    problems: [...problems, ...(isOpen ? [] : [noChannel])],
  };
}

function shortened(description: string): string {
  return description.length <= descriptionMax ? description : `${description.slice(0, descriptionMax - 1)}…`;
}
