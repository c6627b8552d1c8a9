import type { Migration } from '../../../../../src/daemon/storage/sqlite/engine/migrate.ts';
import { migrations } from '../../../../../src/daemon/storage/sqlite/engine/migrations/index.ts';

const newest = migrations.at(-1)?.version ?? 0;

/** The released migrations and five more, each of which copies all keys. */
export const slowMigrations: readonly Migration[] = [
  ...migrations,
  ...[1, 2, 3, 4, 5].map((step) => ({
    version: newest + step,
    rows: { [`keys_${step}`]: 0 },
    statements: [
      `CREATE TABLE keys_${step} AS SELECT * FROM keys`,
      `UPDATE keys SET name = name || '${step}'`,
      `DELETE FROM keys_${step}`,
    ],
  })),
];
