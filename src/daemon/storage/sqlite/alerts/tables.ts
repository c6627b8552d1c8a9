import type { AlertKind } from '../../../../shared/constants/alert-kinds.ts';
import type {
  AlertCondition,
  AlertHook,
  AlertState,
  DeliveryRecord,
} from '../../../features/alerts/store.ts';
import { integer, primaryKey, sqliteTable, text } from '../engine/orm.ts';

/** Columns of an `AlertRecord`. */
export const alerts = sqliteTable(
  'alerts',
  {
    workspaceId: text().notNull(),
    id: text().notNull(),
    kind: text().$type<AlertKind>().notNull(),
    windowMinutes: integer().notNull(),
    threshold: integer(),
    minCalls: integer().notNull(),
    keyId: text(),
    model: text(),
    provider: text(),
    hook: text({ mode: 'json' }).$type<AlertHook>(),
    state: text().$type<AlertState>().notNull(),
    since: integer().notNull(),
    firingId: text(),
    createdAt: integer().notNull(),
    updatedAt: integer().notNull(),
  },
  ({ workspaceId, id }) => [primaryKey({ columns: [workspaceId, id] })],
);

/** Columns of a `FiringRecord`. */
export const alertFirings = sqliteTable('alert_firings', {
  id: text().primaryKey(),
  workspaceId: text().notNull(),
  alertId: text().notNull(),
  condition: text({ mode: 'json' }).$type<AlertCondition>().notNull(),
  value: integer().notNull(),
  message: text().notNull(),
  firedAt: integer().notNull(),
  resolvedAt: integer(),
  resolvedValue: integer(),
});

/** Columns of a `DeliveryRecord`, and the daemon that began the last attempt. */
export const alertDeliveries = sqliteTable('alert_deliveries', {
  id: text().primaryKey(),
  workspaceId: text().notNull(),
  alertId: text().notNull(),
  type: text().notNull(),
  body: text().notNull(),
  state: text().$type<DeliveryRecord['state']>().notNull(),
  attempts: integer().notNull(),
  nextAt: integer(),
  daemon: integer(),
  httpStatus: integer(),
  failure: text(),
  createdAt: integer().notNull(),
});
