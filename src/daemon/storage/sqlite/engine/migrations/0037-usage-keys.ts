import type { Migration } from '../migrate.ts';

const sums = `requests INTEGER NOT NULL CHECK (requests >= 0),
  unpriced INTEGER NOT NULL CHECK (unpriced >= 0),
  input INTEGER NOT NULL CHECK (input >= 0),
  cached_input INTEGER NOT NULL CHECK (cached_input >= 0),
  cache_write INTEGER NOT NULL CHECK (cache_write >= 0),
  output INTEGER NOT NULL CHECK (output >= 0),
  reasoning INTEGER NOT NULL CHECK (reasoning >= 0),
  cost_provider INTEGER NOT NULL CHECK (cost_provider >= 0),
  cost_margin INTEGER NOT NULL,
  charged INTEGER NOT NULL CHECK (charged >= 0)`;

// Totals of the calls of each key in spans of 1 and 32 days, by model and, as model 0, of all models. Spans start at
// multiples of their length, in days since 1970.
const table = `CREATE TABLE usage_keys (
  workspace INTEGER NOT NULL,
  model INTEGER NOT NULL,
  days INTEGER NOT NULL CHECK (days IN (1, 32)),
  start INTEGER NOT NULL CHECK (start % days = 0),
  key INTEGER NOT NULL,
  ${sums},
  PRIMARY KEY (workspace, model, days, start, key)
) STRICT, WITHOUT ROWID`;

const fill = `INSERT INTO usage_keys
  SELECT workspace, model * by_model AS model, days, day / days * days AS start, key, sum(requests), sum(unpriced),
    sum(input), sum(cached_input), sum(cache_write), sum(output), sum(reasoning), sum(cost_provider), sum(cost_margin),
    sum(charged)
  FROM usage_key_days
    CROSS JOIN (SELECT 1 AS days UNION ALL SELECT 32)
    CROSS JOIN (SELECT 0 AS by_model UNION ALL SELECT 1)
  GROUP BY 1, 2, 3, 4, 5`;

/** Adds totals by key, so that a summary by key reads few rows of each key. */
export const usageKeys: Migration = {
  version: 37,
  prepare(database) {
    // Left by a start that was killed here.
    database.exec('DROP TABLE IF EXISTS usage_keys');
    database.exec(table);
    database.exec(fill);
  },
  rows: {},
  statements: [],
};
