import { createHash } from 'node:crypto';
import { type Static, Type } from 'typebox';
import type { AutopilotPolicy, AutopilotTool } from '../../../shared/contract/autopilots.ts';
import { standalone } from '../../../shared/contract/schema.ts';
import { ApiError } from '../../../shared/errors.ts';
import {
  offerMismatch,
  type PaymentOffer,
  paymentOffersIn,
  proofOf,
} from '../../../shared/payments/payment-offers.ts';
import type { AutopilotCaller, Caller } from '../../base/handler.ts';
import { loadBolt11 } from '../lightning/index.ts';
import type { PaymentRecord, PayRequest, SpendingLimits } from '../wallet/index.ts';
import { allowsUrl, defaultPortOf } from './allowed-hosts.ts';
import type { AutopilotRecord } from './store.ts';

/** A request to an address that someone else chose, such as a model. */
export interface WebRequest {
  method: 'GET' | 'POST';
  url: URL;
  headers: Record<string, string>;
  body?: string | undefined;
  /** Whether it may reach private addresses. */
  mayBePrivate: boolean;
  signal: AbortSignal;
}

export interface WebAnswer {
  status: number;
  /** Names in lower case; repeated headers are joined by commas. */
  headers: Record<string, string>;
  body: Uint8Array;
  /** Whether the body was longer. */
  isCut: boolean;
}

export interface HttpToolsDeps {
  /** Sends a request to an address that is safe to reach. Fails with an ApiError. */
  send(request: WebRequest): Promise<WebAnswer>;
  /** Resolves with a pending payment when the signal is aborted, which continues then. */
  pay(
    caller: Caller,
    request: PayRequest,
    options: { limits: SpendingLimits; signal: AbortSignal },
  ): Promise<PaymentRecord>;
  /** The current state of one of the caller's payments. */
  payment(caller: Caller, id: string): Promise<PaymentRecord>;
  /** The proof of a payment, in hexadecimal; null until it succeeded. */
  preimage(payment: PaymentRecord): string | null;
}

/** The run that uses the tools. */
export interface ToolUser {
  caller: AutopilotCaller;
  /** Whether the credential that started the run may pay from the wallet. */
  mayPay: boolean;
  mayBePrivate: boolean;
  /** The most that the run may pay in total, in millisatoshis; undefined if the request did not say. */
  maxSpendMsat: number | undefined;
  signal: AbortSignal;
  note(type: string, payload: Record<string, unknown>): void;
}

const methods = ['GET', 'POST'] as const;
const request = {
  url: Type.String({ minLength: 1, maxLength: 4096, format: 'uri', description: 'An http or https URL.' }),
  method: Type.Optional(Type.Enum([...methods], { description: 'Default: `GET`.' })),
  headers: Type.Optional(
    Type.Record(Type.String(), Type.String({ maxLength: 8192 }), {
      description: 'Headers to send.',
    }),
  ),
  body: Type.Optional(Type.String({ description: 'The body of a `POST`.' })),
};
const HttpRequest = Type.Object(request, { additionalProperties: false });
const PaidHttpRequest = Type.Object(
  {
    ...request,
    max_amount_sats: Type.Integer({
      minimum: 1,
      maximum: 1_000_000_000,
      description: 'The most to pay for this request, in satoshis.',
    }),
  },
  { additionalProperties: false },
);

/** The schemas of the tools' arguments. */
export const toolInputs = { http_request: HttpRequest, paid_http_request: PaidHttpRequest } as const;

const descriptions: Record<AutopilotTool, string> = {
  http_request:
    'Send an HTTP request to an allowed host and read the answer. If the server asks for a payment, the result has status 402 and describes the payment; nothing is paid.',
  paid_http_request:
    'Send an HTTP request to an allowed host and, if the server asks for a payment, pay it from the wallet of your owner and send the request again with the proof. If the result says that the payment is pending, do not pay again.',
};

/** The tools of a policy as function tools in the Responses format. */
export function functionTools(names: readonly AutopilotTool[]) {
  return names.map((name) => ({
    type: 'function',
    name,
    description: descriptions[name],
    parameters: standalone(toolInputs[name]),
    strict: false,
  }));
}

/** The tools that a policy allows. */
export function toolsOf({ toolAllowlist, toolDenylist }: AutopilotPolicy): AutopilotTool[] {
  return (Object.keys(toolInputs) as AutopilotTool[]).filter(
    (name) => (toolAllowlist ?? [name]).includes(name) && !toolDenylist?.includes(name),
  );
}

type HttpArguments = Static<typeof HttpRequest>;
type PaidArguments = Static<typeof PaidHttpRequest>;

interface Proof {
  /** In hexadecimal. */
  preimage: string;
  headers: Record<string, string>;
}

