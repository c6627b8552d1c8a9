import type { IncomingMessage, ServerResponse } from 'node:http';
import { localhostCertificate } from '../test-certificate.ts';
import { type FakeInvoice, FakeNode, type FakePayment } from './fake-node.ts';
import { bodyOf, type FakeServer, startFakeServer } from './fake-server.ts';

/** A macaroon of version 2, in hexadecimal, that permits everything. */
export const lndMacaroon = `0201036c6e64${'c0ffee'.repeat(20)}`;
/** One that permits only to read. */
export const readOnlyMacaroon = `0201036c6e64${'f00d00'.repeat(20)}`;

type Answer = (status: number, body: unknown) => void;

/**
 * The part of LND's REST API that a wallet uses (https://lightning.engineering/api-docs/api/lnd/rest-endpoints), over TLS
 * with a certificate of its own.
 */
export async function startFakeLnd(node = new FakeNode()): Promise<FakeServer & { node: FakeNode }> {
  const serve = (request: IncomingMessage, response: ServerResponse) => answerCall(node, request, response);
  const server = await startFakeServer(serve, { tls: localhostCertificate });
  return { ...server, node };
}

async function answerCall(node: FakeNode, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams: query } = new URL(request.url ?? '', 'http://lnd');
  const body = JSON.parse((await bodyOf(request)) || '{}') as Record<string, unknown>;
  const route = `${request.method} ${pathname.replace(/(track|invoice)\/[\w=-]+$/, '$1/{hash}')}`;
  const answer: Answer = (status, document) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(document));
  };
  const macaroon = request.headers['grpc-metadata-macaroon'];
  if (node.isLocked) return answer(500, lndError(2, 'wallet locked, unlock it to enable full RPC access'));
  if (macaroon === undefined) return answer(500, lndError(2, 'expected 1 macaroon, got 0'));
  if (macaroon !== lndMacaroon && macaroon !== readOnlyMacaroon) {
    return answer(500, lndError(2, 'verification failed: signature mismatch after caveat verification'));
  }
  if (macaroon === readOnlyMacaroon && request.method === 'POST') {
    return answer(500, lndError(2, 'permission denied'));
  }
  const hash = pathname.split('/').at(-1) ?? '';
  switch (route) {
    case 'GET /v1/getinfo':
      return answer(200, {
        identity_pubkey: node.nodeId,
        num_active_channels: 2,
        synced_to_chain: node.isSynced,
        chains: [{ chain: 'bitcoin', network: node.network }],
      });
    case 'GET /v1/balance/channels':
      return answer(200, {
        balance: String(node.balanceMsat / 1000),
        local_balance: { sat: String(node.balanceMsat / 1000), msat: String(node.balanceMsat) },
      });
    case 'POST /v1/invoices':
      return addInvoice(node, body, answer);
    case 'GET /v1/invoice/{hash}':
      return showInvoice(node, hash, answer);
    case 'GET /v1/payments': {
      const payments = [...node.outgoing.values()].filter((each) => isSince(query, each.startedAt));
      const isAll = query.get('include_incomplete') === 'true';
      const listed = payments.filter(({ state }) => isAll || state === 'succeeded').map(listedPayment);
      return answer(200, page('payments', listed, query.get('index_offset'), query.get('max_payments')));
    }
    case 'GET /v1/invoices': {
      const invoices = [...node.incoming.values()].filter((each) => isSince(query, each.createdAt));
      const listed = invoices.map(listedInvoice);
      return answer(200, page('invoices', listed, query.get('index_offset'), query.get('num_max_invoices')));
    }
    case 'POST /v2/invoices/cancel':
      return cancelInvoice(node, String(body.payment_hash), answer);
    case 'POST /v2/router/send':
      return await send(node, body, { response, answer });
    case 'GET /v2/router/track/{hash}':
      return await track(node, Buffer.from(hash, 'base64url').toString('hex'), { response, answer });
    default:
      return answer(404, lndError(5, 'Not Found'));
  }
}

const lndError = (code: number, message: string) => ({ code, message, details: [] });

function addInvoice(node: FakeNode, body: Record<string, unknown>, answer: Answer): void {
  const made = node.createInvoice({
    amountMsat: Number(body.value_msat),
    description:
      body.description_hash === undefined
        ? String(body.memo ?? '')
        : { hash: Buffer.from(String(body.description_hash), 'base64') },
    expirySeconds: Number(body.expiry ?? 86_400),
    preimage: body.r_preimage === undefined ? undefined : Buffer.from(String(body.r_preimage), 'base64'),
  });
  const r_hash = Buffer.from(made.paymentHash, 'hex').toString('base64');
  answer(200, { r_hash, payment_request: made.invoice, add_index: '1', payment_addr: r_hash });
}

