import { faucetSatsMax } from '../../../shared/contract/wallet.ts';
import { ApiError } from '../../../shared/errors.ts';
import { inputFault } from '../../../shared/faults/input-faults.ts';
import type { MakeId } from '../../../shared/ids.ts';
import { actingUser, type Caller } from '../../base/handler.ts';
import type { World } from '../../base/world.ts';
import { type LightningBackend, loadMnemonic, type NodeKey } from '../lightning/index.ts';
import type { Vault } from '../vault/index.ts';
import { formatMsat } from './amounts.ts';
import { toApiError } from './backend-error.ts';
import { unreconciled, unreconciledText } from './payment-refusals.ts';
import type { WalletBalance, WalletBook, WalletRecord, WalletStore } from './store.ts';

export interface WalletsDeps {
  store: WalletStore;
  vault: Pick<Vault, 'seal' | 'open'>;
  backend: () => Pick<LightningBackend, 'name' | 'network' | 'isConnected' | 'check'>;
  /** The workspace in which a user's events appear. */
  homeOf: (userId: string) => Promise<{ id: string } | undefined>;
  /** Whether only this machine reaches the host. */
  isLocalHost: boolean;
  makeId: MakeId;
  world: Pick<World, 'now' | 'randomBytes'>;
}

export type WalletAction = 'created' | 'imported' | 'ensured';

export interface MadeWallet {
  wallet: WalletRecord;
  action: WalletAction;
  /** Only of a new wallet. */
  mnemonic?: string;
}

/** Concurrent requests, or a rotation of the vault, make one of them retry. */
const attemptsMax = 5;

/** Wallets: each user or agent has one, whose recovery phrase is sealed in the vault. */
export function createWallets(deps: WalletsDeps) {
  const { store, vault, world } = deps;
  const find = (caller: Caller) => store.ofOwner(ownerOf(caller).id, bookOf(deps.backend()));

  return {
    /** The caller's wallet at the configured back end. */
    of: (caller: Caller): Promise<WalletRecord | undefined> => find(caller),

    balanceOf: (wallet: WalletRecord): Promise<WalletBalance> => store.balance(wallet.id),

    /** Why a wallet pays nothing now, as a sentence; null if it can. */
    async problemOf(wallet: WalletRecord): Promise<string | null> {
      const reconciliation = await store.reconciliation(wallet);
      return reconciliation && reconciliation.endedAt === null ? unreconciledText : null;
    },

    /** The wallet of a user. */
    ofUser: (userId: string): Promise<WalletRecord | undefined> =>
      store.ofOwner(userId, bookOf(deps.backend())),

    /** The caller's wallet; fails with `invalid_request` if there is none. */
    async required(caller: Caller): Promise<WalletRecord> {
      const wallet = await find(caller);
      if (wallet) return wallet;
      throw new ApiError('invalid_request', {
        param: 'wallet',
        message: 'You have no wallet yet.',
      });
    },

    /** Returns the caller's wallet, after creating it if there is none. Fails with `unavailable` if the vault is sealed. */
    async create(caller: Caller): Promise<MadeWallet> {
      const existing = await find(caller);
      if (existing) return { wallet: existing, action: 'ensured' };
      const { createMnemonic } = await loadMnemonic();
      const mnemonic = createMnemonic((count) => world.randomBytes(count));
      const made = await make(deps, ownerOf(caller), mnemonic);
      return made.isNew
        ? { wallet: made.wallet, action: 'created', mnemonic }
        : { wallet: made.wallet, action: 'ensured' };
    },

    /**
     * Imports the wallet of a recovery phrase. Fails with `invalid_request` for an invalid phrase, with `conflict` if the
     * caller's wallet is not empty, and with `unavailable` if the vault is sealed.
     */
    async import(caller: Caller, phrase: string): Promise<MadeWallet> {
      const { mnemonicFault, normalizeMnemonic } = await loadMnemonic();
      const mnemonic = normalizeMnemonic(phrase);
      const fault = mnemonicFault(mnemonic);
      if (fault !== undefined) throw new ApiError('invalid_request', { param: 'mnemonic', message: fault });
      const { wallet } = await make(deps, ownerOf(caller), mnemonic, { isImport: true });
      return { wallet, action: 'imported' };
    },

    /** The recovery phrase of a wallet. Fails with `unavailable` while the vault is sealed. */
    async phraseOf(wallet: WalletRecord): Promise<string> {
      const phrase = await vault.open(secretName(wallet.id));
      try {
        return phrase.toString();
      } finally {
        phrase.fill(0);
      }
    },

    /** Adds play money. Fails with `conflict` where money could be real or others could take it. */
    async fill(caller: Caller, amountSats: number): Promise<WalletRecord> {
      if (deps.backend().isConnected || !deps.isLocalHost) {
        throw new ApiError('conflict', {
          message:
            'Play money is only available on a host that listens on this machine alone, without a Lightning node.',
        });
      }
      const wallet = await this.required(caller);
      const amount = amountSats * 1000;
      const id = deps.makeId('dep');
      const max = faucetSatsMax * 1000;
      if (await store.deposit({ id, walletId: wallet.id, amount, max, at: world.now() })) return wallet;
      throw inputFault('amountSats', 'would make the balance exceed a hundred million satoshis');
    },

    /**
     * Adds money that the node can send and no wallet holds. Fails with `conflict` if there is less, and with
     * `unavailable` if the node cannot be asked.
     */
    async fund(caller: Caller, amountSats: number, signal: AbortSignal): Promise<WalletRecord> {
      const backend = deps.backend();
      if (!backend.isConnected) {
        throw new ApiError('conflict', {
          message: 'No Lightning back end is connected. For play money: gateway wallet faucet',
        });
      }
      const wallet = await this.required(caller);
      const { balanceMsat: held } = await backend.check(signal).catch((error: unknown) => {
        throw toApiError(error);
      });
      if (held === null)
        throw new ApiError('conflict', { message: 'The back end does not report what it can send.' });
      const deposit = { id: deps.makeId('dep'), walletId: wallet.id, amount: amountSats * 1000, held };
      const outcome = await store.fund({ ...deposit, at: world.now() });
      if (outcome === 'funded') return wallet;
      if (outcome === 'unreconciled') throw unreconciled();
      throw new ApiError('conflict', {
        param: 'amount_sats',
        message: `The node has only ${formatMsat(outcome.unassigned)} that no wallet holds.`,
      });
    },

    /** The key that signs a wallet's invoices; the caller zeroes it when done. */
    async nodeKeyOf(walletId: string): Promise<NodeKey> {
      const phrase = await vault.open(secretName(walletId));
      try {
        const { nodeKeyOf } = await loadMnemonic();
        return await nodeKeyOf(phrase.toString());
      } finally {
        phrase.fill(0);
      }
    },
  };
}

