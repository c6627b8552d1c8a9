import type {
  AutopilotPolicy,
  AutopilotProfile,
  AutopilotSchedule,
  AutopilotStatus,
  AutopilotVisibility,
} from '../../../../shared/contract/autopilots.ts';
import type { OccurrenceRecord, ScheduledBy } from '../../../features/autopilots/store.ts';
import { columnsOf, integer, sql, sqliteTable, text } from '../engine/orm.ts';

export const autopilots = sqliteTable('autopilots', {
  id: text().primaryKey(),
  owner: integer().notNull(),
  handle: text().notNull(),
  displayName: text().notNull(),
  avatar: text().notNull(),
  tagline: text().notNull(),
  status: text().$type<AutopilotStatus>().notNull(),
  visibility: text().$type<AutopilotVisibility>().notNull(),
  configVersion: integer().notNull(),
  createdAt: integer().notNull(),
  updatedAt: integer().notNull(),
  profile: text({ mode: 'json' }).$type<AutopilotProfile>().notNull(),
  policy: text({ mode: 'json' }).$type<AutopilotPolicy>().notNull(),
  schedule: text({ mode: 'json' }).$type<AutopilotSchedule>(),
  scheduledBy: text({ mode: 'json' }).$type<ScheduledBy>(),
  nextRunAt: integer(),
});

/** Columns of an `OccurrenceRecord`, and the daemon that claimed or missed it. */
export const occurrences = sqliteTable('autopilot_occurrences', {
  id: text().primaryKey(),
  autopilotId: text().notNull(),
  workspaceId: text().notNull(),
  status: text().$type<OccurrenceRecord['status']>().notNull(),
  dueAt: integer().notNull(),
  lastDueAt: integer().notNull(),
  count: integer().notNull(),
  reason: text({ mode: 'json' }).$type<NonNullable<OccurrenceRecord['reason']>>(),
  createdAt: integer().notNull(),
  daemon: integer().notNull(),
});

const { daemon: _daemon, ...columns } = columnsOf(occurrences);
export const occurrenceColumns = columns;

/** With a literal, as SQLite does not use a partial index for a bound value. */
export const isClaimedBy = (daemon: number) =>
  sql`${occurrences.status} = 'claimed' and ${occurrences.daemon} = ${daemon}`;