const invoiceStates = { open: 'OPEN', paid: 'SETTLED', canceled: 'CANCELED' } as const;

function showInvoice(node: FakeNode, hash: string, answer: Answer): void {
  const found = node.incoming.get(hash);
  if (found) answer(200, invoiceView(found));
  else answer(404, lndError(5, 'unable to locate invoice'));
}

function invoiceView({ state, preimage, amountMsat }: FakeInvoice) {
  const paid = state === 'paid' ? amountMsat : 0;
  return {
    r_preimage: Buffer.from(preimage).toString('base64'),
    state: invoiceStates[state],
    settled: state === 'paid',
    value_msat: String(amountMsat),
    amt_paid_msat: String(paid),
    amt_paid_sat: String(paid / 1000),
  };
}

/** Cancelling twice is not an error. */
function cancelInvoice(node: FakeNode, paymentHash: string, answer: Answer): void {
  const found = node.incoming.get(Buffer.from(paymentHash, 'base64').toString('hex'));
  if (found?.state === 'paid') answer(500, lndError(2, 'invoice already settled'));
  else if (found) {
    found.state = 'canceled';
    answer(200, {});
  } else answer(404, lndError(5, 'unable to locate invoice'));
}

const isSince = (query: URLSearchParams, at: number) =>
  Math.floor(at / 1000) >= Number(query.get('creation_date_start') ?? 0);

/** Pages are of two, however many are asked for, so that readers have to turn them. */
function page(name: string, listed: object[], offset: string | null, max: string | null) {
  const first = Number(offset ?? 0);
  const found = listed.slice(first, first + Math.min(2, Number(max)));
  const [from, to] = found.length > 0 ? [first + 1, first + found.length] : [0, 0];
  return { [name]: found, first_index_offset: String(from), last_index_offset: String(to) };
}

function listedPayment(payment: FakePayment) {
  const { result } = line(payment);
  return {
    ...result,
    value_msat: String(payment.amountMsat),
    payment_request: payment.invoice,
    creation_date: String(Math.floor(payment.startedAt / 1000)),
  };
}

function listedInvoice(invoice: FakeInvoice) {
  return {
    ...invoiceView(invoice),
    r_hash: Buffer.from(invoice.paymentHash, 'hex').toString('base64'),
    payment_request: invoice.invoice,
    creation_date: String(Math.floor(invoice.createdAt / 1000)),
  };
}

interface Streaming {
  response: ServerResponse;
  answer: Answer;
}

async function send(node: FakeNode, body: Record<string, unknown>, { response, answer }: Streaming) {
  const invoice = String(body.payment_request);
  if (!invoice.startsWith('ln')) return answer(500, { error: lndError(2, 'invalid bech32 string') });
  try {
    const { payment, vanishes } = node.pay(invoice, Number(body.fee_limit_msat));
    response.writeHead(200, { 'content-type': 'application/json' });
    if (body.no_inflight_updates !== true) response.write(`${JSON.stringify(line(payment))}\n`);
    else response.flushHeaders();
    await payment.ended;
    if (vanishes) return void response.destroy();
    response.end(`${JSON.stringify(line(payment, node.reportedState))}\n`);
  } catch (error) {
    const { message } = error as Error;
    // Routes are only looked for once the payment was accepted.
    if (/no route/.test(message)) {
      const lost = node.fail(invoice);
      return void response.end(`${JSON.stringify(line(lost))}\n`);
    }
    const code = /already been paid|in progress/.test(message) ? 6 : 2;
    answer(code === 6 ? 409 : 500, { error: lndError(code, message) });
  }
}

/** The current state at once, and the end when it comes. */
async function track(node: FakeNode, hash: string, { response, answer }: Streaming): Promise<void> {
  const payment = node.outgoing.get(hash);
  if (!payment) return answer(404, { error: lndError(5, "payment isn't initiated") });
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write(`${JSON.stringify(line(payment, node.reportedState))}\n`);
  await payment.ended;
  response.end();
}

const paymentStates = { 'in-flight': 'IN_FLIGHT', succeeded: 'SUCCEEDED', failed: 'FAILED' } as const;

function line({ paymentHash, preimage, state, feeMsat, startedAt }: FakePayment, reported?: string) {
  const isPaid = state === 'succeeded' && reported === undefined;
  return {
    result: {
      payment_hash: paymentHash,
      payment_preimage: (isPaid ? Buffer.from(preimage) : Buffer.alloc(32)).toString('hex'),
      status: reported ?? paymentStates[state],
      fee_msat: String(isPaid ? feeMsat : 0),
      creation_time_ns: `${startedAt}000000`,
      failure_reason: state === 'failed' ? 'FAILURE_REASON_NO_ROUTE' : 'FAILURE_REASON_NONE',
    },
  };
}
