export type { PeerAddress, PeerCard, PeerClient, PeerQuestion } from './client.ts';
export { peerHandlers } from './handlers.ts';
export { nodeCard, nodeIdOf } from './node-card.ts';
export { Peers } from './peers.ts';
export type { PeerAttemptRecord, PeerRecord, PeersStore } from './store.ts';
