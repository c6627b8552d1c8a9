import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import {
  Count,
  exactlyOneOf,
  listOf,
  maybe,
  nullable,
  OneLine,
  StrictObject,
  Timestamp,
  Usd,
  WorkspaceReference,
} from './vocabulary.ts';

/** Credit granted to a workspace. */
export const CreditGrant = Type.Object(
  {
    id: Type.String({ description: '`grant_…`' }),
    object: Type.Literal('credit_grant'),
    workspace: Type.String({ description: 'The id of the workspace.' }),
    usd: Usd,
    note: nullable(Type.String()),
    reference: nullable(Type.String()),
    balance_usd: nullable(Type.String({ description: 'The new balance; null for postpaid workspaces.' })),
    created_at: Timestamp,
  },
  { $id: 'CreditGrant' },
);

/** The balance of a workspace. */
export const CreditAccount = Type.Object(
  {
    workspace: Type.String({ description: 'The id of the workspace.' }),
    slug: Type.String(),
    name: Type.String(),
    billing: Type.Enum(['prepaid', 'postpaid'], {
      description: '`prepaid`: calls are rejected once the balance is used up.',
    }),
    balance_usd: nullable(Type.String({ description: 'Prepaid dollars; null for postpaid workspaces.' })),
    granted_usd: Usd,
    bought_usd: Type.String({ description: 'Paid for with Lightning invoices, in dollars.' }),
    spent_usd: Usd,
    held_usd: Type.String({ description: 'Reserved for calls in progress, in dollars.' }),
  },
  { $id: 'CreditAccount' },
);

/** The result of verifying the ledger. */
export const LedgerCheck = Type.Object(
  {
    ok: Type.Boolean(),
    checked_at: Timestamp,
    accounts: Count,
    entries: Count,
    grants: Count,
    holds: Type.Integer({ minimum: 0, description: 'Calls with a hold.' }),
    problems: Type.Array(Type.String(), {
      description: 'The problems found, for people; empty if there are none.',
    }),
  },
  { $id: 'LedgerCheck', description: 'Whether the ledger is consistent.' },
);

/** Credit that is bought by paying an invoice. */
export const CreditPurchase = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('credit_purchase'),
    workspace: Type.String({ description: 'The id of the workspace that gets the credit.' }),
    status: Type.Enum(['open', 'paid', 'expired'], { description: '`paid`: the credit can be used.' }),
    invoice: Type.String({ description: 'The Lightning invoice to pay (BOLT 11).' }),
    payment_hash: Type.String(),
    amount_sats: Type.Integer({ minimum: 1, description: 'The amount of the invoice, in satoshis.' }),
    usd: Type.String({ description: 'The credit for it, in dollars.' }),
    usd_per_btc: Type.String({ description: 'The exchange rate, in dollars per bitcoin.' }),
    rate_source: Type.String({ description: '`config`, `default`, or the host that reported the rate.' }),
    rate_at: Timestamp,
    created_at: Timestamp,
    expires_at: Timestamp,
    paid_at: nullable(Timestamp),
  },
  { $id: 'CreditPurchase' },
);

const buyers = { apiKey: 'billing', login: 'any', agent: true } as const;

export const buyCredit = endpoint({
  id: 'buyCredit',
  method: 'POST',
  path: '/v1/credit/purchases',
  summary: 'Buy credit with a Lightning invoice.',
  description:
    'Returns an invoice over an amount in satoshis or dollars, which can be paid within an hour; exactly one of `sats` and `usd` is required. The credit is added once, as soon as the invoice is paid.',
  tag: 'Credit',
  access: buyers,
  body: Type.Object(
    {
      sats: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 100_000_000, description: 'The amount to pay, in satoshis.' }),
      ),
      usd: Type.Optional(
        Type.String({
          pattern: '^(?!0+(\\.0+)?$)[0-9]{1,6}(\\.[0-9]{1,9})?$',
          description: 'The credit to buy, in dollars; rounded up to whole satoshis.',
        }),
      ),
    },
    { additionalProperties: false, ...exactlyOneOf('sats', 'usd') },
  ),
  result: CreditPurchase,
  errors: ['rate_limited'],
});

export const getCreditPurchase = endpoint({
  id: 'getCreditPurchase',
  method: 'GET',
  path: '/v1/credit/purchases/{id}',
  summary: 'Show a purchase of credit, or wait until it is paid.',
  tag: 'Credit',
  access: buyers,
  params: Type.Object({ id: Type.String({ maxLength: 64, description: 'The id of the purchase.' }) }),
  query: Type.Object({
    wait_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 60,
        description: 'How long to wait for the payment before the open purchase is returned; default 0.',
      }),
    ),
  }),
  result: CreditPurchase,
});

const hostOnly = { login: 'owner', loginOnly: true } as const;

export const grantCredit = endpoint({
  id: 'grantCredit',
  method: 'POST',
  path: '/v1/admin/credit',
  summary: 'Grant credit to a workspace.',
  description: 'Repeating a grant with the same `reference` returns the first one, or 409 if it differs.',
  tag: 'Credit',
  access: hostOnly,
  body: StrictObject({
    workspace: WorkspaceReference,
    usd: Type.String({
      pattern: '^(?!0+(\\.0+)?$)([0-9]{1,6}(\\.[0-9]{1,9})?|1000000(\\.0{1,9})?)$',
      description: 'Dollars, above zero and at most 1,000,000.',
    }),
    note: maybe(Type.String({ maxLength: 200 })),
    reference: maybe(OneLine({ maxLength: 128, description: 'Your own reference for the grant.' })),
  }),
  result: CreditGrant,
  errors: ['conflict'],
});

export const listCredit = endpoint({
  id: 'listCredit',
  method: 'GET',
  path: '/v1/admin/credit',
  summary: 'List the credit of workspaces.',
  tag: 'Credit',
  access: hostOnly,
  query: Type.Object({ workspace: Type.Optional(WorkspaceReference) }),
  result: listOf(CreditAccount),
});

const checkOfBooks = {
  description:
    'Checks the entries of every account, all balances, the holds of calls in progress, each key’s spending against its calls, and each entry against its copy in a chain of hashes.',
  path: '/v1/admin/ledger/verify',
  tag: 'Credit',
  access: hostOnly,
  result: LedgerCheck,
} as const;

export const verifyLedger = endpoint({
  ...checkOfBooks,
  id: 'verifyLedger',
  method: 'POST',
  summary: 'Verify the ledger.',
});

/** Also available as GET, for monitors that send nothing else. */
export const getLedgerCheck = endpoint({
  ...checkOfBooks,
  id: 'getLedgerCheck',
  method: 'GET',
  summary: 'Verify the ledger (GET).',
});

export type CreditGrant = Static<typeof CreditGrant>;
export type CreditAccount = Static<typeof CreditAccount>;
export type CreditPurchase = Static<typeof CreditPurchase>;
export type LedgerCheck = Static<typeof LedgerCheck>;
