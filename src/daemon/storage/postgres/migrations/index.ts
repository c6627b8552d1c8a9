import type { Migration, ServerSchema } from '../migrate.ts';
import { daemonTerms } from './0056-daemon-terms.ts';
import { severalDaemons } from './0057-several-daemons.ts';
import { freeHolds } from './0058-free-holds.ts';
import { changes } from './0059-changes.ts';
import { makers } from './0060-makers.ts';
import { rejectionTotals } from './0061-rejection-totals.ts';
import { keyRotation } from './0062-key-rotation.ts';
import { namedProviderKeys } from './0063-named-provider-keys.ts';
import { callSlots } from './0064-call-slots.ts';
import { budgetCalendars } from './0065-budget-calendars.ts';
import { cachedFor } from './0066-cached-for.ts';
import { untaggedCalls } from './0067-untagged-calls.ts';
import { newestServerSchema } from './newest-schema.ts';

/**
 * All migrations, oldest first. Never edit a released one: add a new file instead, with the version of the SQLite migration
 * that makes the same change.
 */
export const migrations: readonly Migration[] = [
  daemonTerms,
  severalDaemons,
  freeHolds,
  changes,
  makers,
  rejectionTotals,
  keyRotation,
  namedProviderKeys,
  callSlots,
  budgetCalendars,
  cachedFor,
  untaggedCalls,
];

/** What a database on a server contains, and how an older one gets there. */
export const serverSchema: ServerSchema = { created: newestServerSchema, migrations };
