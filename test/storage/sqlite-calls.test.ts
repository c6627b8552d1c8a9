import { afterEach, describe } from 'vitest';
import { openTemporarily } from '../daemon/storage/sqlite/temporary.ts';
import { backgroundStoreContract } from './background-store.contract.ts';
import { cacheStoreContract } from './cache-store.contract.ts';
import { decisionsStoreContract } from './decisions-store.contract.ts';
import { eventsStoreContract } from './events-store.contract.ts';
import { idempotencyStoreContract } from './idempotency-store.contract.ts';
import { meteringStoreContract } from './metering-store.contract.ts';
import { responsesStoreContract } from './responses-store.contract.ts';
import { threadsStoreContract } from './threads-store.contract.ts';
import { tracesStoreContract } from './traces-store.contract.ts';

describe('SQLite', () => {
  const { open, cleanUp } = openTemporarily();
  afterEach(cleanUp);

  meteringStoreContract(open);
  responsesStoreContract(open);
  backgroundStoreContract(open);
  threadsStoreContract(open);
  idempotencyStoreContract(open);
  cacheStoreContract(open);
  eventsStoreContract(open);
  tracesStoreContract(open);
  decisionsStoreContract(open);
});
