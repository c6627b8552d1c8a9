import type {
  AlertRecord,
  Attempted,
  DeliveryRecord,
  FiringRecord,
  Transition,
} from '../../../features/alerts/store.ts';
import type { NewEvent } from '../../../features/events/index.ts';
import { and, count, desc, eq, gte, inArray, isNotNull, isNull, type Orm } from '../engine/orm.ts';
import { eventInsert } from '../events/writes.ts';
import type { BatchTotals } from '../metering/batch-totals.ts';
import { alertDeliveries, alertFirings, alerts } from './tables.ts';

/** Of each workspace, the newest firings are stored, and the newest messages of each alert. */
const firingsKept = 1_000;
const deliveriesKept = 100;
/** Deleted at most with each insertion. */
const prunedMax = 100;

type AlertName = Pick<AlertRecord, 'workspaceId' | 'id'>;

const isAlert = ({ workspaceId, id }: AlertName) =>
  and(eq(alerts.workspaceId, workspaceId), eq(alerts.id, id));

export function alertsWrites(orm: Orm, totals: BatchTotals, daemon: number) {
  const insertEvents = eventInsert(orm, totals);
  const record = (event: NewEvent) => totals.addEvent(insertEvents(event));
  return {
    ...stateWrites(orm, record),
    ...deliveryWrites(orm, daemon),
  };
}

function stateWrites(orm: Orm, record: (event: NewEvent) => void) {
  const resolve = (firingId: string | null, at: number, value: number | null) =>
    orm
      .update(alertFirings)
      .set({ resolvedAt: at, resolvedValue: value })
      .where(and(eq(alertFirings.id, firingId ?? ''), isNull(alertFirings.resolvedAt)))
      .run();
  return {
    'alerts.put': ({
      alert,
      max,
    }: {
      alert: Omit<AlertRecord, 'state' | 'since' | 'firingId'>;
      max: number;
    }): AlertRecord | 'full' => {
      const before = orm.select().from(alerts).where(isAlert(alert)).get();
      if (!before && countOf(orm, alert.workspaceId) >= max) return 'full';
      const row: AlertRecord = {
        ...alert,
        createdAt: before?.createdAt ?? alert.createdAt,
        state: before?.state ?? 'ok',
        since: before?.since ?? alert.updatedAt,
        firingId: before?.firingId ?? null,
      };
      orm
        .insert(alerts)
        .values(row)
        .onConflictDoUpdate({ target: [alerts.workspaceId, alerts.id], set: row })
        .run();
      return row;
    },
    'alerts.remove': ({ alert, resolved }: { alert: AlertName; resolved: NewEvent }): boolean => {
      const [removed] = orm.delete(alerts).where(isAlert(alert)).returning().all();
      if (!removed) return false;
      orm
        .delete(alertDeliveries)
        .where(
          and(
            eq(alertDeliveries.workspaceId, alert.workspaceId),
            eq(alertDeliveries.alertId, alert.id),
            isNotNull(alertDeliveries.nextAt),
          ),
        )
        .run();
      resolve(removed.firingId, resolved.at, null);
      if (removed.state === 'firing') record(resolved);
      return true;
    },
    'alerts.transition': ({ seen, at, change, event, delivery }: Transition): boolean => {
      const isUnchanged = and(
        isAlert(seen),
        eq(alerts.state, seen.state),
        eq(alerts.updatedAt, seen.updatedAt),
      );
      const before = orm.select().from(alerts).where(isUnchanged).get();
      if (!before) return false;
      const firing = 'firing' in change ? change.firing : undefined;
      orm
        .update(alerts)
        .set({ state: firing ? 'firing' : 'ok', since: at, firingId: firing?.id ?? null })
        .where(isAlert(seen))
        .run();
      if ('firing' in change) addFiring(orm, change.firing);
      else resolve(before.firingId, at, change.resolvedValue);
      if (delivery) addDelivery(orm, delivery);
      record(event);
      return true;
    },
  };
}

function deliveryWrites(orm: Orm, daemon: number) {
  const isAttempt = (id: string, attempts: number) =>
    and(
      eq(alertDeliveries.id, id),
      eq(alertDeliveries.attempts, attempts),
      isNotNull(alertDeliveries.nextAt),
    );
  return {
    'alerts.addDelivery': (delivery: DeliveryRecord): void => addDelivery(orm, delivery),
    'alerts.claimDelivery': ({
      seen: { id, attempts },
      nextAt,
    }: {
      seen: Pick<DeliveryRecord, 'id' | 'attempts'>;
      nextAt: number;
    }): boolean =>
      orm
        .update(alertDeliveries)
        .set({ attempts: attempts + 1, nextAt, daemon })
        .where(isAttempt(id, attempts))
        .run().changes > 0,
    'alerts.attempted': ({ id, attempt, ...outcome }: Attempted): boolean =>
      orm
        .update(alertDeliveries)
        .set({ ...outcome, daemon: null })
        .where(isAttempt(id, attempt))
        .run().changes > 0,
    'alerts.adoptDeliveries': ({ daemon, at }: { daemon: number; at: number }): void => {
      orm
        .update(alertDeliveries)
        .set({ nextAt: at, daemon: null })
        .where(and(gte(alertDeliveries.nextAt, 0), eq(alertDeliveries.daemon, daemon)))
        .run();
    },
  };
}

function countOf(orm: Orm, workspaceId: string): number {
  const found = orm.select({ count: count() }).from(alerts).where(eq(alerts.workspaceId, workspaceId)).get();
  return found?.count ?? 0;
}

function addFiring(orm: Orm, firing: FiringRecord): void {
  orm.insert(alertFirings).values(firing).run();
  const old = orm
    .select({ id: alertFirings.id })
    .from(alertFirings)
    .where(and(eq(alertFirings.workspaceId, firing.workspaceId), isNotNull(alertFirings.resolvedAt)))
    .orderBy(desc(alertFirings.firedAt), desc(alertFirings.id))
    .limit(prunedMax)
    .offset(firingsKept);
  orm.delete(alertFirings).where(inArray(alertFirings.id, old)).run();
}

function addDelivery(orm: Orm, delivery: DeliveryRecord): void {
  orm
    .insert(alertDeliveries)
    .values({ ...delivery, daemon: null })
    .run();
  const old = orm
    .select({ id: alertDeliveries.id })
    .from(alertDeliveries)
    .where(
      and(
        eq(alertDeliveries.workspaceId, delivery.workspaceId),
        eq(alertDeliveries.alertId, delivery.alertId),
      ),
    )
    .orderBy(desc(alertDeliveries.createdAt), desc(alertDeliveries.id))
    .limit(prunedMax)
    .offset(deliveriesKept);
  orm.delete(alertDeliveries).where(inArray(alertDeliveries.id, old)).run();
}

export type AlertsWrites = ReturnType<typeof alertsWrites>;
