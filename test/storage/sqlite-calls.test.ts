import { describe } from 'vitest';
import { backgroundStoreContract } from './background-store.contract.ts';
import { cacheStoreContract } from './cache-store.contract.ts';
import { decisionsStoreContract } from './decisions-store.contract.ts';
import { eventsStoreContract } from './events-store.contract.ts';
import { idempotencyStoreContract } from './idempotency-store.contract.ts';
import { meteringStoreContract } from './metering-store.contract.ts';
import { withBoundedReads } from './query-plans.ts';
import { responsesStoreContract } from './responses-store.contract.ts';
import { threadsStoreContract } from './threads-store.contract.ts';
import { tracesStoreContract } from './traces-store.contract.ts';

describe('SQLite', () => {
  withBoundedReads([
    meteringStoreContract,
    responsesStoreContract,
    backgroundStoreContract,
    threadsStoreContract,
    idempotencyStoreContract,
    cacheStoreContract,
    eventsStoreContract,
    tracesStoreContract,
    decisionsStoreContract,
  ]);
});
