import { afterEach, describe } from 'vitest';
import { openTemporarily } from '../daemon/storage/sqlite/temporary.ts';
import { backupStoreContract } from './backup-store.contract.ts';
import { challengesStoreContract } from './challenges-store.contract.ts';
import { ledgerStoreContract } from './ledger-store.contract.ts';
import { paywallsStoreContract } from './paywalls-store.contract.ts';
import { walletStoreContract } from './wallet-store.contract.ts';

describe('SQLite', () => {
  const { open, cleanUp } = openTemporarily();
  afterEach(cleanUp);

  ledgerStoreContract(open);
  walletStoreContract(open);
  paywallsStoreContract(open);
  challengesStoreContract(open);
  backupStoreContract(open);
});
