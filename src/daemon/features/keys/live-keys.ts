import type { KeyDefaults, KeyLimits, KeyPolicy } from '../../handler.ts';
import type { World } from '../../world.ts';
import type { KeyRecord, KeysStore } from './keys-store.ts';

/** The longest that the watch sleeps: the wall clock may have been set meanwhile. */
const lookEveryMs = 30_000;

/** A key in use. What its owner changes shows at once, here and in the keys that descend from it. */
class LiveKey implements KeyPolicy {
  readonly keyId: string;
  readonly parent: LiveKey | undefined;
  readonly models: KeyRecord['models'];
  readonly actions: KeyRecord['actions'];
  limits: KeyLimits | null;
  defaults: KeyDefaults | null;
  /** Whether its end was told. */
  isOver = false;

  constructor(record: KeyRecord, parent: LiveKey | undefined) {
    this.keyId = record.id;
    this.parent = parent;
    this.models = record.models;
    this.actions = record.actions;
    this.limits = record.limits;
    this.defaults = record.defaults;
  }

  get isRestricted(): boolean {
    const isHeld = this.limits !== null || this.models !== null || this.actions !== null;
    return isHeld || (this.parent?.isRestricted ?? false);
  }
}

/** When a key ends, by its own limit or by that of a key it descends from; Infinity when it does not. */
export function expiryOf(policy: KeyPolicy | undefined): number {
  let expiry = Number.POSITIVE_INFINITY;
  for (let key = policy; key; key = key.parent) expiry = Math.min(expiry, key.limits?.expiresAt ?? expiry);
  return expiry;
}

/** The end that each key was seen to have passed. */
const passed = new WeakMap<KeyPolicy, number>();

/** Whether a key has ended. One that was seen to have stays so when the clock is set back, until it is given another end. */
export function isExpired(policy: KeyPolicy, now: number): boolean {
  const expiry = expiryOf(policy);
  if (expiry <= now) passed.set(policy, expiry);
  return expiry < Number.POSITIVE_INFINITY && passed.get(policy) === expiry;
}

export interface LiveKeysNeeds {
  store: Pick<KeysStore, 'byId'>;
  now: () => number;
}

/** What the owner of a key may change while it is in use. */
type Changeable = Pick<LiveKey, 'limits' | 'defaults'>;

/** What the keys in use are held to, one object a key, and the watch over those that expire. */
export function liveKeys({ store, now }: LiveKeysNeeds) {
  const keys = new Map<string, LiveKey>();
  // What was set since the start: a record that was read before must not bring back what held then.
  const set = new Map<string, Partial<Changeable>>();
  let waker = new AbortController();
  const wake = () => {
    waker.abort();
    waker = new AbortController();
  };

  const of = async (record: KeyRecord): Promise<LiveKey> => {
    const known = keys.get(record.id);
    if (known) return known;
    const { parentId, workspaceId, id } = record;
    const parentRecord = parentId === null ? undefined : await store.byId(workspaceId, parentId);
    const parent = parentRecord && (await of(parentRecord));
    const made = keys.get(id) ?? new LiveKey(record, parent);
    Object.assign(made, set.get(id));
    keys.set(id, made);
    if (expiryOf(made) < Number.POSITIVE_INFINITY) wake();
    return made;
  };

  return {
    of,

    /** To be called once a change is on disk: it counts for the next request. */
    changed(keyId: string, change: Partial<Changeable>): void {
      set.set(keyId, { ...set.get(keyId), ...change });
      const key = keys.get(keyId);
      if (key) Object.assign(key, change);
      for (const other of keys.values()) if (!isExpired(other, now())) other.isOver = false;
      wake();
    },

    /** Tells of each key in use when its time is over, until aborted. */
    async watch(world: Pick<World, 'sleep'>, signal: AbortSignal, onOver: (keyId: string) => void) {
      while (!signal.aborted) {
        let next = Number.POSITIVE_INFINITY;
        for (const key of keys.values()) {
          if (!isExpired(key, now())) next = Math.min(next, expiryOf(key));
          else if (!key.isOver) {
            key.isOver = true;
            onOver(key.keyId);
          }
        }
        const ends = AbortSignal.any([signal, waker.signal]);
        const ms = Math.min(lookEveryMs, Math.max(1, next - now()));
        await world.sleep(ms, ends).catch((error: unknown) => {
          if (!ends.aborted) throw error;
        });
      }
    },
  };
}

export type LiveKeys = ReturnType<typeof liveKeys>;
