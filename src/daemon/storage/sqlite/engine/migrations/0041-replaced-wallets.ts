import type { Migration } from '../migrate.ts';

/** Finds the wallet that a phrase had before another one took its place. */
export const replacedWallets: Migration = {
  version: 41,
  rows: {},
  statements: ['CREATE INDEX wallets_replaced ON wallets (node_id, owner_id) WHERE replaced_at IS NOT NULL'],
};
