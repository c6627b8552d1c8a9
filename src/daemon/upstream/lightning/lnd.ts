import type { World } from '../../base/world.ts';
import { BackendFailure } from '../../features/lightning/backend.ts';
import type { BackendInfo, PaymentFailure, PaymentOutcome } from '../../features/lightning/index.ts';
import { countOf, isObject, type Json, objectOf, objectsOf, parseObject, textOf } from '../json.ts';
import type { LightningAdapter, LightningAdapterDeps } from './adapter.ts';
import { amountOf, feeOf, wholeOf } from './amounts.ts';
import { lndHistory } from './lnd-history.ts';
import { networkNamed } from './network-names.ts';
import { callNode, type NodeAnswer, nodeTimeoutMs, openNode, unreachable } from './node-call.ts';
import { preimageFrom } from './preimage.ts';

/** How long LND looks for a route; attempts that are under way then go on. */
const attemptSeconds = 60;
/** LND reports the end of a payment on a stream that stays open until then. */
const payTimeoutMs = 10 * 60 * 1000;
const lineBytesMax = 1024 * 1024;
const historyBytesMax = 64 * 1024 * 1024;

/**
 * LND by its REST API (https://lightning.engineering/api-docs/api/lnd/rest-endpoints): JSON in which 64-bit numbers are
 * texts and bytes are base64, and streams of one object per line.
 */
export const lnd: LightningAdapter = {
  secretForm: 'a macaroon: the file, or its bytes in hexadecimal or base64',
  parseSecret: parseMacaroon,
  create(deps) {
    const node = lndNode(deps);
    const lookUpPayment = async (paymentHash: string, signal: AbortSignal): Promise<PaymentOutcome> => {
      const hash = Buffer.from(paymentHash, 'hex').toString('base64url');
      const first = await node.firstOf(`/v2/router/track/${hash}`, signal);
      return first.error ? unknownOrFail(first.error) : outcomeOf(first.result);
    };
    return {
      name: 'lnd',
      network: deps.network,
      isConnected: true,
      nodeId: async (signal) => nodeIdIn(await node.ask('GET', '/v1/getinfo', { signal })),
      check: (signal) => check(node, signal),
      async prepare(signal) {
        await node.ask('GET', '/v1/balance/channels', { signal });
      },
      async createInvoice({ amountMsat, description, descriptionHash, expirySeconds, preimage: given }) {
        const preimage = given ?? deps.world.randomBytes(32);
        const { payment_request: invoice } = await node.ask('POST', '/v1/invoices', {
          body: {
            value_msat: String(amountMsat),
            expiry: String(expirySeconds),
            r_preimage: Buffer.from(preimage).toString('base64'),
            // Wallets without public channels can only be found by hints.
            private: true,
            ...(descriptionHash === undefined
              ? { memo: description }
              : { description_hash: Buffer.from(descriptionHash, 'hex').toString('base64') }),
          },
        });
        if (typeof invoice === 'string') return { invoice: invoice.toLowerCase(), preimage };
        throw new BackendFailure('rejected', 'LND returned no invoice.');
      },
      async pay({ invoice, paymentHash, maxFeeMsat, signal }) {
        const last = await node.lastOf('/v2/router/send', signal, {
          payment_request: invoice,
          fee_limit_msat: String(maxFeeMsat),
          timeout_seconds: attemptSeconds,
          no_inflight_updates: true,
        });
        if (last?.error === undefined) return outcomeOf(last?.result);
        const known = await lookUpPayment(paymentHash, signal);
        // An error is a definite refusal only if there is no payment: it may say that one is under way.
        const isRefused = known.state === 'pending' && known.isUnknown === true && isFromLnd(last.error);
        return isRefused ? { state: 'failed', reason: 'rejected' } : known;
      },
      lookUpPayment,
      async lookUpInvoice(paymentHash, signal) {
        const answer = await node.call('GET', `/v1/invoice/${paymentHash}`, { signal });
        if (isNotFound(answer.json)) return undefined;
        const { state, amt_paid_msat: received } = succeeded(answer);
        return state === 'SETTLED' ? { receivedMsat: amountOf(received) } : undefined;
      },
      async cancelInvoice(paymentHash, signal) {
        const body = { payment_hash: Buffer.from(paymentHash, 'hex').toString('base64') };
        const { status } = await node.call('POST', '/v2/invoices/cancel', { body, signal });
        return status === 200;
      },
      history: (since, signal) =>
        lndHistory((path) => node.ask('GET', path, { signal, bytesMax: historyBytesMax }), since),
    };
  },
};

