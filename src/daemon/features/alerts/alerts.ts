import {
  type AlertPreview,
  type AlertSettings,
  alertsMax,
  type AlertCondition as GivenCondition,
} from '../../../shared/contract/alerts.ts';
import { ApiError } from '../../../shared/errors.ts';
import { inputFault } from '../../../shared/faults/input-faults.ts';
import { notFound } from '../../../shared/faults/not-found.ts';
import type { MakeId } from '../../../shared/ids.ts';
import { isoTime } from '../../../shared/time/time.ts';
import type { KeyOrLogin, LoginCaller } from '../../base/handler.ts';
import { repeatedly, type World } from '../../base/world.ts';
import type { EventFeed, NewEvent } from '../events/index.ts';
import { managedWorkspace, type Workspaces } from '../workspaces/index.ts';
import type { KnownAlert } from './alert-view.ts';
import type { Deliveries } from './deliveries.ts';
import { alertEvent, evaluate, isTooNew, newFiring } from './evaluation.ts';
import type { Hooks } from './hooks.ts';
import { previewOf } from './preview.ts';
import { readCondition } from './read-settings.ts';
import { addedUp, type Sample } from './sample.ts';
import type { Sampler } from './samples.ts';
import type { AlertRecord, AlertsStore, DeliveryRecord, FiringRecord, FiringsFilter } from './store.ts';
import { windowAt } from './windows.ts';

const evaluateEveryMs = 15_000;

export interface AlertsDeps {
  store: AlertsStore;
  sampler: Sampler;
  hooks: Hooks;
  deliveries: Deliveries;
  workspaces: Pick<Workspaces, 'membership' | 'isDaemonOwner'>;
  /** Whether a workspace has a key with this id. */
  hasKey(workspaceId: string, keyId: string): Promise<boolean>;
  events: Pick<EventFeed, 'announce'>;
  makeId: MakeId;
  world: Pick<World, 'now' | 'sleep'>;
}

/** The alerts of workspaces: managed by owners and admins, evaluated several times a minute. */
export class Alerts {
  readonly #deps: AlertsDeps;
  /** The values of the last evaluations, by workspace and id. */
  #values = new Map<string, number | null>();

  constructor(deps: AlertsDeps) {
    this.#deps = deps;
  }

