import type { PeerRecord, PeerRecordedHealth } from '../../src/daemon/features/peers/store.ts';

/** What is known of a peer that was never asked. */
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
