import type {
  KeyChange,
  PeerAttemptRecord,
  PeerHealthChange,
  PeerRecord,
  PeerRecordedHealth,
  PeerSettings,
  PeersStore,
} from '../../../features/peers/store.ts';
import {
  and,
  asc,
  columnsOf,
  count,
  desc,
  eq,
  integer,
  lte,
  type Orm,
  primaryKey,
  real,
  sql,
  sqliteTable,
  text,
} from '../engine/orm.ts';
import type { StoreContext } from '../engine/store-context.ts';
import { vaultSecrets } from '../vault/tables.ts';
import { putSecret } from '../vault/writes.ts';

/** Columns of a `PeerRecord`, and the name of its secret. */
export const peers = sqliteTable(
  'peers',
  {
    workspaceId: text().notNull(),
    name: text().notNull(),
    url: text().notNull(),
    secret: text(),
    keyFingerprint: text(),
    allowedModels: text({ mode: 'json' }).$type<string[]>(),
    maxInFlight: integer().notNull(),
    enabled: integer({ mode: 'boolean' }).notNull(),
    insecureHttp: integer({ mode: 'boolean' }).notNull(),
    mayBePrivate: integer({ mode: 'boolean' }).notNull(),
    addedAt: integer().notNull(),
    updatedAt: integer().notNull(),
    answered: integer().notNull(),
    failed: integer().notNull(),
    latencyMs: real(),
    lastSeenAt: integer(),
    benches: integer().notNull(),
    benchedUntil: integer(),
    reason: text(),
    compared: integer().notNull(),
    agreed: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.workspaceId, table.name] })],
);

/** Columns of a `PeerAttemptRecord`. */
export const peerAttempts = sqliteTable('peer_attempts', {
  id: integer().primaryKey({ autoIncrement: true }),
  workspaceId: text().notNull(),
  peer: text().notNull(),
  requestId: text().notNull(),
  outcome: text().notNull(),
  code: integer(),
  hedged: integer({ mode: 'boolean' }).notNull(),
  ms: real().notNull(),
  at: integer().notNull(),
});

export function peersStore({ orm, writer }: StoreContext<PeersWrites>): PeersStore {
  const { secret: _, ...columns } = columnsOf(peers);
  const { id: __, ...attemptColumns } = columnsOf(peerAttempts);
  return {
    all: async () => orm.select(columns).from(peers).orderBy(asc(peers.workspaceId), asc(peers.name)).all(),
    find: async (workspaceId, name) =>
      orm
        .select(columns)
        .from(peers)
        .where(and(eq(peers.workspaceId, workspaceId), eq(peers.name, name)))
        .get(),
    put: (settings, options) => writer.write('peers.put', { settings, ...options }),
    remove: (workspaceId, name) => writer.write('peers.remove', { workspaceId, name }),
    attempted: (attempt, change, kept) => writer.write('peers.attempted', { attempt, change, kept }),
    saveHealth: ({ workspaceId, name }, change) =>
      writer.write('peers.saveHealth', { workspaceId, name, change }),
    attempts: async (workspaceId, { peer, limit }) =>
      orm
        .select(attemptColumns)
        .from(peerAttempts)
        .where(
          and(
            eq(peerAttempts.workspaceId, workspaceId),
            peer === undefined ? undefined : eq(peerAttempts.peer, peer),
          ),
        )
        .orderBy(desc(peerAttempts.id))
        .limit(limit)
        .all(),
  };
}

type PeerKey = Pick<PeerSettings, 'workspaceId' | 'name'>;

/** The health of a peer that was never asked. */
export const unusedPeer: PeerRecordedHealth = {
  answered: 0,
  failed: 0,
  latencyMs: null,
  lastSeenAt: null,
  benches: 0,
  benchedUntil: null,
  reason: null,
  compared: 0,
  agreed: 0,
};

export function peersWrites(orm: Orm) {
  const isPeer = ({ workspaceId, name }: PeerKey) =>
    and(eq(peers.workspaceId, workspaceId), eq(peers.name, name));
  const deleteSecret = (name: string | null | undefined): void => {
    if (name) orm.delete(vaultSecrets).where(eq(vaultSecrets.name, name)).run();
  };
  const saveHealth = (peer: PeerKey, { health, added }: PeerHealthChange): void => {
    const counts = {
      answered: sql`${peers.answered} + ${added.answered}`,
      failed: sql`${peers.failed} + ${added.failed}`,
      compared: sql`${peers.compared} + ${added.compared}`,
      agreed: sql`${peers.agreed} + ${added.agreed}`,
    };
    orm
      .update(peers)
      .set({ ...health, ...counts })
      .where(isPeer(peer))
      .run();
  };
  return {
    'peers.put': ({
      settings,
      key,
      max,
    }: {
      settings: PeerSettings;
      key: KeyChange;
      max: number;
    }): PeerRecord | 'full' | 'outdated' => {
      const before = orm.select().from(peers).where(isPeer(settings)).get();
      if (before === undefined) {
        const others = orm
          .select({ count: count() })
          .from(peers)
          .where(eq(peers.workspaceId, settings.workspaceId))
          .get();
        if ((others?.count ?? 0) >= max) return 'full';
      }
      if (key === 'keep' && (before?.keyFingerprint ?? null) !== settings.keyFingerprint) return 'outdated';
      if (typeof key === 'object' && !putSecret(orm, key)) return 'outdated';
      if (key === 'remove') deleteSecret(before?.secret);
      const secret = typeof key === 'object' ? key.name : key === 'keep' ? (before?.secret ?? null) : null;
      const health =
        before === undefined || before.url !== settings.url
          ? unusedPeer
          : {
              answered: before.answered,
              failed: before.failed,
              latencyMs: before.latencyMs,
              lastSeenAt: before.lastSeenAt,
              benches: before.benches,
              benchedUntil: before.benchedUntil,
              reason: before.reason,
              compared: before.compared,
              agreed: before.agreed,
            };
      const record: PeerRecord = { ...settings, addedAt: before?.addedAt ?? settings.addedAt, ...health };
      orm
        .insert(peers)
        .values({ ...record, secret })
        .onConflictDoUpdate({ target: [peers.workspaceId, peers.name], set: { ...record, secret } })
        .run();
      return record;
    },
    'peers.remove': (peer: PeerKey): boolean => {
      const [gone] = orm.delete(peers).where(isPeer(peer)).returning({ secret: peers.secret }).all();
      deleteSecret(gone?.secret);
      return gone !== undefined;
    },
    'peers.attempted': ({
      attempt,
      change,
      kept,
    }: {
      attempt: PeerAttemptRecord;
      change: PeerHealthChange;
      kept: number;
    }): void => {
      const row = orm.insert(peerAttempts).values(attempt).returning({ id: peerAttempts.id }).get();
      orm
        .delete(peerAttempts)
        .where(lte(peerAttempts.id, row.id - kept))
        .run();
      saveHealth({ workspaceId: attempt.workspaceId, name: attempt.peer }, change);
    },
    'peers.saveHealth': ({ change, ...peer }: PeerKey & { change: PeerHealthChange }): void =>
      saveHealth(peer, change),
  };
}

export type PeersWrites = ReturnType<typeof peersWrites>;
