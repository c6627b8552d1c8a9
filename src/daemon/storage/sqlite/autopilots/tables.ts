import type {
  AutopilotPolicy,
  AutopilotProfile,
  AutopilotStatus,
  AutopilotVisibility,
} from '../../../../shared/contract/autopilots.ts';
import { integer, sqliteTable, text } from '../engine/orm.ts';

export const autopilots = sqliteTable('autopilots', {
  id: text('id').primaryKey(),
  owner: integer('owner').notNull(),
  handle: text('handle').notNull(),
  displayName: text('display_name').notNull(),
  avatar: text('avatar').notNull(),
  tagline: text('tagline').notNull(),
  status: text('status').$type<AutopilotStatus>().notNull(),
  visibility: text('visibility').$type<AutopilotVisibility>().notNull(),
  configVersion: integer('config_version').notNull(),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
  profile: text('profile', { mode: 'json' }).$type<AutopilotProfile>().notNull(),
  policy: text('policy', { mode: 'json' }).$type<AutopilotPolicy>().notNull(),
});
