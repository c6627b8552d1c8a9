import type { PeersStore } from '../../../features/peers/store.ts';
import { and, asc, columnsOf, desc, eq } from '../engine/orm.ts';
import type { StoreContext } from '../engine/store-context.ts';
import { peerAttempts, peers } from './tables.ts';
import type { PeersWrites } from './writes.ts';

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
