import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { dataOf } from './site.ts';
import { nullable, StrictObject, Timestamp } from './vocabulary.ts';

/** A whole number of satoshis. */
export function sats(description: string) {
  return Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description });
}

/** A whole number of millisatoshis. */
export const msats = sats;

const problem = nullable(
  Type.String({ description: 'Why the wallet pays nothing now, as a sentence; null if it can pay.' }),
);

/** A wallet, without its recovery phrase. */
export const Wallet = Type.Object(
  {
    id: Type.String({ description: '`wal_…`' }),
    identityPubkey: Type.String({
      description: 'The public key that signs its invoices, in hexadecimal: the id of its Lightning node.',
    }),
    network: Type.Enum(['bitcoin', 'testnet', 'signet', 'regtest'], {
      description: '`regtest` for play money.',
    }),
    backend: Type.String({ description: 'How it pays and is paid; `embedded`: within this host.' }),
    balanceSats: sats('What can be spent, in whole satoshis, rounded down.'),
    balanceMsats: msats('What can be spent, in millisatoshis.'),
    pendingMsats: msats('Reserved for pending payments and their fees, in millisatoshis.'),
    problem,
    createdAt: Timestamp,
  },
  { $id: 'Wallet' },
);

const access = { apiKey: 'billing', login: 'any', token: 'payments', agent: true } as const;

export const createWallet = endpoint({
  id: 'createWallet',
  method: 'POST',
  path: '/api/agents/me/wallet',
  summary: 'Create or import your wallet.',
  description:
    'Each user or agent has one wallet. Without `mnemonic` a new one is created, and the response contains its twelve words; if there is a wallet already, it is returned. With `mnemonic` the wallet of that recovery phrase is imported; it replaces another wallet only if that one is empty. The words are the wallet’s identity; its balance is in the host’s ledger. They are sealed in the vault.',
  tag: 'Wallet',
  access,
  body: StrictObject({
    mnemonic: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1024,
        description: 'A BIP 39 recovery phrase: 12, 15, 18, 21 or 24 English words.',
      }),
    ),
  }),
  bodyRequired: false,
  result: dataOf(
    Type.Object({
      wallet: Wallet,
      action: Type.Enum(['created', 'imported', 'ensured'], {
        description: '`ensured`: the wallet existed already.',
      }),
      mnemonic: Type.Optional(
        Type.String({
          description: 'The words of a new wallet. They are its identity, and do not hold its balance.',
        }),
      ),
    }),
  ),
  errors: ['conflict'],
});

export const showPhrase = endpoint({
  id: 'showPhrase',
  method: 'POST',
  path: '/api/agents/me/wallet/phrase',
  summary: 'Show the recovery phrase of your wallet.',
  description:
    'For logins; keys, tokens and agents cannot read it. 503 while the vault is locked, 404 without a wallet.',
  tag: 'Wallet',
  access: { login: 'any', loginOnly: true },
  result: dataOf(
    Type.Object({
      walletId: Type.String({ description: '`wal_…`' }),
      backend: Type.String({ description: 'How it pays and is paid; `embedded`: within this host.' }),
      mnemonic: Type.String({
        description: 'The words. Anyone who has them can import the wallet elsewhere.',
      }),
    }),
  ),
});

export const getBalance = endpoint({
  id: 'getBalance',
  method: 'GET',
  path: '/api/agents/me/balance',
  summary: 'Show the balance of your wallet.',
  description: 'Returns 404 without a wallet.',
  tag: 'Wallet',
  access,
  result: dataOf(
    Type.Object({
      walletId: Type.String({ description: '`wal_…`' }),
      balanceSats: sats('What can be spent, in whole satoshis, rounded down.'),
      balanceMsats: msats('What can be spent, in millisatoshis.'),
      pendingMsats: msats('Reserved for pending payments and their fees, in millisatoshis.'),
      problem,
      identityPubkey: Type.String({ description: 'The id of its Lightning node, in hexadecimal.' }),
      network: Type.String({ description: '`regtest` for play money.' }),
      backend: Type.String({ description: 'How it pays and is paid; `embedded`: within this host.' }),
    }),
  ),
});

export const faucetSatsMax = 100_000_000;

export const useFaucet = endpoint({
  id: 'useFaucet',
  method: 'POST',
  path: '/api/agents/me/wallet/faucet',
  summary: 'Add play money to your wallet.',
  description:
    'For trying payments out, by the owner of the host: play money buys credit for model calls. The owner can pay it on to other wallets. Only on a host that listens on this machine alone and has no Lightning back end.',
  tag: 'Wallet',
  access: { login: 'owner', loginOnly: true },
  body: StrictObject({
    amountSats: Type.Integer({
      minimum: 1,
      maximum: faucetSatsMax,
      description: 'Satoshis to add; a wallet holds at most a hundred million of play money.',
    }),
  }),
  result: dataOf(Type.Object({ wallet: Wallet })),
  errors: ['conflict'],
});

export type Wallet = Static<typeof Wallet>;
