import { describe } from 'vitest';
import { missingPostgres } from '../support/postgres.ts';
import { onPostgres } from './open-postgres.ts';
import { storeContracts } from './store-contracts.ts';

const missing = missingPostgres();

describe.skipIf(missing !== undefined)(
  `PostgreSQL${missing ? ` (skipped: ${missing})` : ''}`,
  { timeout: 900_000 },
  () => {
    onPostgres(storeContracts({ part: 1, of: 3 }));
  },
);
