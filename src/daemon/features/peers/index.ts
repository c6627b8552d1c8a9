export type { PeerAddress, PeerCard, PeerClient } from './client.ts';
export { peerHandlers } from './handlers.ts';
export { nodeCard, nodeIdOf } from './node-card.ts';
export { Peers } from './peers.ts';