const payTimeoutMs = 60_000;
const limitNames = {
  perPayment: 'policy.l402MaxSpendMsatsPerCall',
  perDay: 'policy.l402MaxSpendMsatsPerDay',
};
/** Headers of the connection, which the request itself sets. */
const reservedHeaders =
  /^(host|connection|content-length|transfer-encoding|te|trailer|upgrade|expect|keep-alive|proxy-.*)$/i;

/** The tools of one run. What they refuse is an ApiError, for the model to read. */
export class HttpTools {
  readonly #deps: HttpToolsDeps;
  readonly #user: ToolUser;
  /** The rest of `maxSpendMsat`. */
  #left: number | undefined;
  /** The payments of this run by request, so that a request whose answer was lost is not paid twice. */
  readonly #paid = new Map<string, { payment: PaymentRecord; offer: ReadOffer }>();

  constructor(deps: HttpToolsDeps, user: ToolUser) {
    this.#deps = deps;
    this.#user = user;
    this.#left = user.maxSpendMsat;
  }

  /** `autopilot` is its current state, as its policy may have changed since the run started. */
  async use(autopilot: AutopilotRecord, name: AutopilotTool, given: HttpArguments | PaidArguments) {
    if (name === 'http_request') return await this.#request(autopilot, given);
    return await this.#requestPaid(autopilot, given as PaidArguments);
  }

  async #request({ policy }: AutopilotRecord, given: HttpArguments): Promise<Record<string, unknown>> {
    const url = allowedUrl(policy, given.url);
    const answer = await this.#send(url, given);
    if (answer.status !== 402) return shown(answer);
    const [offer] = await readOffers(answer);
    return { ...shown(answer), payment: offer ? describe(offer) : null };
  }

  async #requestPaid(autopilot: AutopilotRecord, given: PaidArguments): Promise<Record<string, unknown>> {
    const url = allowedUrl(autopilot.policy, given.url);
    const key = digestOf(url, given);
    const first = await this.#send(url, given, await this.#proofFor(key));
    if (first.status !== 402) return shown(first);
    const [offer] = await readOffers(first);
    if (!offer) {
      throw new ApiError('payment_required', {
        message: `${url.host} asks for a payment, but not in a way that is supported: L402, \`Payment\` or x402 over Lightning.`,
      });
    }
    const payment = await this.#pay(autopilot, { offer, host: url.hostname, given });
    if (payment.state !== 'failed') this.#paid.set(key, { payment, offer });
    const facts = {
      payment_id: payment.id,
      status: payment.state,
      amount_sats: satsOf(payment.amount),
      fee_sats: satsOf(payment.fee ?? 0),
    };
    if (payment.state !== 'succeeded') return { payment: facts };
    return { ...shown(await this.#send(url, given, await this.#proofFor(key))), payment: facts };
  }

  /** The proof that this request was paid before. Fails with `conflict` while its payment is pending. */
  async #proofFor(key: string): Promise<Proof | undefined> {
    const paid = this.#paid.get(key);
    if (!paid) return undefined;
    const { caller } = this.#user;
    const payment = await this.#deps.payment(caller, paid.payment.id);
    if (payment.state === 'pending') {
      const message = `The payment ${payment.id} for this request is pending and may still succeed.`;
      throw new ApiError('conflict', { message });
    }
    if (payment.state === 'failed') return undefined;
    const preimage = this.#deps.preimage(payment);
    // Another payment would have none, either.
    if (preimage === null)
      throw refused(`The payment ${payment.id} for this request succeeded, but there is no proof to show.`);
    return { preimage, headers: proofOf(paid.offer, preimage) };
  }

  async #pay(
    autopilot: AutopilotRecord,
    { offer, host, given }: { offer: ReadOffer; host: string; given: PaidArguments },
  ): Promise<PaymentRecord> {
    const { caller, mayPay, note, signal } = this.#user;
    const { policy } = autopilot;
    if (!mayPay) {
      throw refused(
        'The credential that started this run may not pay: a key needs the scope `billing`, an access token the ability `payments`.',
      );
    }
    this.#requireApproval(policy, offer.amount);
    const before = this.#left;
    if (this.#left !== undefined) this.#left -= offer.amount;
    try {
      const payment = await this.#deps.pay(
        caller,
        {
          invoice: offer.invoice,
          host,
          maxAmountMsats: given.max_amount_sats * 1000,
          timeoutMs: payTimeoutMs,
        },
        {
          limits: {
            budget: `autopilot:${autopilot.id}`,
            perPaymentMsat: policy.l402MaxSpendMsatsPerCall ?? 0,
            perDayMsat: policy.l402MaxSpendMsatsPerDay ?? 0,
            names: limitNames,
          },
          signal,
        },
      );
      if (payment.state === 'failed') this.#left = before;
      note(`payment_${payment.state}`, {
        payment_id: payment.id,
        host,
        amount_msats: payment.amount,
        fee_msats: payment.fee,
      });
      return payment;
    } catch (error) {
      // Nothing was sent; after any other error, that is not known.
      if (error instanceof ApiError) this.#left = before;
      throw error;
    }
  }

  #requireApproval({ l402RequireApproval: needsApproval }: AutopilotPolicy, amount: number): void {
    const left = this.#left;
    if (left === undefined && needsApproval === false) return;
    if (left === undefined) {
      throw refused(
        'This payment needs the approval of the owner: they can start the run again with `maxSpendMsats`, or set `policy.l402RequireApproval` to false.',
      );
    }
    if (amount > left) {
      throw refused(
        `The payment of ${satsOf(amount)} sats exceeds what \`maxSpendMsats\` leaves for this run: ${satsOf(left)} sats.`,
      );
    }
  }

  async #send(
    url: URL,
    { method = 'GET', headers = {}, body }: HttpArguments,
    proof?: Proof,
  ): Promise<WebAnswer> {
    const { mayBePrivate, signal } = this.#user;
    if (body !== undefined && method === 'GET') throw refusedArgument('`body` is only sent with `POST`.');
    const named = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
    );
    const reserved = Object.keys(named).find((name) => reservedHeaders.test(name));
    if (reserved !== undefined) throw refusedArgument(`The header \`${reserved}\` cannot be set.`);
    const answer = await this.#deps.send({
      method,
      url,
      mayBePrivate,
      signal,
      headers: { 'user-agent': 'gateway', ...named, ...proof?.headers },
      ...(method === 'POST' && { body: body ?? '' }),
    });
    return proof ? withoutProof(answer, proof) : answer;
  }
}

