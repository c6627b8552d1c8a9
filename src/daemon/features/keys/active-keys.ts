import { Mutex } from '../../../shared/async/mutex.ts';
import type { Changes } from '../../base/changes.ts';
import type { KeyDefaults, KeyLimits, KeyPolicy } from '../../base/handler.ts';
import { repeatedly, type World } from '../../base/world.ts';
import type { TokensStore } from '../tokens/index.ts';
import type { WorkspacesStore } from '../workspaces/index.ts';
import type { KeyRecord, KeysStore, PreviousSecret } from './store.ts';

/** Maximum sleep of the watch, since the wall clock may be set meanwhile. */
const checkEveryMs = 30_000;

/** The policy of a key in use. Changes apply immediately, also to the keys that descend from it. */
class LiveKey implements KeyPolicy {
  readonly keyId: string;
  readonly parent: LiveKey | undefined;
  readonly models: KeyRecord['models'];
  readonly actions: KeyRecord['actions'];
  limits: KeyLimits | null;
  defaults: KeyDefaults | null;
  pausedAt: number | null;
  /** Whether its expiry was reported. */
  isReported = false;

  constructor(record: KeyRecord, parent: LiveKey | undefined) {
    this.keyId = record.id;
    this.parent = parent;
    this.models = record.models;
    this.actions = record.actions;
    this.limits = record.limits;
    this.defaults = record.defaults;
    this.pausedAt = record.pausedAt;
  }

  get isRestricted(): boolean {
    const { limits, models, actions, pausedAt } = this;
    const hasRestriction = limits !== null || models !== null || actions !== null || pausedAt !== null;
    return hasRestriction || (this.parent?.isRestricted ?? false);
  }
}

/** When a key expires, by its own limit or that of an ancestor; Infinity for never. */
export function expiryOf(policy: KeyPolicy | undefined): number {
  let expiry = Number.POSITIVE_INFINITY;
  for (let key = policy; key; key = key.parent) expiry = Math.min(expiry, key.limits?.expiresAt ?? expiry);
  return expiry;
}

/** The key or ancestor by whose limit a key has expired. */
export function expiredKeyOf(policy: KeyPolicy, expiry: number): string {
  let key = policy;
  while (key.limits?.expiresAt !== expiry && key.parent) key = key.parent;
  return key.keyId;
}

/** The key or ancestor that is paused. */
export function pausedKeyOf(policy: KeyPolicy): string | undefined {
  let key: KeyPolicy | undefined = policy;
  while (key && (key.pausedAt ?? null) === null) key = key.parent;
  return key?.keyId;
}

export interface ActiveKeysDeps {
  store: Pick<KeysStore, 'byId'>;
  changes: Changes;
  /** What expiries are compared with. */
  passed: { sure(): number; noteExpiry(id: string, expiry: number): void };
}

/** What can change while the key is in use. */
type Changeable = Pick<LiveKey, 'limits' | 'defaults' | 'pausedAt'>;

