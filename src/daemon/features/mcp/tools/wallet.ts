import { Type } from 'typebox';
import { createInvoice, getInvoice, getPayment, payInvoice } from '../../../../shared/contract/payments.ts';
import { getBalance } from '../../../../shared/contract/wallet.ts';
import { tool } from '../tool.ts';

export const walletBalanceTool = tool({
  name: 'wallet_balance',
  title: 'Show the wallet’s balance',
  description:
    'Show what the Lightning wallet of this connection can spend, in satoshis, and what is reserved for pending payments.',
  input: Type.Object({}, { additionalProperties: false }),
  endpoints: [getBalance],
  isReadOnly: true,
  run: async (_input, { ask }) => ({ data: await ask.whole(getBalance, {}) }),
});

export const createInvoiceTool = tool({
  name: 'create_invoice',
  title: 'Create an invoice',
  description:
    'Create a Lightning invoice, so that someone can pay the wallet of this connection. `paymentRequest` is the text to give to the payer. It expires after an hour; `get_invoice` tells whether it was paid.',
  input: createInvoice.body,
  endpoints: [createInvoice],
  isReadOnly: false,
  run: async (body, { ask }) => ({ data: await ask.whole(createInvoice, { body }) }),
});

export const getInvoiceTool = tool({
  name: 'get_invoice',
  title: 'Show an invoice',
  description: 'Show an invoice of the wallet of this connection, and whether it is open, paid or expired.',
  input: Type.Object(getInvoice.params.properties, { additionalProperties: false }),
  endpoints: [getInvoice],
  isReadOnly: true,
  run: async (params, { ask }) => ({ data: await ask.whole(getInvoice, { params }) }),
});

const { invoice, host, maxAmountSats } = payInvoice.body.properties;

export const payInvoiceTool = tool({
  name: 'pay_invoice',
  title: 'Pay an invoice',
  description:
    'Pay a Lightning invoice from the wallet of this connection. It cannot be undone. The user limits what you may pay at once and per day; a payment above these limits is rejected. If `status` is `pending`, the payment may still succeed: do not pay again, and look with `get_payment`.',
  input: Type.Object({ invoice, host, maxAmountSats }, { additionalProperties: false }),
  endpoints: [payInvoice],
  isReadOnly: false,
  isDestructive: true,
  run: async (body, { ask }) => ({ data: await ask.whole(payInvoice, { body }) }),
});

export const getPaymentTool = tool({
  name: 'get_payment',
  title: 'Show a payment',
  description:
    'Show a payment from the wallet of this connection, and whether it is pending, has succeeded or has failed.',
  input: Type.Object(getPayment.params.properties, { additionalProperties: false }),
  endpoints: [getPayment],
  isReadOnly: true,
  run: async (params, { ask }) => ({ data: await ask.whole(getPayment, { params }) }),
});
