import { type Static, Type } from 'typebox';
import { connectedBackends, lightningNetworks } from '../payments/wallet-backends.ts';
import { endpoint } from './endpoint.ts';
import { deleted, nullable, StrictObject, Timestamp } from './vocabulary.ts';
import { msats } from './wallet.ts';

/** The Lightning back end of all wallets, without its secret. */
export const WalletBackendStatus = Type.Object(
  {
    backend: Type.String({ description: '`embedded`, or the node that the configuration names.' }),
    state: Type.Enum(['ready', 'limited', 'unavailable', 'unknown'], {
      description:
        '`limited`: it answers, but something is wrong; `unavailable`: it cannot be used; `unknown`: it was not asked yet.',
    }),
    problems: Type.Array(Type.String(), {
      description: 'What is wrong and how to fix it, for the owner of the host.',
    }),
    network: Type.Enum([...lightningNetworks]),
    node_id: nullable(
      Type.String({ description: 'The public key of the node; null if it does not report it.' }),
    ),
    balance_msats: nullable(
      msats('What the node can send, in millisatoshis; null if it does not report it.'),
    ),
    owed_msats: msats('What the wallets of the host hold of it, payments in progress included.'),
    secret: nullable(
      Type.Enum(['environment', 'file', 'vault'], { description: 'Where its secret is read from.' }),
    ),
  },
  { $id: 'WalletBackend' },
);

const access = { login: 'owner', loginOnly: true } as const;
const params = Type.Object({
  backend: Type.Enum([...connectedBackends], { description: 'A back end that has a secret.' }),
});

export const getWalletBackend = endpoint({
  id: 'getWalletBackend',
  method: 'GET',
  path: '/v1/admin/wallet-backend',
  summary: 'Check the Lightning back end.',
  description:
    'Asks the node whether it can pay and be paid. `GET /v1/admin/status` contains the last known state.',
  tag: 'Wallet',
  access,
  result: WalletBackendStatus,
});

export const putWalletSecret = endpoint({
  id: 'putWalletSecret',
  method: 'PUT',
  path: '/v1/admin/wallet-backend/{backend}/secret',
  summary: 'Store the secret of a Lightning back end.',
  description:
    'Seals a macaroon, connection string or password in the vault. It is never returned. A secret in the environment or in a file, if configured, is used instead.',
  tag: 'Wallet',
  access,
  params,
  body: StrictObject({ secret: Type.String({ minLength: 1, maxLength: 8192 }) }),
  result: Type.Object({ backend: Type.String(), sealed: Type.Literal(true) }, { $id: 'WalletSecret' }),
});

export const deleteWalletSecret = endpoint({
  id: 'deleteWalletSecret',
  method: 'DELETE',
  path: '/v1/admin/wallet-backend/{backend}/secret',
  summary: 'Delete the stored secret of a Lightning back end.',
  description: 'Pending payments are not followed until there is one again.',
  tag: 'Wallet',
  access,
  params,
  result: deleted('wallet_secret'),
});

export const fundWallet = endpoint({
  id: 'fundWallet',
  method: 'POST',
  path: '/v1/admin/wallet-backend/fund',
  summary: 'Fund your wallet from the node.',
  description:
    'Adds money to your wallet that the node can send and no wallet of the host holds. Nothing is sent. 409 if there is less.',
  tag: 'Wallet',
  access,
  body: StrictObject({
    amount_sats: Type.Integer({ minimum: 1, maximum: 90_000_000_000, description: 'Satoshis to add.' }),
  }),
  result: Type.Object(
    {
      wallet_id: Type.String({ description: '`wal_…`' }),
      balance_msats: msats('What the wallet can spend now, in millisatoshis.'),
    },
    { $id: 'FundedWallet' },
  ),
  errors: ['conflict'],
});

export const trustNode = endpoint({
  id: 'trustNode',
  method: 'PUT',
  path: '/v1/admin/wallet-backend/node',
  summary: 'Trust another Lightning node.',
  description:
    'The first node that a back end reaches is trusted with the money of its wallets; payments and invoices are refused while another one answers. This replaces the trusted node by the one that answers now. 409 if that is not `node_id`.',
  tag: 'Wallet',
  access,
  body: StrictObject({
    node_id: Type.String({ pattern: '^0[23][0-9a-f]{64}$', description: 'The public key of the node.' }),
  }),
  result: WalletBackendStatus,
  errors: ['conflict'],
});

const Unexplained = Type.Object({
  kind: Type.Enum(['payment', 'receipt']),
  payment_hash: Type.String({ description: 'In hexadecimal.' }),
  amount_msats: msats('What was paid without fees, or received.'),
  fee_msats: msats('What was paid in fees.'),
  at: Timestamp,
  reason: Type.Enum(['unknown_wallet', 'in_flight', 'not_covered'], {
    description:
      '`unknown_wallet`: the node does not say whose it is; `in_flight`: the payment has not ended; `not_covered`: its wallet lacks the money for it, or the wallets would hold more than the node has.',
  }),
  wallet: nullable(Type.String({ description: 'Whose it is, if that is known: `wal_…`' })),
  payee: nullable(Type.String({ description: 'The node that was paid, in hexadecimal.' })),
  description: nullable(Type.String({ description: 'The description of its invoice.' })),
});

