import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { idempotencyHeaders, OnceHeaders } from './model-call.ts';
import { dataOf, pageOf, pageQuery } from './site.ts';
import { nullable, StrictObject, Timestamp } from './vocabulary.ts';
import { msats, sats } from './wallet.ts';

/** The shortest text that can be an invoice, and the longest that is read. */
const invoiceText = { minLength: 20, maxLength: 8192 } as const;

const Bolt11 = Type.String({ description: 'The invoice as BOLT 11 text: `lnbc…`.' });
const PaymentHash = Type.String({ description: 'In hexadecimal.' });

/** An invoice of a wallet. */
export const WalletInvoice = Type.Object(
  {
    id: Type.String({ description: '`inv_…`' }),
    paymentRequest: Bolt11,
    paymentHash: PaymentHash,
    amountSats: sats('The amount in whole satoshis.'),
    amountMsats: msats('The amount in millisatoshis.'),
    description: Type.String(),
    status: Type.Enum(['open', 'paid', 'expired']),
    receivedMsats: nullable(msats('What was received; null until it is paid.')),
    createdAt: Timestamp,
    expiresAt: Timestamp,
    paidAt: nullable(Timestamp),
  },
  { $id: 'Invoice' },
);

/** A payment from a wallet. */
export const Payment = Type.Object(
  {
    paymentId: Type.String({ description: '`pay_…`' }),
    status: Type.Enum(['pending', 'succeeded', 'failed'], {
      description:
        '`pending`: whether it succeeds is not known yet. Its amount stays reserved until it is; do not pay again.',
    }),
    failureReason: nullable(Type.String({ description: 'Why it failed: `no_route`, `expired`, ….' })),
    quotedAmountMsats: msats('The amount of the invoice, in millisatoshis.'),
    maxFeeMsats: msats('The most that is paid in fees, in millisatoshis.'),
    feeMsats: nullable(msats('What was paid in fees; null until it succeeded.')),
    paymentHash: PaymentHash,
    preimage: nullable(
      Type.String({
        description: 'The proof of payment, in hexadecimal; null until it succeeded. Keep it secret.',
      }),
    ),
    paymentRequest: Bolt11,
    payee: Type.String({ description: 'The id of the node that is paid.' }),
    description: nullable(Type.String({ description: 'The description of the invoice.' })),
    host: nullable(Type.String({ description: 'Whom the caller said it pays.' })),
    resolvedBy: nullable(
      Type.String({
        description: 'The user who declared how it ended, as the node did not tell; null if the node did.',
      }),
    ),
    createdAt: Timestamp,
    settledAt: nullable(Timestamp),
  },
  { $id: 'Payment' },
);

const access = { apiKey: 'billing', login: 'any', token: 'payments', agent: true } as const;

export const payInvoice = endpoint({
  id: 'payInvoice',
  method: 'POST',
  path: '/api/payments/pay',
  summary: 'Pay a Lightning invoice from your wallet.',
  description:
    'Waits until the payment succeeds or fails, or `timeoutMs` is over; it then goes on, and its `status` is `pending`. An invoice is paid at most once: 409 if a payment of it is pending or succeeded. Invoices without an amount, expired ones and those above the maximum are rejected with 422 before anything is sent. A maximum limits the amount of the invoice; fees are limited to 1 % of it, or 2 satoshis if that is more.',
  tag: 'Payments',
  access,
  headers: OnceHeaders,
  responseHeaders: idempotencyHeaders,
  body: StrictObject({
    invoice: Type.String({
      ...invoiceText,
      description: 'A BOLT 11 invoice, with or without `lightning:`.',
    }),
    host: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        description:
          'Whom you pay, for your records; one of `wallet.declared_hosts`, if those are configured. It is not checked against the invoice.',
      }),
    ),
    maxAmountMsats: Type.Optional(
      Type.Integer({
        minimum: 1000,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'The most that the invoice may ask for, in millisatoshis.',
      }),
    ),
    maxAmountSats: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'The same in satoshis. The lower one applies.',
      }),
    ),
    timeoutMs: Type.Optional(
      Type.Integer({
        minimum: 1000,
        maximum: 120_000,
        description: 'How long to wait for the result; default 12000.',
      }),
    ),
  }),
  result: dataOf(Type.Object({ payment: Payment })),
});

export const createInvoice = endpoint({
  id: 'createInvoice',
  method: 'POST',
  path: '/api/payments/invoice',
  summary: 'Create a Lightning invoice for your wallet.',
  description:
    'It expires after an hour. The event `invoice.paid` reports its payment. An agent can have 20 unpaid invoices at a time.',
  tag: 'Payments',
  access,
  headers: OnceHeaders,
  responseHeaders: idempotencyHeaders,
  body: StrictObject({
    amountSats: Type.Integer({
      minimum: 1,
      // A hundredth of a safe integer of millisatoshis, so that balances stay exact.
      maximum: 90_000_000_000,
      description: 'The amount in satoshis.',
    }),
    description: Type.Optional(
      Type.String({ maxLength: 200, description: 'What is paid for; shown to the payer.' }),
    ),
  }),
  result: dataOf(Type.Object({ invoice: WalletInvoice })),
  errors: ['rate_limited'],
});

