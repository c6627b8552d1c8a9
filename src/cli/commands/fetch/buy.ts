import type { Result } from '../../../shared/contract/endpoint.ts';
import type { decodeInvoice as decodeInvoiceContract, Payment } from '../../../shared/contract/payments.ts';
import { decodeInvoice, getBalance, getPayment, payInvoice } from '../../../shared/endpoints.ts';
import { exitCodes } from '../../../shared/errors.ts';
import { ReceivedError } from '../../../shared/faults/received-error.ts';
import { isObject, parseObject } from '../../../shared/json/json-object.ts';
import { bitcoin } from '../../../shared/money/sats.ts';
import {
  offerMismatch,
  type PaymentOffer,
  paymentOffersIn,
  proofOf,
  tokenBounds,
} from '../../../shared/payments/payment-offers.ts';
import { x402Fault } from '../../../shared/payments/x402.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../failures/cli-error.ts';
import { escapeControls } from '../../output/escape-controls.ts';
import { confirm } from '../../terminal/prompts.ts';
import { quoteLines } from '../payments.ts';
import { digestOf, type KeptToken, type Purchase, type Purchases, purchaseId } from './purchases.ts';
import { bytesOf, isReadable, sendRequest, type WebAnswer, type WebRequest } from './web-request.ts';

export interface BuyFlags {
  maxSats?: number | undefined;
  yes?: true | undefined;
  /** Whether to pay again for a request whose payment the server does not accept. */
  again?: true | undefined;
}

/** The answer to a request, and what it was paid with. */
export interface BoughtAnswer {
  answer: WebAnswer;
  /** Null if nothing was asked for. `isNew`: it was paid just now; `isKept`: it is a token that can be used again. */
  paid: { offer: PaymentOffer; paymentId: string | null; isNew: boolean; isKept: boolean } | null;
  /** To be called when the whole answer has arrived: until then, a repetition asks for it with the same payment. */
  complete(): void;
}

const nothingToKeep = () => {};

type Quote = Result<typeof decodeInvoiceContract>['data'];

const payTimeoutMs = 60_000;
const explanationBytesMax = 64 * 1024;

/** Sends a request, pays for it if the server asks for that, and sends it again with the proof. */
export class Buyer {
  readonly #context: Context;
  readonly #purchases: Purchases;
  readonly #request: WebRequest;
  readonly #flags: BuyFlags;
  readonly #id: string;

  constructor(context: Context, store: Purchases, request: WebRequest, flags: BuyFlags) {
    this.#context = context;
    this.#purchases = store;
    this.#request = request;
    this.#flags = flags;
    this.#id = purchaseId(request);
  }

