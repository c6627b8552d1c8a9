import type { Migration } from '../migrate.ts';
import { first } from './0055-first.ts';
import { daemonTerms } from './0056-daemon-terms.ts';
import { severalDaemons } from './0057-several-daemons.ts';
import { freeHolds } from './0058-free-holds.ts';
import { changes } from './0059-changes.ts';
import { makers } from './0060-makers.ts';

/**
 * All migrations, oldest first. Never edit a released one: add a new file instead, with the version of the SQLite migration
 * that makes the same change.
 */
export const migrations: readonly Migration[] = [
  first,
  daemonTerms,
  severalDaemons,
  freeHolds,
  changes,
  makers,
];
