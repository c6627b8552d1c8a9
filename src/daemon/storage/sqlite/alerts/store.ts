import type { AlertsStore, DeliveryRecord } from '../../../features/alerts/store.ts';
import {
  and,
  asc,
  columnsOf,
  desc,
  eq,
  gte,
  isNotNull,
  isNull,
  lt,
  lte,
  or,
  type SQL,
} from '../engine/orm.ts';
import type { StoreContext } from '../engine/store-context.ts';
import { alertDeliveries, alertFirings, alerts } from './tables.ts';
import type { AlertsWrites } from './writes.ts';

const { daemon: _daemon, ...deliveryColumns } = columnsOf(alertDeliveries);

type Context = StoreContext<AlertsWrites>;

export function alertsStore({ orm, writer }: Context): AlertsStore {
  return {
    all: async () => orm.select().from(alerts).orderBy(asc(alerts.workspaceId), asc(alerts.id)).all(),
    list: async (workspaceId) =>
      orm.select().from(alerts).where(eq(alerts.workspaceId, workspaceId)).orderBy(asc(alerts.id)).all(),
    byId: async (workspaceId, id) =>
      orm
        .select()
        .from(alerts)
        .where(and(eq(alerts.workspaceId, workspaceId), eq(alerts.id, id)))
        .get(),
    put: (alert, { max }) => writer.write('alerts.put', { alert, max }),
    remove: (alert, resolved) => writer.write('alerts.remove', { alert, resolved }),
    transition: (transition) => writer.write('alerts.transition', transition),
    ...firingReads(orm),
    addDelivery: (delivery) => writer.write('alerts.addDelivery', delivery),
    claimDelivery: (seen, nextAt) => writer.write('alerts.claimDelivery', { seen, nextAt }),
    attempted: (attempt) => writer.write('alerts.attempted', attempt),
    adoptDeliveries: (daemon, at) => writer.write('alerts.adoptDeliveries', { daemon, at }),
    ...deliveryReads(orm),
  };
}

function firingReads(orm: Context['orm']): Pick<AlertsStore, 'firings' | 'current'> {
  const beforeOf = (workspaceId: string, after: string): SQL | undefined => {
    const last = orm
      .select()
      .from(alertFirings)
      .where(and(eq(alertFirings.id, after), eq(alertFirings.workspaceId, workspaceId)))
      .get();
    return (
      last &&
      or(
        lt(alertFirings.firedAt, last.firedAt),
        and(eq(alertFirings.firedAt, last.firedAt), lt(alertFirings.id, last.id)),
      )
    );
  };
  return {
    firings: async ({ workspaceId, alertId, isOpen, after, limit }) => {
      const before = after === undefined ? undefined : beforeOf(workspaceId, after);
      if (after !== undefined && !before) return [];
      const isOfState = isOpen ? isNull(alertFirings.resolvedAt) : isNotNull(alertFirings.resolvedAt);
      return orm
        .select()
        .from(alertFirings)
        .where(
          and(
            eq(alertFirings.workspaceId, workspaceId),
            alertId === undefined ? undefined : eq(alertFirings.alertId, alertId),
            isOpen === undefined ? undefined : isOfState,
            before,
          ),
        )
        .orderBy(desc(alertFirings.firedAt), desc(alertFirings.id))
        .limit(limit)
        .all();
    },
    current: async (workspaceId) =>
      orm
        .select({ firing: alertFirings })
        .from(alerts)
        .innerJoin(alertFirings, eq(alertFirings.id, alerts.firingId))
        .where(eq(alerts.workspaceId, workspaceId))
        .all()
        .map(({ firing }) => firing),
  };
}

function deliveryReads(
  orm: Context['orm'],
): Pick<AlertsStore, 'delivery' | 'lastDeliveries' | 'dueDeliveries' | 'hasPending'> {
  const lastOf = (workspaceId: string, alertId: string): DeliveryRecord | undefined =>
    orm
      .select(deliveryColumns)
      .from(alertDeliveries)
      .where(and(eq(alertDeliveries.workspaceId, workspaceId), eq(alertDeliveries.alertId, alertId)))
      .orderBy(desc(alertDeliveries.createdAt), desc(alertDeliveries.id))
      .limit(1)
      .get();
  return {
    delivery: async (id) =>
      orm.select(deliveryColumns).from(alertDeliveries).where(eq(alertDeliveries.id, id)).get(),
    lastDeliveries: async (workspaceId) =>
      orm
        .select({ id: alerts.id })
        .from(alerts)
        .where(and(eq(alerts.workspaceId, workspaceId), isNotNull(alerts.hook)))
        .all()
        .flatMap(({ id }) => lastOf(workspaceId, id) ?? []),
    dueDeliveries: async (at, limit) =>
      orm
        .select(deliveryColumns)
        .from(alertDeliveries)
        .where(lte(alertDeliveries.nextAt, at))
        .orderBy(asc(alertDeliveries.nextAt))
        .limit(limit)
        .all(),
    hasPending: async () =>
      orm
        .select({ id: alertDeliveries.id })
        .from(alertDeliveries)
        .where(gte(alertDeliveries.nextAt, 0))
        .limit(1)
        .get() !== undefined,
  };
}
