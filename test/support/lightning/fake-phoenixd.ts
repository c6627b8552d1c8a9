import type { IncomingMessage, ServerResponse } from 'node:http';
import { type FakeInvoice, FakeNode, type FakePayment } from './fake-node.ts';
import { bodyOf, type FakeServer, startFakeServer } from './fake-server.ts';

export const phoenixdPassword = 'phoenixd-password-canary';
const limitedPassword = 'phoenixd-limited-canary';

/** phoenixd's HTTP API (https://phoenix.acinq.co/server/api) over the books of a `FakeNode`. */
export async function startFakePhoenixd(node = new FakeNode()): Promise<FakeServer & { node: FakeNode }> {
  const server = await startFakeServer((request, response) => serve(node, request, response));
  return { ...server, node };
}

async function serve(node: FakeNode, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams: query } = new URL(request.url ?? '', 'http://phoenixd');
  const route = `${request.method} ${pathname.replace(/[0-9a-f]{64}$/, '{hash}')}`;
  const hash = pathname.split('/').at(-1) ?? '';
  const form = new URLSearchParams(await bodyOf(request));
  const answer = (status: number, body: unknown) => {
    const isText = typeof body === 'string';
    response.writeHead(status, { 'content-type': isText ? 'text/plain' : 'application/json' });
    response.end(isText ? body : JSON.stringify(body));
  };
  const password = Buffer.from(request.headers.authorization?.slice('Basic '.length) ?? '', 'base64')
    .toString()
    .slice(1);
  const isLimited = password === limitedPassword;
  if (password !== phoenixdPassword && !(isLimited && route !== 'POST /payinvoice'))
    return answer(401, 'Invalid authentication (use basic auth with the http password set in phoenix.conf)');

  switch (route) {
    case 'GET /getinfo':
      return answer(200, {
        nodeId: node.nodeId,
        channels: [{ state: 'Normal', channelId: '00', balanceSat: node.balanceMsat / 1000 }],
        chain: node.network,
        blockHeight: 800_000,
        version: '0.8.0',
      });
    case 'GET /getbalance':
      return answer(200, { balanceSat: Math.floor(node.balanceMsat / 1000), feeCreditSat: 0 });
    case 'POST /createinvoice': {
      const description = form.get('description') ?? '';
      if (description.length > 128) return answer(400, 'Request parameter description is too long');
      const made = node.createInvoice({
        amountMsat: Number(form.get('amountSat')) * 1000,
        description,
        expirySeconds: Number(form.get('expirySeconds') ?? 3600),
        mark: form.get('externalId') ?? undefined,
      });
      return answer(200, {
        amountSat: made.amountMsat / 1000,
        paymentHash: made.paymentHash,
        serialized: made.invoice,
      });
    }
    case 'POST /payinvoice':
      return await pay(node, form.get('invoice'), { response, answer });
    case 'GET /payments/outgoingbyhash/{hash}': {
      const payment = node.outgoing.get(hash);
      return payment ? answer(200, outgoing(payment, node.reportedState)) : answer(404, 'Not found');
    }
    case 'GET /payments/incoming/{hash}': {
      const invoice = node.incoming.get(hash);
      if (!invoice) return answer(404, 'Not found');
      return answer(200, incoming(invoice));
    }
    case 'GET /payments/incoming': {
      const paid = [...node.incoming.values()].filter(({ state }) => state === 'paid');
      return answer(200, page(paid.map(incoming), query));
    }
    case 'GET /payments/outgoing':
      return answer(
        200,
        page(
          [...node.outgoing.values()].map((each) => outgoing(each)),
          query,
        ),
      );
    default:
      return answer(404, 'Unknown endpoint (check api doc)');
  }
}

function incoming({ paymentHash, preimage, state, amountMsat, createdAt, invoice, mark }: FakeInvoice) {
  const isPaid = state === 'paid';
  return {
    type: 'incoming_payment',
    subType: 'lightning',
    paymentHash,
    preimage: Buffer.from(preimage).toString('hex'),
    ...(mark !== undefined && { externalId: mark }),
    invoice,
    isPaid,
    receivedSat: isPaid ? amountMsat / 1000 : 0,
    fees: 0,
    createdAt,
    ...(isPaid && { completedAt: createdAt + 1 }),
  };
}

function page<Entry extends { createdAt: number }>(entries: Entry[], query: URLSearchParams): Entry[] {
  const [from, offset] = [Number(query.get('from') ?? 0), Number(query.get('offset') ?? 0)];
  const limit = Number(query.get('limit') ?? 20);
  return entries.filter(({ createdAt }) => createdAt >= from).slice(offset, offset + limit);
}

async function pay(
  node: FakeNode,
  invoice: string | null,
  { response, answer }: { response: ServerResponse; answer: (status: number, body: unknown) => void },
): Promise<void> {
  if (invoice === null) return answer(400, 'Missing required parameter: invoice');
  try {
    const { payment, vanishes } = node.pay(invoice);
    await payment.ended;
    if (vanishes) return void response.destroy();
    const { paymentHash } = payment;
    if (payment.state === 'failed') return answer(200, { paymentHash, reason: 'retries exhausted' });
    return answer(200, {
      recipientAmountSat: payment.amountMsat / 1000,
      routingFeeSat: Math.floor(payment.feeMsat / 1000),
      paymentId: '6b7f0e8e',
      paymentHash,
      paymentPreimage: Buffer.from(payment.preimage).toString('hex'),
    });
  } catch (error) {
    return answer(200, { paymentHash: '', reason: (error as Error).message });
  }
}

/** Failed payments have a time of completion, too; before version 0.6 they also claimed to be paid. */
function outgoing(payment: FakePayment, reported?: string) {
  const { paymentHash, invoice, state, preimage, amountMsat, feeMsat, startedAt } = payment;
  const isOver = state !== 'in-flight' && reported === undefined;
  return {
    type: 'outgoing_payment',
    subType: 'lightning',
    paymentHash,
    invoice,
    createdAt: startedAt,
    ...(isOver && { completedAt: startedAt + 5 }),
    ...(isOver && state === 'succeeded' && { preimage: Buffer.from(preimage).toString('hex') }),
    isPaid: isOver,
    sent: Math.floor((amountMsat + feeMsat) / 1000),
    fees: feeMsat,
    ...(reported && { status: reported }),
  };
}
