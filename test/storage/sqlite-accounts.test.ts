import { afterEach, describe } from 'vitest';
import { openTemporarily } from '../daemon/storage/sqlite/temporary.ts';
import { agentsStoreContract } from './agents-store.contract.ts';
import { autopilotsStoreContract } from './autopilots-store.contract.ts';
import { keysStoreContract } from './keys-store.contract.ts';
import { peersStoreContract } from './peers-store.contract.ts';
import { peopleStoreContract } from './people-store.contract.ts';
import { profileStoreContract } from './profile-store.contract.ts';
import { shoutsStoreContract } from './shouts-store.contract.ts';
import { tokensStoreContract } from './tokens-store.contract.ts';
import { vaultStoreContract } from './vault-store.contract.ts';
import { whispersStoreContract } from './whispers-store.contract.ts';
import { workspacesStoreContract } from './workspaces-store.contract.ts';

describe('SQLite', () => {
  const { open, cleanUp } = openTemporarily();
  afterEach(cleanUp);

  keysStoreContract(open);
  workspacesStoreContract(open);
  peopleStoreContract(open);
  tokensStoreContract(open);
  profileStoreContract(open);
  agentsStoreContract(open);
  vaultStoreContract(open);
  autopilotsStoreContract(open);
  whispersStoreContract(open);
  shoutsStoreContract(open);
  peersStoreContract(open);
});
