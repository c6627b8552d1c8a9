import { describe } from 'vitest';
import { backupStoreContract } from './backup-store.contract.ts';
import { challengesStoreContract } from './challenges-store.contract.ts';
import { ledgerStoreContract } from './ledger-store.contract.ts';
import { paywallsStoreContract } from './paywalls-store.contract.ts';
import { withBoundedReads } from './query-plans.ts';
import { walletStoreContract } from './wallet-store.contract.ts';

describe('SQLite', () => {
  withBoundedReads([
    ledgerStoreContract,
    walletStoreContract,
    paywallsStoreContract,
    challengesStoreContract,
    backupStoreContract,
  ]);
});
