import type { Migration } from '../migrate.ts';

/** The origins of web pages that may use a paywall. */
export const paywallOrigins: Migration = {
  version: 46,
  rows: {},
  statements: ["ALTER TABLE paywalls ADD COLUMN allowed_origins TEXT NOT NULL DEFAULT '[]'"],
};