interface Owner {
  id: string;
  /** Undefined for a user, whose wallet belongs to their own workspace. */
  workspaceId?: string;
}

function ownerOf(caller: Caller): Owner {
  if (caller.kind === 'agent') return { id: caller.agentId, workspaceId: caller.workspaceId };
  return { id: actingUser(caller).userId };
}

export type Wallets = ReturnType<typeof createWallets>;

function bookOf({ name, network }: Pick<LightningBackend, 'name' | 'network'>): WalletBook {
  return { backend: name, network };
}

const secretName = (walletId: string) => `wallet|${walletId}`;

/** Seals and stores a wallet. Returns the current one instead if another request created it meanwhile. */
async function make(
  { store, vault, backend, homeOf, makeId, world }: WalletsDeps,
  owner: Owner,
  mnemonic: string,
  { isImport = false } = {},
): Promise<{ wallet: WalletRecord; isNew: boolean }> {
  const { nodeKeyOf } = await loadMnemonic();
  const { publicKey: nodeId, privateKey } = await nodeKeyOf(mnemonic);
  privateKey.fill(0);
  const ownerId = owner.id;
  const workspaceId = owner.workspaceId ?? (await homeOf(ownerId))?.id;
  if (workspaceId === undefined) throw new ApiError('unauthenticated');
  const walletBook = bookOf(backend());
  for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
    const current = await store.ofOwner(ownerId, walletBook);
    if (current && (!isImport || current.nodeId === nodeId)) return { wallet: current, isNew: false };
    const wallet = {
      id: makeId('wal'),
      ownerId,
      workspaceId,
      nodeId,
      ...walletBook,
      createdAt: world.now(),
    };
    const secret = Buffer.from(mnemonic);
    const sealed = await vault
      .seal({ name: secretName(wallet.id), version: 1, secret })
      .finally(() => secret.fill(0));
    const outcome = await store.create(wallet, sealed, current?.id);
    if (typeof outcome === 'object') return { wallet: outcome, isNew: true };
    if (outcome === 'in-use') {
      throw new ApiError('conflict', {
        message:
          'You have another wallet, which holds money or awaits a payment. Spend it first, or wait until its invoices expire.',
      });
    }
    if (outcome === 'other-owner') {
      throw new ApiError('conflict', {
        message: 'The wallet of this phrase belongs to another user of this host.',
      });
    }
  }
  throw new ApiError('unavailable', {
    message: 'The wallet is being changed by another request; try again.',
  });
}
