import type { PeerRecord } from '../../src/daemon/features/peers/store.ts';
import { unusedPeer } from '../../src/daemon/storage/sqlite/peers/store.ts';

/** A peer that was never asked. */
export function peerRecord(changes: Partial<PeerRecord> = {}): PeerRecord {
  return {
    workspaceId: 'ws_1',
    name: 'attic',
    url: 'https://attic.example.com',
    keyFingerprint: null,
    allowedModels: null,
    maxInFlight: 4,
    enabled: true,
    insecureHttp: false,
    mayBePrivate: true,
    addedAt: 0,
    updatedAt: 0,
    ...unusedPeer,
    ...changes,
  };
}