/** A server may repeat what it was sent, but others can read the chat: only the payer may know the proof. */
function withoutProof(answer: WebAnswer, { preimage, headers }: Proof): WebAnswer {
  const sent = Object.values(headers);
  // Also without the name of the scheme, and the preimage in capitals.
  const secrets = [...sent, ...sent.map((value) => value.replace(/^\S+ /, '')), new RegExp(preimage, 'gi')];
  const clean = (text: string) =>
    secrets.reduce<string>((rest, secret) => rest.replaceAll(secret, '[proof of payment]'), text);
  return {
    ...answer,
    headers: Object.fromEntries(Object.entries(answer.headers).map(([name, value]) => [name, clean(value)])),
    body: Buffer.from(clean(new TextDecoder().decode(answer.body))),
  };
}

const refused = (message: string) => new ApiError('permission', { message });
const refusedArgument = (message: string) => new ApiError('invalid_request', { message });
const satsOf = (msat: number) => msat / 1000;

/** Fails unless the policy allows the host of the URL. */
function allowedUrl({ l402AllowedHosts: hosts = [] }: AutopilotPolicy, text: string): URL {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password)
    throw refusedArgument('`url` must be an http or https URL without a user name.');
  if (hosts === null || hosts.length === 0)
    throw refused('No requests are allowed until `policy.l402AllowedHosts` lists hosts.');
  if (hosts.some((allowed) => allowsUrl(allowed, url))) return url;
  const hint = hosts.some((allowed) => allowsUrl(`${allowed}:*`, url))
    ? ` Without a port, a host means port ${defaultPortOf(url)}.`
    : '';
  throw refused(
    `${url.host} is not among the hosts of \`policy.l402AllowedHosts\`: ${hosts.join(', ')}.${hint}`,
  );
}

type ReadOffer = PaymentOffer & { amount: number; description: string | null };

/** The offers whose invoices have an amount and are what the offer says. */
async function readOffers({ headers }: WebAnswer): Promise<ReadOffer[]> {
  const { readInvoice } = await loadBolt11();
  return paymentOffersIn(headers).flatMap((offer) => {
    const invoice = readInvoice(offer.invoice);
    if (!invoice || invoice.amountMsat === null || offerMismatch(offer, invoice)) return [];
    return [{ ...offer, amount: invoice.amountMsat, description: invoice.description }];
  });
}

function describe({ scheme, amount, description }: ReadOffer) {
  return { scheme, amount_sats: satsOf(amount), description };
}

/** An answer as the model sees it. */
function shown({ status, headers, body, isCut }: WebAnswer): Record<string, unknown> {
  const { 'content-type': type, location } = headers;
  return {
    status,
    ...(type !== undefined && { content_type: type }),
    ...(location !== undefined && { location }),
    body: textOf(body),
    ...(isCut && { is_truncated: true }),
  };
}

function textOf(body: Uint8Array): string | null {
  const text = new TextDecoder().decode(body);
  // A body of bytes, such as an image, would be noise.
  return text.includes('\0') ? null : text;
}

function digestOf(url: URL, { method = 'GET', body = '' }: HttpArguments): string {
  return createHash('sha256')
    .update(JSON.stringify([method, url.href, body]))
    .digest('hex');
}