export const decodeInvoice = endpoint({
  id: 'decodeInvoice',
  method: 'POST',
  path: '/api/payments/decode',
  summary: 'Decode a Lightning invoice.',
  description: 'What paying it would mean, and why it cannot be paid, if so. Nothing is paid.',
  tag: 'Payments',
  access,
  body: StrictObject({ invoice: Type.String(invoiceText) }),
  result: dataOf(
    Type.Object({
      amountMsats: nullable(msats('Null if the payer is to choose it.')),
      amountSats: nullable(sats('In whole satoshis, rounded up.')),
      maxFeeMsats: nullable(msats('The most that would be paid in fees.')),
      description: nullable(Type.String()),
      descriptionHash: nullable(Type.String({ description: 'The SHA-256 of a longer description.' })),
      payee: Type.String({ description: 'The id of the node that asks for the payment.' }),
      network: Type.String({ description: '`bitcoin`, `testnet`, `signet` or `regtest`.' }),
      paymentHash: PaymentHash,
      createdAt: Timestamp,
      expiresAt: Timestamp,
      problem: nullable(Type.String({ description: 'Why your wallet cannot pay it now; null if it can.' })),
      paymentId: nullable(
        Type.String({
          description: 'Your payment of it that is pending or succeeded: `pay_…`; null without one.',
        }),
      ),
    }),
  ),
});

export const requestInvoice = endpoint({
  id: 'requestInvoice',
  method: 'POST',
  path: '/api/payments/request',
  summary: 'Get the invoice of a Lightning address or LNURL.',
  description:
    'Asks the service of a Lightning address or LNURL for an invoice over an amount, and checks it. Without an amount, the answer says which ones the service takes. Private addresses are refused. Nothing is paid.',
  tag: 'Payments',
  access,
  body: StrictObject({
    destination: Type.String({
      minLength: 1,
      maxLength: 8192,
      description:
        'A Lightning address (`name@example.com`), an LNURL (`lnurl1…`, `lnurlp://…`), a `bitcoin:` URI with a `lightning` parameter, or an invoice.',
    }),
    amountSats: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 90_000_000_000, description: 'The amount to pay, in satoshis.' }),
    ),
    comment: Type.Optional(Type.String({ maxLength: 2000, description: 'A message for the payee.' })),
  }),
  result: dataOf(
    Type.Object({
      invoice: nullable(
        Type.String({ description: 'The invoice as BOLT 11 text; null until `amountSats` is given.' }),
      ),
      payee: nullable(
        Type.String({ description: 'The Lightning address, or the host of the LNURL; null for an invoice.' }),
      ),
      description: nullable(Type.String({ description: 'What the service says that is paid for.' })),
      minMsats: nullable(msats('The least that the service takes, in millisatoshis.')),
      maxMsats: nullable(msats('The most that it takes.')),
      commentMax: Type.Integer({ minimum: 0, description: 'The longest comment that it takes; 0 for none.' }),
      thanks: nullable(Type.String({ description: 'What it says to those who have paid.' })),
    }),
  ),
  errors: ['upstream_failed'],
});

export const listPayments = endpoint({
  id: 'listPayments',
  method: 'GET',
  path: '/api/payments',
  summary: 'List the payments of your wallet.',
  description: 'Newest first.',
  tag: 'Payments',
  access,
  query: Type.Object(pageQuery),
  result: pageOf(Payment),
});

export const listInvoices = endpoint({
  id: 'listInvoices',
  method: 'GET',
  path: '/api/payments/invoices',
  summary: 'List the invoices of your wallet.',
  description: 'Newest first.',
  tag: 'Payments',
  access,
  query: Type.Object(pageQuery),
  result: pageOf(WalletInvoice),
});

export const getInvoice = endpoint({
  id: 'getInvoice',
  method: 'GET',
  path: '/api/payments/invoices/{invoiceId}',
  summary: 'Show an invoice.',
  tag: 'Payments',
  access,
  params: Type.Object({
    invoiceId: Type.String({ minLength: 1, maxLength: 64, description: 'The id of an invoice: `inv_…`.' }),
  }),
  result: dataOf(Type.Object({ invoice: WalletInvoice })),
});

export const getPayment = endpoint({
  id: 'getPayment',
  method: 'GET',
  path: '/api/payments/{paymentId}',
  summary: 'Show a payment.',
  tag: 'Payments',
  access,
  params: Type.Object({
    paymentId: Type.String({ minLength: 1, maxLength: 64, description: 'The id of a payment: `pay_…`.' }),
  }),
  result: dataOf(Type.Object({ payment: Payment })),
});

export type Payment = Static<typeof Payment>;
export type WalletInvoice = Static<typeof WalletInvoice>;
