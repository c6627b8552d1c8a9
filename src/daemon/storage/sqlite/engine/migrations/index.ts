import type { Migration } from '../migrate.ts';
import { first } from './0014-first.ts';

/** All migrations, oldest first. Never edit a released one: add a new file instead. */
export const migrations: readonly Migration[] = [first];