  /** Fails with `permission` unless the caller may manage the workspace's alerts, or if it does not exist. */
  permit(caller: LoginCaller, workspace: string): Promise<string> {
    return managedWorkspace(this.#deps.workspaces, { caller, workspace, action: 'manage its alerts' });
  }

  /** Fails with `not_found` if the caller is not a member of such a workspace. */
  async list(caller: KeyOrLogin, workspace: string): Promise<KnownAlert[]> {
    const workspaceId = await this.#workspaceOf(caller, workspace);
    return await this.#known(workspaceId, await this.#deps.store.list(workspaceId));
  }

  async get(caller: KeyOrLogin, workspace: string, id: string): Promise<KnownAlert> {
    const record = await this.#find(await this.#workspaceOf(caller, workspace), id);
    return await this.#knownOne(record);
  }

  /** Fails with `permission` or `invalid_request`. An alert whose threshold is already reached fires immediately. */
  async put(
    caller: LoginCaller,
    workspace: string,
    { id, settings }: { id: string; settings: AlertSettings },
  ): Promise<KnownAlert & { secret: string | null }> {
    const { store, hooks, workspaces, world } = this.#deps;
    const workspaceId = await this.permit(caller, workspace);
    const { webhook_url, webhook_format, new_secret, ...given } = settings;
    const condition = await this.#condition(workspaceId, given);
    const before = await store.byId(workspaceId, id);
    const mayBePrivate = await workspaces.isDaemonOwner(caller);
    const { hook, secret } = hooks.changed(
      { workspaceId, id },
      before?.hook ?? null,
      { webhook_url, webhook_format, new_secret },
      { mayBePrivate },
    );
    const now = world.now();
    const alert = { workspaceId, id, ...condition, hook, createdAt: now, updatedAt: now };
    const record = await store.put(alert, { max: alertsMax });
    if (record === 'full') {
      const message = `A workspace can have at most ${alertsMax} alerts. Delete one first.`;
      throw new ApiError('invalid_request', { param: 'id', message });
    }
    await this.#evaluate(record);
    return { ...(await this.#knownOne((await store.byId(workspaceId, id)) ?? record)), secret };
  }

  /** Fails with `permission` or `not_found`. */
  async remove(caller: LoginCaller, workspace: string, id: string): Promise<void> {
    const { store, events, world } = this.#deps;
    const workspaceId = await this.permit(caller, workspace);
    const record = await this.#find(workspaceId, id);
    const [firing] = (await store.current(workspaceId)).filter(({ alertId }) => alertId === id);
    const at = world.now();
    const resolved = firing
      ? alertEvent(firing, { at, value: null })
      : { type: 'alert.resolved', workspaceId, at, data: { alert: record.id } };
    if (!(await store.remove(record, resolved))) throw notFound('alert', id);
    this.#values.delete(nameOf(record));
    events.announce({ workspaceId });
  }

  /** Fails with `not_found`. One more than `limit` shows that there is another page. */
  async firings(
    caller: KeyOrLogin,
    workspace: string,
    filter: Omit<FiringsFilter, 'workspaceId'>,
  ): Promise<FiringRecord[]> {
    const workspaceId = await this.#workspaceOf(caller, workspace);
    return await this.#deps.store.firings({ ...filter, workspaceId });
  }

  /** Sends a test message. Fails with `permission`, `not_found`, or `invalid_request` without a web hook. */
  async test(caller: LoginCaller, workspace: string, id: string): Promise<DeliveryRecord> {
    const { store, deliveries, world } = this.#deps;
    const record = await this.#find(await this.permit(caller, workspace), id);
    if (!record.hook) throw inputFault('id', 'must be the name of an alert with a web hook');
    const { workspaceId } = record;
    const message = 'This is a test of the web hook.';
    const data = { alert: id, message };
    const delivery = this.#delivery(record, { type: 'alert.test', workspaceId, at: world.now(), data });
    await store.addDelivery(delivery);
    await deliveries.attempt(delivery);
    return (await store.delivery(delivery.id)) ?? delivery;
  }

  /** Fails with `not_found` or `invalid_request`. */
  async preview(caller: KeyOrLogin, workspace: string, given: GivenCondition): Promise<AlertPreview> {
    const { sampler, world } = this.#deps;
    const workspaceId = await this.#workspaceOf(caller, workspace);
    const condition = await this.#condition(workspaceId, given);
    return await previewOf(condition, { workspaceId, now: world.now(), sampler });
  }

  /** Evaluates all alerts again and again, until aborted. */
  keepEvaluating(signal: AbortSignal, onFailure: (error: unknown) => void): Promise<void> {
    return repeatedly(this.#deps.world, { everyMs: evaluateEveryMs, signal, onFailure }, async () => {
      for (const record of await this.#deps.store.all()) {
        if (signal.aborted) return;
        await this.#evaluate(record);
      }
    });
  }

  async #evaluate(record: AlertRecord): Promise<void> {
    const { sampler, world } = this.#deps;
    const at = world.now();
    const sample = addedUp(await sampler(record, [windowAt(record, at)]));
    const { value, state } = evaluate(record, sample, record.state);
    this.#values.set(nameOf(record), value);
    if (state === record.state || isTooNew(record, at)) return;
    if (state === 'ok') await this.#resolve(record, at, value);
    else await this.#fire(record, { at, value: value ?? 0, sample });
  }

  async #fire(record: AlertRecord, fired: { at: number; value: number; sample: Sample }): Promise<void> {
    const firing = newFiring(record, { id: this.#deps.makeId('firing'), ...fired });
    await this.#transition(record, { firing }, alertEvent(firing));
  }

  async #resolve(record: AlertRecord, at: number, value: number | null): Promise<void> {
    const current = await this.#deps.store.current(record.workspaceId);
    const firing = current.find(({ id }) => id === record.firingId);
    if (!firing) return;
    // The value of another kind says nothing about this firing.
    const resolvedValue = firing.condition.kind === record.kind ? value : null;
    await this.#transition(record, { resolvedValue }, alertEvent(firing, { at, value: resolvedValue }));
  }

  async #transition(
    seen: AlertRecord,
    change: { firing: FiringRecord } | { resolvedValue: number | null },
    event: NewEvent,
  ): Promise<void> {
    const { store, events, deliveries } = this.#deps;
    const delivery = seen.hook ? this.#delivery(seen, event) : undefined;
    if (!(await store.transition({ seen: keyOf(seen), at: event.at, change, event, delivery }))) return;
    events.announce(event);
    if (delivery) deliveries.wake();
  }

  #delivery({ workspaceId, id: alertId }: AlertRecord, { type, at, data }: NewEvent): DeliveryRecord {
    return {
      id: this.#deps.makeId('msg'),
      workspaceId,
      alertId,
      type,
      body: JSON.stringify({ type, timestamp: isoTime(at), data }),
      state: 'pending',
      attempts: 0,
      nextAt: at,
      httpStatus: null,
      failure: null,
      createdAt: at,
    };
  }

  async #condition(workspaceId: string, given: GivenCondition) {
    return await readCondition(given, (keyId) => this.#deps.hasKey(workspaceId, keyId));
  }

  async #workspaceOf(caller: KeyOrLogin, workspace: string): Promise<string> {
    const membership = await this.#deps.workspaces.membership(caller, workspace);
    if (!membership) throw notFound('workspace', workspace);
    return membership.workspaceId;
  }

  async #find(workspaceId: string, id: string): Promise<AlertRecord> {
    const record = await this.#deps.store.byId(workspaceId, id);
    if (!record) throw notFound('alert', id);
    return record;
  }

  async #knownOne(record: AlertRecord): Promise<KnownAlert> {
    const [known] = await this.#known(record.workspaceId, [record]);
    if (!known) throw new TypeError('an alert is known');
    return known;
  }

  async #known(workspaceId: string, records: readonly AlertRecord[]): Promise<KnownAlert[]> {
    const { store } = this.#deps;
    const firings = new Map((await store.current(workspaceId)).map((firing) => [firing.id, firing]));
    const deliveries = new Map((await store.lastDeliveries(workspaceId)).map((last) => [last.alertId, last]));
    return records.map((record) => ({
      record,
      value: this.#values.get(nameOf(record)),
      firing: firings.get(record.firingId ?? ''),
      lastDelivery: deliveries.get(record.id),
    }));
  }
}

const nameOf = ({ workspaceId, id }: Pick<AlertRecord, 'workspaceId' | 'id'>) => `${workspaceId} ${id}`;
const keyOf = ({ workspaceId, id, state, updatedAt }: AlertRecord) => ({ workspaceId, id, state, updatedAt });
