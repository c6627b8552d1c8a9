import type { Migration } from '../migrate.ts';

/** What writes of a daemon have changed of what others keep in memory, as JSON. */
export const changes: Migration = {
  version: 59,
  statements: [
    `CREATE TABLE changes (
      number bigint PRIMARY KEY,
      daemon bigint NOT NULL,
      changes text COLLATE "C" NOT NULL,
      at bigint NOT NULL
    )`,
  ],
};
