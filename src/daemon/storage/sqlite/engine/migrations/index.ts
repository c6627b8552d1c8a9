import type { Migration } from '../migrate.ts';
import { first } from './0001-first.ts';
import { limitsAndCredit } from './0002-limits-and-credit.ts';
import { people } from './0003-people.ts';
import { vault } from './0004-vault.ts';
import { background } from './0005-background.ts';
import { threads } from './0006-threads.ts';
import { traces } from './0007-traces.ts';
import { cache } from './0008-cache.ts';
import { site } from './0010-site.ts';
import { keyDefaults } from './0013-key-defaults.ts';
import { ledgerChain } from './0014-ledger-chain.ts';

/** Every version of the schema, oldest first. A released one is never edited: the next change is a new file. */
export const migrations: readonly Migration[] = [
  first,
  limitsAndCredit,
  people,
  vault,
  background,
  threads,
  traces,
  cache,
  site,
  keyDefaults,
  ledgerChain,
];