interface CallOptions {
  body?: Json;
  signal?: AbortSignal;
  /** The longest answer; a megabyte by default. */
  bytesMax?: number;
}

/** One line of a stream. */
interface StreamPart {
  result?: Json | undefined;
  error?: Json | undefined;
}

type LndNode = ReturnType<typeof lndNode>;

function lndNode({ url, secret, send }: LightningAdapterDeps) {
  const request = async (
    method: 'GET' | 'POST',
    path: string,
    { body, signal, bytesMax }: CallOptions = {},
  ) => ({
    method,
    url: url + path,
    ...(signal && { signal }),
    ...(bytesMax !== undefined && { bytesMax }),
    headers: { 'grpc-metadata-macaroon': await secret(), 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  const call = async (method: 'GET' | 'POST', path: string, options?: CallOptions): Promise<NodeAnswer> =>
    await callNode(send, await request(method, path, options));
  return {
    call,
    /** Fails with a BackendFailure unless LND answered with an object. */
    ask: async (method: 'GET' | 'POST', path: string, options?: CallOptions): Promise<Json> =>
      succeeded(await call(method, path, options)),
    /** The first part of a stream, which is then left. */
    async firstOf(path: string, signal: AbortSignal): Promise<StreamPart> {
      const asked = await request('GET', path, { signal });
      for await (const part of partsOf(send, { ...asked, timeoutMs: nodeTimeoutMs })) return part;
      throw new BackendFailure('unreachable', 'LND closed the connection without an answer.');
    },
    /** The last part of a stream; undefined if it ended without one. */
    async lastOf(path: string, signal: AbortSignal, body: Json): Promise<StreamPart | undefined> {
      const asked = await request('POST', path, { body, signal });
      let last: StreamPart | undefined;
      for await (const part of partsOf(send, { ...asked, timeoutMs: payTimeoutMs })) last = part;
      return last;
    },
  };
}

/** The parts of a stream: a line each, or one error in place of it. */
async function* partsOf(
  send: World['send'],
  request: Parameters<typeof openNode>[1],
): AsyncGenerator<StreamPart> {
  const { body } = await openNode(send, request);
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for await (const bytes of body) {
      rest += decoder.decode(bytes, { stream: true });
      const lines = rest.split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > lineBytesMax) throw new BackendFailure('unreachable', 'LND sent an endless line.');
      for (const line of lines) if (line.trim() !== '') yield partOf(line);
    }
  } catch (error) {
    throw unreachable(error);
  }
  if (rest.trim() !== '') yield partOf(rest);
}

function partOf(line: string): StreamPart {
  const json = parseObject(line);
  const error = objectOf(json?.error);
  if (error) return { error };
  // Errors that come before the stream starts are not wrapped.
  if (json && textOf(json.message) !== undefined) return { error: json };
  return { result: objectOf(json?.result) };
}

const notFoundCode = 5;

/** Whether LND says that it has no such thing. Earlier versions report invoices that they do not know with code 2. */
function isNotFound(error: Json | undefined): boolean {
  if (error === undefined) return false;
  const code = error.code ?? error.grpc_code;
  return code === notFoundCode || /^unable to locate invoice/i.test(textOf(error.message) ?? '');
}

/** Whether an error is LND's own, and not that of a proxy in front of it. */
function isFromLnd(error: Json): boolean {
  return typeof (error.code ?? error.grpc_code) === 'number';
}

function unknownOrFail(error: Json): PaymentOutcome {
  if (isNotFound(error)) return { state: 'pending', isUnknown: true };
  throw failureOf(textOf(error.message) ?? '');
}

function outcomeOf(payment: Json | undefined): PaymentOutcome {
  switch (payment?.status) {
    case 'SUCCEEDED': {
      const preimage = preimageFrom(textOf(payment.payment_preimage), 'hex');
      return preimage
        ? { state: 'succeeded', preimage, feeMsat: feeOf(payment.fee_msat) }
        : { state: 'pending' };
    }
    case 'FAILED': {
      const nanoseconds = textOf(payment.creation_time_ns) ?? '';
      const startedAt = /^\d{7,20}$/.test(nanoseconds) ? Number(nanoseconds.slice(0, -6)) : undefined;
      const reason = failures[textOf(payment.failure_reason) ?? ''] ?? 'failed';
      return { state: 'failed', reason, ...(startedAt !== undefined && { startedAt }) };
    }
    default:
      return { state: 'pending' };
  }
}

const failures: Readonly<Record<string, PaymentFailure>> = {
  FAILURE_REASON_TIMEOUT: 'timeout',
  FAILURE_REASON_NO_ROUTE: 'no_route',
  FAILURE_REASON_INSUFFICIENT_BALANCE: 'insufficient_balance',
  FAILURE_REASON_INCORRECT_PAYMENT_DETAILS: 'rejected',
};

/** The object that LND answered. */
function succeeded({ status, json }: NodeAnswer): Json {
  if (status === 200 && json !== undefined) return json;
  throw failureOf(textOf(json?.message) ?? textOf(json?.error) ?? '', status);
}

/** LND reports nearly everything with the same code, so its text decides. It is quoted only where it contains no secret. */
function failureOf(message: string, status?: number): BackendFailure {
  if (/macaroon|permission denied|verification failed/i.test(message) || status === 401) {
    return new BackendFailure(
      'unauthorized',
      'LND rejects the macaroon, or the macaroon permits too little.',
    );
  }
  if (/wallet (is )?locked|unlock/i.test(message)) {
    return new BackendFailure('not-ready', 'The wallet of LND is locked. Unlock it: lncli unlock');
  }
  if (/starting up|not yet ready|not active/i.test(message)) {
    return new BackendFailure('not-ready', 'LND is starting.');
  }
  if (status !== undefined && status >= 502 && status <= 504) {
    return new BackendFailure('unreachable', `A proxy in front of LND answered with status ${status}.`);
  }
  return new BackendFailure('rejected', `LND answered with status ${status ?? 'unknown'}.`);
}

const nodeIdIn = (info: Json) => textOf(info.identity_pubkey) ?? null;

async function check(node: LndNode, signal: AbortSignal): Promise<BackendInfo> {
  const info = await node.ask('GET', '/v1/getinfo', { signal });
  const balance = await node.ask('GET', '/v1/balance/channels', { signal });
  const [chain] = objectsOf(info.chains);
  const problems: string[] = [];
  if (info.synced_to_chain !== true) problems.push('LND is not synced to the chain yet.');
  if (countOf(info.num_active_channels) === 0) problems.push('LND has no active channel.');
  problems.push(...(await missingPermissions(node, signal)));
  return {
    nodeId: nodeIdIn(info),
    network: networkNamed(textOf(chain?.network)),
    balanceMsat: wholeOf(isObject(balance.local_balance) ? balance.local_balance.msat : undefined) ?? null,
    problems,
  };
}

const noHash = Buffer.alloc(32);

/** Calls that change nothing, each of which needs a permission. */
const probes = [
  ['invoices:read', 'GET', `/v1/invoice/${noHash.toString('hex')}`],
  ['invoices:write', 'POST', '/v2/invoices/cancel', { payment_hash: noHash.toString('base64') }],
  ['offchain:write', 'POST', '/v2/router/send', { payment_request: 'none', timeout_seconds: 1 }],
] as const;

async function missingPermissions(node: LndNode, signal: AbortSignal): Promise<string[]> {
  const missing: string[] = [];
  for (const [permission, method, path, body] of probes) {
    const { json } = await node.call(method, path, { signal, ...(body && { body }) });
    const error = objectOf(json?.error) ?? json;
    if (/permission denied/i.test(textOf(error?.message) ?? '')) missing.push(permission);
  }
  if (missing.length === 0) return [];
  return [`The macaroon lacks ${missing.join(', ')}. Bake one with: ${bakeCommand}`];
}

const bakeCommand = 'lncli bakemacaroon info:read offchain:read offchain:write invoices:read invoices:write';

/** The hexadecimal form of a macaroon, which starts with its version: 2, or the length of a field in version 1. */
function parseMacaroon(given: Buffer): string | undefined {
  // Tools such as `xxd` break lines, and separate bytes by colons.
  const text = given.toString('latin1').replace(/[\s:]+/g, '');
  const digits = text.replace(/^0x/i, '');
  const bytes = /^([0-9a-f]{2})+$/i.test(digits)
    ? Buffer.from(digits, 'hex')
    : /^[A-Za-z0-9+/_-]{40,}={0,2}$/.test(text)
      ? Buffer.from(text, 'base64')
      : given;
  const isMacaroon =
    bytes.length >= 40 && (bytes[0] === 2 || bytes.subarray(4, 12).toString() === 'location');
  return isMacaroon ? bytes.toString('hex') : undefined;
}
