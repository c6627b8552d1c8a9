import type {
  AutopilotPolicy,
  AutopilotProfile,
  AutopilotStatus,
  AutopilotVisibility,
} from '../../../../shared/contract/autopilots.ts';
import { integer, sqliteTable, text } from '../engine/orm.ts';

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
});
