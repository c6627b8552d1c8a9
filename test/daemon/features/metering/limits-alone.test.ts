import { afterEach } from 'vitest';
import { sharedLimitsContract } from '../../../storage/shared-limits.contract.ts';
import { openTemporarily } from '../../storage/sqlite/temporary.ts';

const { open, cleanUp } = openTemporarily();
afterEach(cleanUp);

// What members of a database keep together, a process that is alone does as well.
sharedLimitsContract(() => open(), true);
