import type { Migration } from '../migrate.ts';

/** A workspace can have several keys for a provider; the first one has no name. */
export const namedProviderKeys: Migration = {
  version: 63,
  statements: [
    `ALTER TABLE provider_keys ADD COLUMN name text COLLATE "C" NOT NULL DEFAULT ''`,
    'ALTER TABLE provider_keys ALTER COLUMN name DROP DEFAULT',
    'ALTER TABLE provider_keys DROP CONSTRAINT provider_keys_pkey',
    'ALTER TABLE provider_keys ADD PRIMARY KEY (workspace_id, provider, name)',
  ],
};
