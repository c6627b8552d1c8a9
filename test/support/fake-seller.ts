import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decodeInvoice } from '../../src/daemon/features/lightning/bolt11.ts';
import { mint } from '../../src/daemon/features/paywalls/macaroon.ts';
import { encodeMacaroon } from '../../src/shared/payments/macaroon.ts';
import { formatChallenge, parseCredential, toBase64Url } from '../../src/shared/payments/payment-scheme.ts';
import { chains, formatX402, parsePaymentPayload } from '../../src/shared/payments/x402.ts';
import { bodyOf } from './lightning/fake-server.ts';

/** How a seller asks for payments. */
export type Dialect = 'L402' | 'Payment' | 'x402';

interface SellerOptions {
  dialect: Dialect;
  /** A new invoice of the seller. */
  invoice: (amountMsat: number) => Promise<string> | string;
}

/** What a seller does with the next request that carries a proof. */
type Fate = 'fail' | 'drop' | 'refuse' | 'cut';

/**
 * A web server of someone else that sells its answers, on a free port. By L402 it sells tokens, otherwise single answers. It
 * answers with the method, path and body of the request.
 */
export async function startFakeSeller({ dialect, invoice: newInvoice }: SellerOptions) {
  const state = {
    amountMsat: 10_000,
    /** The amount that the offer names, if it is another one. */
    claimedMsat: undefined as number | undefined,
    /** The payment hash that the offer names, if it is another one. */
    claimedHash: undefined as string | undefined,
    /** Every header that carried a proof, in order. */
    proofs: [] as string[],
    invoices: [] as string[],
    served: 0,
    /** The answer to a proof that is not accepted, in place of another challenge. */
    refusal: undefined as { status: number; headers?: Record<string, string>; body?: string } | undefined,
  };
  const used = new Set<string>();
  const fates: Fate[] = [];

  const challenge = async (response: ServerResponse): Promise<void> => {
    const invoice = await newInvoice(state.amountMsat);
    state.invoices.push(invoice);
    const paymentHash = state.claimedHash ?? decodeInvoice(invoice).paymentHash;
    const claimed = state.claimedMsat ?? state.amountMsat;
    const offers: Record<Dialect, () => [name: string, value: string]> = {
      L402: () => {
        const id = Buffer.from(`0000${paymentHash}${'11'.repeat(32)}`, 'hex');
        const token = encodeMacaroon(mint(Buffer.alloc(32, 5), id, ['services=books:0'])).toString('base64');
        return ['www-authenticate', `L402 macaroon="${token}", invoice="${invoice}"`];
      },
      Payment: () => {
        const details = { invoice, paymentHash, network: 'regtest' };
        const request = { amount: String(claimed / 1000), currency: 'sat', methodDetails: details };
        const asked = { id: 'c1', realm: 'books', method: 'lightning', intent: 'charge' };
        const value = formatChallenge({ ...asked, request: toBase64Url(JSON.stringify(request)) });
        return ['www-authenticate', value];
      },
      x402: () => [
        'payment-required',
        formatX402({
          x402Version: 2,
          resource: { url: 'https://books.example/' },
          accepts: [
            {
              scheme: 'exact',
              network: `bip122:${chains.regtest}`,
              amount: String(claimed),
              asset: 'BTC',
              payTo: 'anonymous',
              maxTimeoutSeconds: 600,
              extra: { paymentMethod: 'lightning', invoice },
            },
          ],
        }),
      ],
    };
    const [name, value] = offers[dialect]();
    response.writeHead(402, { [name]: value, 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { message: 'Pay \u001b]0;owned\u0007first.' } }));
  };

  /** What identifies a valid proof; undefined for one that proves nothing. */
  const provenBy = (header: string): string | undefined => {
    const preimage = {
      L402: () => /^L402 [^:]+:([0-9a-f]{64})$/.exec(header)?.[1],
      Payment: () => parseCredential(header)?.payload.preimage as string | undefined,
      x402: () => undefined,
    }[dialect]();
    const hashes = state.invoices.map((invoice) => decodeInvoice(invoice).paymentHash);
    if (dialect === 'x402') {
      const { invoice } = parsePaymentPayload(header)?.payload ?? {};
      return state.invoices.includes(String(invoice)) ? String(invoice) : undefined;
    }
    const hash = createHash('sha256')
      .update(Buffer.from(preimage ?? '', 'hex'))
      .digest('hex');
    return hashes.includes(hash) ? hash : undefined;
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await bodyOf(request);
    const header = request.headers[dialect === 'x402' ? 'payment-signature' : 'authorization'];
    if (typeof header !== 'string') return await challenge(response);
    state.proofs.push(header);
    const fate = fates.shift();
    if (fate === 'drop') return void response.destroy();
    if (fate === 'fail') return void response.writeHead(500).end();
    const proven = provenBy(header);
    if (fate === 'refuse' || proven === undefined || used.has(proven)) {
      const { status, headers, body: text } = state.refusal ?? {};
      if (status !== undefined) return void response.writeHead(status, headers).end(text);
      return await challenge(response);
    }
    if (dialect !== 'L402') used.add(proven);
    state.served += 1;
    const text = JSON.stringify({ method: request.method, path: request.url, body });
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': text.length });
    if (fate === 'cut') {
      response.write(text.slice(0, 5), () => response.destroy());
      return;
    }
    response.end(text);
  };

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    state,
    /** Decides about the next requests with a proof, in order; others are served. */
    next: (...more: Fate[]) => void fates.push(...more),
    async close(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export type FakeSeller = Awaited<ReturnType<typeof startFakeSeller>>;
