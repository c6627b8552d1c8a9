import { describe } from 'vitest';
import { agentsStoreContract } from './agents-store.contract.ts';
import { autopilotsStoreContract } from './autopilots-store.contract.ts';
import { keysStoreContract } from './keys-store.contract.ts';
import { peersStoreContract } from './peers-store.contract.ts';
import { peopleStoreContract } from './people-store.contract.ts';
import { profileStoreContract } from './profile-store.contract.ts';
import { withBoundedReads } from './query-plans.ts';
import { shoutsStoreContract } from './shouts-store.contract.ts';
import { tokensStoreContract } from './tokens-store.contract.ts';
import { vaultStoreContract } from './vault-store.contract.ts';
import { whispersStoreContract } from './whispers-store.contract.ts';
import { workspacesStoreContract } from './workspaces-store.contract.ts';

describe('SQLite', () => {
  withBoundedReads([
    keysStoreContract,
    workspacesStoreContract,
    peopleStoreContract,
    tokensStoreContract,
    profileStoreContract,
    agentsStoreContract,
    vaultStoreContract,
    autopilotsStoreContract,
    whispersStoreContract,
    shoutsStoreContract,
    peersStoreContract,
  ]);
});