/** How far wallets are compared with their node after a restore. */
export const WalletReconciliation = Type.Object(
  {
    backend: Type.String({ description: '`embedded`, or the node that the configuration names.' }),
    network: Type.Enum([...lightningNetworks]),
    state: Type.Enum(['none', 'open', 'ended'], {
      description: '`open`: wallets pay nothing; `none`: no backup was restored.',
    }),
    since: nullable(Type.String({ description: 'The time of the backup, from which on the node is asked.' })),
    ended_at: nullable(Type.String({ description: 'When wallets could pay again.' })),
    accepted_by: nullable(
      Type.String({ description: 'The id of the user who accepted the difference; null if there was none.' }),
    ),
    problems: Type.Array(Type.String(), { description: 'Why the node does not explain everything.' }),
    booked: Type.Object({
      payments: Type.Integer({ minimum: 0 }),
      receipts: Type.Integer({ minimum: 0 }),
    }),
    unexplained: Type.Array(Unexplained, {
      description:
        'What the node paid and received and no wallet has, at most 200, those that keep it open first. Receipts without a wallet keep nothing open.',
    }),
    unexplained_count: Type.Integer({ minimum: 0 }),
    balance_msats: nullable(msats('What the node can send, in millisatoshis; null if it was not asked.')),
    owed_msats: msats('What the wallets of the host hold of it, payments in progress included.'),
  },
  { $id: 'WalletReconciliation' },
);

export const reconcileWallets = endpoint({
  id: 'reconcileWallets',
  method: 'POST',
  path: '/v1/admin/wallet-backend/reconcile',
  summary: 'Compare wallets with their Lightning node.',
  description:
    'After a backup was restored, wallets of a Lightning node pay nothing until this has ended. The daemon does it by itself: it books what the node paid and received since the backup and says whose it was, once each, and never so that the wallets hold more than the node has. What is left is listed; `assign` books it, and `accept` ends the comparison with it. 409 if nothing is open.',
  tag: 'Wallet',
  access,
  body: StrictObject({
    since: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'Compare from this time on, such as after the data was restored in another way.',
      }),
    ),
    assign: Type.Optional(
      Type.Array(
        StrictObject({
          payment_hash: Type.String({ pattern: '^[0-9a-f]{64}$' }),
          wallet: Type.String({ minLength: 1, maxLength: 64, description: '`wal_…`' }),
        }),
        { maxItems: 1000, description: 'Whose payments and receipts are, which the node does not say.' },
      ),
    ),
    accept: Type.Optional(
      Type.Boolean({ description: 'Let the wallets pay again, and leave what is unexplained to the node.' }),
    ),
  }),
  bodyRequired: false,
  result: WalletReconciliation,
  errors: ['conflict'],
});

export const checkWalletBackend = endpoint({
  id: 'checkWalletBackend',
  method: 'POST',
  path: '/v1/admin/wallet-backend/check',
  summary: 'Check a Lightning back end before it is connected.',
  description: 'Asks a node that is not configured yet. Nothing is stored.',
  tag: 'Wallet',
  access,
  body: StrictObject({
    backend: params.properties.backend,
    secret: Type.String({ minLength: 1, maxLength: 8192 }),
    url: Type.Optional(
      Type.String({
        maxLength: 2048,
        pattern: '^https?://',
        description: 'Where its API listens; by default as configured.',
      }),
    ),
    certificate_file: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 4096,
        description: 'A file with the certificate to trust, on the daemon’s machine.',
      }),
    ),
    network: Type.Optional(Type.Enum([...lightningNetworks])),
  }),
  result: Type.Object(
    {
      state: Type.Enum(['ready', 'limited', 'unavailable']),
      problems: WalletBackendStatus.properties.problems,
    },
    { $id: 'WalletBackendCheck' },
  ),
});

export const resolvePayment = endpoint({
  id: 'resolvePayment',
  method: 'POST',
  path: '/v1/admin/payments/{payment}/resolve',
  summary: 'Declare how a pending payment ended.',
  description:
    'For a payment of any user whose result the node does not report: look it up in the wallet first. `failed` returns the reserved money to its payer, who can then pay the invoice again. The payment records who declared it. 409 if it is not pending.',
  tag: 'Wallet',
  access,
  params: Type.Object({
    payment: Type.String({ minLength: 1, maxLength: 64, description: 'The id of a payment: `pay_…`.' }),
  }),
  body: StrictObject({
    outcome: Type.Enum(['paid', 'failed']),
    fee_msats: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'With `paid`: what was paid in fees; by default all that is reserved for fees.',
      }),
    ),
    preimage: Type.Optional(
      Type.String({
        pattern: '^[0-9a-f]{64}$',
        description: 'With `paid`: the proof of payment, for the payer, if the wallet shows it.',
      }),
    ),
  }),
  result: Type.Object(
    {
      id: Type.String({ description: '`pay_…`' }),
      object: Type.Literal('payment'),
      status: Type.Enum(['succeeded', 'failed']),
      amount_msats: msats('The amount of the invoice, in millisatoshis.'),
      fee_msats: nullable(msats('What was charged for fees; null if it failed.')),
      resolved_by: Type.String({ description: 'The id of the user who declared it.' }),
      resolved_at: Timestamp,
    },
    { $id: 'ResolvedPayment' },
  ),
  errors: ['conflict'],
});

export type WalletReconciliation = Static<typeof WalletReconciliation>;
export type WalletBackendStatus = Static<typeof WalletBackendStatus>;
