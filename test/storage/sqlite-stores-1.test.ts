import { describe } from 'vitest';
import { withBoundedReads } from './query-plans.ts';
import { storeContracts } from './store-contracts.ts';

describe('SQLite', () => {
  withBoundedReads(storeContracts({ part: 1, of: 3 }));
});
