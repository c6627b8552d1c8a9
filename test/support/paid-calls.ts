import {
  formatCredential,
  type PaymentChallenge,
  parseChallenges,
} from '../../src/shared/payments/payment-scheme.ts';
import { formatX402, type PaymentRequired, parsePaymentRequired } from '../../src/shared/payments/x402.ts';
import { givePlayMoney } from './play-money.ts';
import type { RunningDaemon } from './start-daemon.ts';
import { addPerson, askDaemon } from './users.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into by path.
type Json = any;

/** A vault without a keychain, as wallets need one, and sign-up without effort. */
export const paymentsConfig = 'vault: {keychain: false, insecure_plain_file: true}\n';

type Host = Pick<RunningDaemon, 'url' | 'login'>;

/** Somebody with a filled wallet, who can pay invoices of the host. */
export interface Payer {
  login: string;
  /** A key of their own, prepaid workspace. */
  key: string;
  workspace: string;
  /** Pays, and resolves to the preimage. */
  payInvoice(args: { invoice: string }): Promise<{ preimage: string }>;
  /** Satoshis. */
  balance(): Promise<number>;
}

/** Gives the host's owner a wallet, so that the host takes payments. */
export async function openTill(daemon: Host): Promise<void> {
  const made = await askDaemon(daemon, 'POST', '/api/agents/me/wallet', { as: daemon.login, json: {} });
  if (made.status !== 200) throw new Error(`no wallet: ${JSON.stringify(made.body)}`);
}

export async function addPayer(daemon: Host, handle: string, sats = 1_000_000): Promise<Payer> {
  const { login, workspace } = await addPerson(daemon, handle);
  await givePlayMoney(daemon, login, sats);
  const issued = await askDaemon(daemon, 'POST', '/v1/workspaces/me/keys', {
    as: login,
    json: { scopes: ['responses', 'billing', 'usage:read'] },
  });
  return {
    login,
    workspace,
    key: issued.body.secret,
    async payInvoice({ invoice }) {
      const paid = await askDaemon(daemon, 'POST', '/api/payments/pay', { as: login, json: { invoice } });
      if (paid.status !== 200) throw new Error(`not paid: ${JSON.stringify(paid.body)}`);
      return { preimage: paid.body.data.payment.preimage };
    },
    balance: async () =>
      (await askDaemon(daemon, 'GET', '/api/agents/me/balance', { as: login })).body.data.balanceSats,
  };
}

export interface CallAnswer {
  status: number;
  headers: Headers;
  body: Json;
}

/** One call, as a client sends it. */
export async function callModel(
  { url }: Pick<RunningDaemon, 'url'>,
  { key, body, path = '/v1/responses', headers = {} }: CallOptions,
): Promise<CallAnswer> {
  const answer = await fetch(url + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...headers,
    },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  const isJson = answer.headers.get('content-type')?.startsWith('application/json');
  return { status: answer.status, headers: answer.headers, body: isJson ? JSON.parse(text) : text };
}

export interface CallOptions {
  key?: string;
  body: object;
  path?: string;
  headers?: Record<string, string>;
}

/** The offers of a 402. */
export function offersIn(headers: Headers): { challenge: PaymentChallenge; required: PaymentRequired } {
  const [challenge] = parseChallenges(headers.get('www-authenticate') ?? '');
  const required = parsePaymentRequired(headers.get('payment-required') ?? '');
  if (!challenge || !required) throw new Error('the answer offers no payment');
  return { challenge, required };
}

/** The headers of a retry by the `Payment` scheme, next to the key. */
export function byCredential(challenge: PaymentChallenge, preimage: string): Record<string, string> {
  return { 'payment-authorization': formatCredential({ challenge, payload: { preimage } }) };
}

/** The headers of a retry by x402. */
export function byX402({ accepts: [accepted] }: PaymentRequired): Record<string, string> {
  if (!accepted) throw new Error('nothing is accepted');
  const payload = { invoice: accepted.extra?.invoice };
  return { 'payment-signature': formatX402({ x402Version: 2, accepted, payload }) };
}

/** The receipt in the header of an answer that was paid for by a credential. */
export function receiptOf(headers: Headers): Json {
  const header = headers.get('payment-receipt');
  if (header === null) throw new Error('the answer has no receipt');
  return JSON.parse(Buffer.from(header, 'base64url').toString());
}