  async fetch(): Promise<BoughtAnswer> {
    const earlier = this.#purchases.read(this.#id);
    if (earlier?.state === 'paying' || (earlier?.state === 'paid' && !this.#flags.again)) {
      const settled = await this.#settled(earlier);
      if (settled) return await this.#present(settled);
    }
    if (earlier && earlier.state !== 'served') this.#purchases.forget(this.#id);
    const token = this.#usesAuthorization()
      ? undefined
      : this.#purchases.tokenFor(this.#request.url, this.#context.now());
    const first = await this.#sendFirst(token);
    if (first.answer.status !== 402) return first;
    await bytesOf(first.answer.body, explanationBytesMax);
    return await this.#present(await this.#buy(first.answer));
  }

  /** Sends the request with a token, if there is one that the server accepts. */
  async #sendFirst(token: KeptToken | undefined): Promise<BoughtAnswer> {
    if (token) {
      const { offer, paymentId, preimage } = token;
      const answer = await sendRequest(this.#context, this.#request, proofOf(offer, preimage));
      // Servers answer so to a token that they do not know any more. Some then offer no other.
      const isAsked = answer.status === 402 && paymentOffersIn(answer.headers).length > 0;
      if (isAsked || (answer.status !== 401 && answer.status !== 402)) {
        const paid = isAsked ? null : { offer, paymentId, isNew: false, isKept: true };
        return { answer, paid, complete: nothingToKeep };
      }
      await bytesOf(answer.body, explanationBytesMax);
    }
    return { answer: await sendRequest(this.#context, this.#request), paid: null, complete: nothingToKeep };
  }

  /** Pays what a 402 asks for. */
  async #buy(answer: WebAnswer): Promise<Purchase> {
    const { offer, quote } = await this.#choose(paymentOffersIn(answer.headers));
    await this.#approve(quote);
    const purchase: Purchase = {
      url: this.#request.url.href,
      wallet: await this.#wallet(),
      offer,
      state: 'paying',
      paymentId: null,
      preimage: null,
      at: this.#context.now(),
    };
    // A token that was used up makes room.
    if (this.#purchases.read(this.#id)?.state === 'served') this.#purchases.forget(this.#id);
    if (!this.#purchases.start(this.#id, purchase)) {
      throw new CliError('Another command is paying for this request.', {
        exit: exitCodes.tryLater,
        next: 'Repeat the command when it has ended.',
      });
    }
    return await this.#pay(purchase);
  }

  /** The first offer whose invoice is what the offer says, and that the wallet can pay. */
  async #choose(offers: readonly PaymentOffer[]): Promise<{ offer: PaymentOffer; quote: Quote }> {
    const faults: string[] = [];
    for (const offer of offers) {
      if (this.#usesAuthorization() && 'authorization' in proofOf(offer, '')) {
        faults.push(`${offer.scheme} needs the header Authorization, which the request uses.`);
        continue;
      }
      const fault = this.#faultOf(offer);
      const quote = fault === undefined ? await this.#quote(offer.invoice) : fault;
      if (typeof quote === 'string') faults.push(`The offer by ${offer.scheme} ${quote}.`);
      else {
        const mismatch = offerMismatch(offer, { ...quote, amountMsat: quote.amountMsats });
        if (mismatch === undefined) return { offer, quote };
        faults.push(`The invoice of the offer by ${offer.scheme} ${mismatch}.`);
      }
    }
    throw new CliError(
      faults[0] ?? 'The server asks for a payment, but not over Lightning by L402, x402 or `Payment`.',
      { exit: exitCodes.pay, next: 'Nothing was paid.' },
    );
  }

  #faultOf(offer: PaymentOffer): string | undefined {
    if (offer.scheme !== 'Payment') return undefined;
    const { digest, expires } = offer.challenge;
    if (digest !== undefined && digest !== digestOf(this.#request.body)) return 'is for another body';
    if (expires !== undefined && !(Date.parse(expires) > this.#context.now())) return 'has expired';
    return undefined;
  }

  /** The id of the wallet that pays. */
  async #wallet(): Promise<string> {
    return (await this.#context.client().call(getBalance, {})).data.walletId;
  }

  /** What paying an invoice would mean, or why it is none. */
  async #quote(invoice: string): Promise<Quote | string> {
    try {
      return (await this.#context.client().call(decodeInvoice, { body: { invoice } })).data;
    } catch (error) {
      if (error instanceof ReceivedError && error.status === 422) return 'has an invalid invoice';
      throw error;
    }
  }

  /** Fails above the maximum and if the wallet cannot pay; asks unless a maximum or `--yes` was given. */
  async #approve(quote: Quote): Promise<void> {
    const { url } = this.#request;
    const { maxSats, yes } = this.#flags;
    const { out, io } = this.#context;
    const amount = bitcoin(quote.amountMsats ?? 0);
    if (maxSats !== undefined && (quote.amountMsats ?? 0) > maxSats * 1000) {
      throw new CliError(`The request costs ${amount}, more than --max-sats ${maxSats}. Nothing was paid.`, {
        exit: exitCodes.pay,
      });
    }
    if (quote.problem !== null)
      throw new CliError(`The request costs ${amount}. ${quote.problem}`, { exit: exitCodes.pay });
    if (isReadable(url)) out.warn(`The proof of payment is sent unencrypted to ${url.host}.`);
    if (maxSats !== undefined || yes) return;
    if (!io.stdin.isTty || !out.isInteractive()) {
      throw new CliError(
        `The request costs ${amount}. Without a terminal to ask on, --max-sats is required.`,
        {
          exit: exitCodes.pay,
          next: `Give the most that may be paid: --max-sats ${Math.ceil((quote.amountMsats ?? 0) / 1000)}`,
        },
      );
    }
    io.stderr.write(escapeControls(quoteLines(quote)));
    await confirm(this.#context, `Pay ${amount} to ${url.host}?`, {});
  }

  /** Pays the invoice of a purchase, which is paid at most once however often this is repeated. */
  async #pay(purchase: Purchase): Promise<Purchase> {
    const { maxSats } = this.#flags;
    const { terms, invoice } = purchase.offer;
    try {
      const { data } = await this.#context.client().call(payInvoice, {
        headers: {},
        body: {
          invoice,
          host: this.#request.url.hostname,
          timeoutMs: payTimeoutMs,
          ...(maxSats !== undefined && { maxAmountSats: maxSats }),
          ...(terms.amountMsat !== undefined &&
            terms.amountMsat >= 1000 && { maxAmountMsats: terms.amountMsat }),
        },
      });
      return this.#ended(purchase, data.payment);
    } catch (error) {
      if (error instanceof CliError) throw error;
      if (error instanceof ReceivedError && error.status === 409) {
        const found = await this.#settled(purchase);
        if (found) return found;
      }
      if (!(error instanceof ReceivedError) || error.code === 'server_error') {
        throw new CliError('The result of the payment is not known.', {
          exit: exitCodes.tryLater,
          next: 'Repeat the command: it goes on where it was, and pays once at most.',
          cause: error,
        });
      }
      // Nothing was paid. While the wallet cannot be used, the same invoice is paid later.
      if (error.code !== 'unavailable') this.#purchases.forget(this.#id);
      throw error;
    }
  }

  /**
   * The purchase once it is paid, after looking its payment up. Undefined if nothing was paid and the invoice cannot be
   * paid any more. Fails with exit code 6 while the payment is pending.
   */
  async #settled(purchase: Purchase): Promise<Purchase | undefined> {
    if (purchase.preimage !== null) return purchase;
    if (purchase.wallet !== (await this.#wallet())) {
      throw new CliError(`Another wallet is paying for this request: ${purchase.wallet}.`, {
        exit: exitCodes.failed,
        next: 'Repeat the command with the host and the key or login that it was started with.',
      });
    }
    const quote = await this.#quote(purchase.offer.invoice);
    if (typeof quote === 'string') return undefined;
    if (quote.paymentId !== null) {
      const params = { paymentId: quote.paymentId };
      return this.#ended(purchase, (await this.#context.client().call(getPayment, { params })).data.payment);
    }
    if (quote.problem !== null) return undefined;
    await this.#approve(quote);
    return await this.#pay(purchase);
  }

  /** Stores how a payment ended. Fails unless it succeeded. */
  #ended(purchase: Purchase, { paymentId, status, preimage, failureReason }: Payment): Purchase {
    if (status === 'failed') {
      this.#purchases.forget(this.#id);
      throw new CliError(`The payment failed: ${failureReason}. Nothing was paid.`, { exit: exitCodes.pay });
    }
    const known = {
      ...purchase,
      paymentId,
      ...(status === 'succeeded' && { state: 'paid' as const, preimage }),
    };
    this.#purchases.update(this.#id, known);
    if (status === 'succeeded' && preimage !== null) return known;
    const next = `See: gateway payments show ${paymentId}`;
    if (status === 'succeeded')
      throw new CliError('The payment has no proof to show.', { exit: exitCodes.pay, next });
    throw new CliError('The payment is pending; it may still succeed.', {
      exit: exitCodes.tryLater,
      next: `Repeat the command later: it goes on where it was. ${next}`,
    });
  }

  /** Sends the request with the proof of its payment. */
  async #present(purchase: Purchase): Promise<BoughtAnswer> {
    const { offer, paymentId } = purchase;
    const answer = await this.#sendProof(purchase);
    const isRefused = answer.status === 402 || (answer.status === 401 && offer.scheme === 'L402');
    if (isRefused) {
      const reason = refusalIn(answer.headers, await bytesOf(answer.body, explanationBytesMax));
      throw new CliError(
        `The server does not accept the payment${reason === undefined ? '' : `: ${reason}`}. It was made: ${paymentId}.`,
        {
          exit: exitCodes.pay,
          next: 'Repeat the command to show the proof again, or pay again with --again.',
        },
      );
    }
    const isKept = offer.scheme === 'L402' && tokenBounds(offer.token).uses > 1;
    const complete = () => {
      if (isKept) this.#purchases.update(this.#id, { ...purchase, state: 'served' });
      else this.#purchases.forget(this.#id);
    };
    // What a server failed to deliver, it may deliver when it is asked again.
    const isFailure = answer.status >= 500;
    return {
      answer,
      paid: { offer, paymentId, isNew: true, isKept },
      complete: isFailure ? nothingToKeep : complete,
    };
  }