/** The policies of keys in use, one object per key, and the watch for their expiry. */
export function createActiveKeys({ store, changes, passed }: ActiveKeysDeps) {
  const keys = new Map<string, LiveKey>();
  // Settings that changed since the start: a record that was read before a change must not undo it.
  const changed = new Map<string, Changeable>();
  // A change must not be undone by an earlier one that is read later.
  const reads = new Mutex();
  let onChange: (record: KeyRecord) => Promise<void> = async () => {};
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
    const key = keys.get(id) ?? new LiveKey(record, parent);
    Object.assign(key, changed.get(id));
    keys.set(id, key);
    if (expiryOf(key) < Number.POSITIVE_INFINITY) wake();
    return key;
  };

  const reread = async (workspaceId: string, keyId: string): Promise<void> => {
    const record = await store.byId(workspaceId, keyId);
    if (!record) return;
    const { limits, defaults, pausedAt } = record;
    changed.set(keyId, { limits, defaults, pausedAt });
    const key = keys.get(keyId);
    if (key) Object.assign(key, { limits, defaults, pausedAt });
    wake();
    await onChange(record);
  };
  changes.subscribe('key', ({ workspaceId, keyId }) => reads.run(() => reread(workspaceId, keyId), keyId));

  return {
    of,

    /** Calls `apply` with each key that was changed, once its policy is. */
    onChange(apply: (record: KeyRecord) => Promise<void>): void {
      onChange = apply;
    },

    /** The ids of a key and its descendants, as far as they are in use. */
    withDescendants(keyId: string): string[] {
      const descends = (key: LiveKey | undefined): boolean =>
        key !== undefined && (key.keyId === keyId || descends(key.parent));
      return [...keys.values()].filter(descends).map((key) => key.keyId);
    },

    /** Calls `onExpired` with each key in use when it expires, until aborted. */
    async watch(world: Pick<World, 'sleep'>, signal: AbortSignal, onExpired: (keyId: string) => void) {
      while (!signal.aborted) {
        let next = Number.POSITIVE_INFINITY;
        const now = passed.sure();
        for (const key of keys.values()) {
          const expiry = expiryOf(key);
          if (expiry > now) {
            next = Math.min(next, expiry);
            key.isReported = false;
          } else if (!key.isReported) {
            key.isReported = true;
            passed.noteExpiry(expiredKeyOf(key, expiry), expiry);
            onExpired(key.keyId);
          }
        }
        const ends = AbortSignal.any([signal, waker.signal]);
        const ms = Math.min(checkEveryMs, Math.max(1, next - now));
        await world.sleep(ms, ends).catch((error: unknown) => {
          if (!ends.aborted) throw error;
        });
      }
    },
  };
}

export type ActiveKeys = ReturnType<typeof createActiveKeys>;

const flushEveryMs = 30_000;

/** Collects times of last use by id in memory, since a write per call would cost more than the call. */
function lastUseLog(write: (uses: { id: string; at: number }[]) => Promise<void>) {
  let uses = new Map<string, number>();
  const flush = async (): Promise<void> => {
    if (uses.size === 0) return;
    const flushed = uses;
    uses = new Map();
    try {
      await write([...flushed].map(([id, at]) => ({ id, at })));
    } catch (error) {
      uses = new Map([...flushed, ...uses]);
      throw error;
    }
  };
  return {
    note: (id: string, at: number): void => {
      uses.set(id, at);
    },
    last: (id: string): number | undefined => uses.get(id),
    flush,
    keepFlushed: (world: Pick<World, 'sleep'>, signal: AbortSignal, onFailure: (error: unknown) => void) =>
      repeatedly(world, { everyMs: flushEveryMs, signal, onFailure }, flush).then(() =>
        flush().catch(onFailure),
      ),
  };
}

export interface LastUseDeps {
  keysStore: Pick<KeysStore, 'touch' | 'touchPrevious'>;
  workspacesStore: Pick<WorkspacesStore, 'touchLogins'>;
  tokensStore?: Pick<TokensStore, 'touch'>;
  onPreviousUsed?: (secret: PreviousSecret) => void;
}

/** When keys, logins and tokens were last used. */
export function createCredentialUses({
  keysStore,
  workspacesStore,
  tokensStore,
  onPreviousUsed,
}: LastUseDeps) {
  const keys = lastUseLog((uses) => keysStore.touch(uses.map(({ id, at }) => ({ keyId: id, at }))));
  const logins = lastUseLog((uses) => workspacesStore.touchLogins(uses));
  const tokens = lastUseLog(async (uses) => tokensStore?.touch(uses));
  const previous = lastUseLog(async (uses) => {
    const first = await keysStore.touchPrevious(uses.map(({ id, at }) => ({ digest: id, at })));
    for (const secret of first) onPreviousUsed?.(secret);
  });
  const logs = [keys, logins, tokens, previous];
  return {
    note: { key: keys.note, login: logins.note, token: tokens.note, previous: previous.note },
    lastKey: keys.last,
    lastLogin: logins.last,
    lastToken: tokens.last,
    /** Of a secret that was replaced, by its digest. */
    lastPrevious: previous.last,
    async flush() {
      await Promise.all(logs.map((log) => log.flush()));
    },
    async keepFlushed(world: Pick<World, 'sleep'>, signal: AbortSignal, onFailure: (error: unknown) => void) {
      await Promise.all(logs.map((log) => log.keepFlushed(world, signal, onFailure)));
    },
  };
}
