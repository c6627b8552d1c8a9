import type { Migration } from '../migrate.ts';

const names =
  'requests, unpriced, input, cached_input, cache_write, output, reasoning, cost_provider, cost_margin, charged';
const callSums = `count(*), count(*) - count(cost_provider), sum(input), sum(cached_input), sum(cache_write), sum(output),
  sum(reasoning), coalesce(sum(cost_provider), 0), coalesce(sum(cost_margin), 0), sum(charged)`;

const meta = (name: string, otherwise: number) =>
  `coalesce((SELECT value FROM meta WHERE name = '${name}'), ${otherwise})`;
const untagged = `tags IS NULL AND number <= ${meta('folded_to', Number.MIN_SAFE_INTEGER)}`;

/** The totals of calls without a tag (kind 7, value -1) in days, and in those quarters of an hour that are kept. */
const days = `SELECT workspace, 7, completed_at / 86400000, -1, ${callSums} FROM calls
  WHERE ${untagged} AND completed_at >= ${meta('totals_from', 0)} GROUP BY workspace, completed_at / 86400000`;
const slots = `SELECT workspace, 7, completed_at / 900000, -1, ${callSums} FROM calls
  WHERE ${untagged} AND completed_at >= ${meta('slots_from', 0)}
    AND completed_at >= ((SELECT coalesce(max(day), 0) FROM usage_days) - 35) * 86400000
  GROUP BY workspace, completed_at / 900000`;

/** Usage by tag has a row of the calls without one. */
export const untaggedCalls: Migration = {
  version: 67,
  rows: (count) => ({ usage_label_days: count(`(${days})`), usage_label_slots: count(`(${slots})`) }),
  statements: [
    `INSERT INTO usage_label_days (workspace, kind, day, value, ${names}) ${days}`,
    `INSERT INTO usage_label_slots (workspace, kind, slot, value, ${names}) ${slots}`,
  ],
};