  async #sendProof({ offer, preimage, paymentId }: Purchase): Promise<WebAnswer> {
    try {
      return await sendRequest(this.#context, this.#request, proofOf(offer, preimage ?? ''));
    } catch (error) {
      throw new CliError(`${(error as Error).message} The payment was made: ${paymentId}.`, {
        exit: exitCodes.tryLater,
        next: 'Repeat the command: it shows the proof again, and does not pay again.',
        cause: error,
      });
    }
  }

  #usesAuthorization(): boolean {
    return this.#request.headers.authorization !== undefined;
  }
}

const reasonMax = 300;

/** Why a server refused: in JSON, in a line of text, or in the headers of x402, whose body may be empty. */
function refusalIn(headers: WebAnswer['headers'], body: Uint8Array): string | undefined {
  const text = Buffer.from(body).toString().trim();
  const found = reasonIn(text) ?? x402Fault(headers) ?? (isOneLine(text) ? text : undefined);
  return found?.slice(0, reasonMax).replace(/\.$/, '') || undefined;
}

function reasonIn(text: string): string | undefined {
  const { error, reason, detail, message } = parseObject(text) ?? {};
  const inner = isObject(error) ? (error.message ?? error.reason) : undefined;
  return [inner, detail, reason, error, message].find((each) => typeof each === 'string');
}

/** Neither a web page nor other code. */
const isOneLine = (text: string) => /^[^\n<{[]{1,300}$/.test(text);
