import type { Migration } from '../migrate.ts';
import { first } from './0001-first.ts';
import { people } from './0003-people.ts';

/** Every version of the schema, oldest first. A released one is never edited: the next change is a new file. */
export const migrations: readonly Migration[] = [first, people];
