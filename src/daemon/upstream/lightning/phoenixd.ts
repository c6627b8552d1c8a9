import { BackendFailure } from '../../features/lightning/backend.ts';
import type { BackendInfo, PaymentFailure, PaymentOutcome } from '../../features/lightning/index.ts';
import { countOf, type Json, objectsOf, textOf } from '../json.ts';
import type { LightningAdapter, LightningAdapterDeps } from './adapter.ts';
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
      async createInvoice({ amountMsat, description, descriptionHash, expirySeconds }) {
        const form = {
          amountSat: String(Math.ceil(amountMsat / 1000)),
          ...(descriptionHash === undefined ? { description: shortened(description) } : { descriptionHash }),
          expirySeconds: String(expirySeconds),
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
        return isPaid === true ? { receivedMsat: (countOf(receivedSat) ?? 0) * 1000 } : undefined;
      },
      cannotPayItself: true,
      async revealPreimage(paymentHash, signal) {
        const answer = await call('GET', `/payments/incoming/${paymentHash}`, { signal });
        if (answer.status === 404) return undefined;
        const { isPaid, preimage } = succeeded(answer);
        return isPaid === false ? preimageFrom(textOf(preimage), 'hex') : undefined;
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
  signal?: AbortSignal;
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
  const setting = 'http-password=';
  const lines = given.split('\n').map((line) => line.trimEnd());
  const named = lines.filter((line) => line.startsWith(setting)).map((line) => line.slice(setting.length));
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
  if (proof) return { state: 'succeeded', preimage: proof, feeMsat: countOf(fees) ?? 0 };
  const startedAt = countOf(createdAt);
  const isFailed = countOf(completedAt) !== undefined && typeof isPaid === 'boolean';
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
  const sats = countOf(balanceSat);
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
