import type { AskOptions, DecisionRequest, NativeAnswer } from '../decisions/index.ts';

/** How a peer is reached. */
export interface PeerAddress {
  /** For messages: `peer:attic`. */
  name: string;
  /** Without `/v1`. */
  url: string;
  key: string | undefined;
  /** Whether its name may resolve to an address of a private network. */
  mayBePrivate: boolean;
}

/** A peer's description of itself. */
export interface PeerCard {
  /** Null for a server that is not a gateway. */
  nodeId: string | null;
  version: string | null;
  models: readonly { id: string; identity: string | null }[];
  /** How many more decisions it suggests to send now; null if it does not state it. */
  slotsFree: number | null;
}

/** A decision that is sent to a peer. */
export interface PeerQuestion {
  /** The model's name at the peer. */
  model: string;
  request: DecisionRequest;
  debias: AskOptions['debias'];
  /** How long the peer may take, in milliseconds; sent with the request. */
  deadlineMs: number;
  /** The ids of the nodes that the request came through, this one last. */
  via: readonly string[];
  idempotencyKey: string | undefined;
}

/** Calls peers. Both reject with an `UpstreamFailure`, or with the signal's reason when it is aborted. */
export interface PeerClient {
  card(address: PeerAddress, signal: AbortSignal): Promise<PeerCard>;
  /** `isGateway`: whether it is another gateway, whose endpoint is known. */
  decide(
    address: PeerAddress,
    question: PeerQuestion & { isGateway: boolean },
    signal: AbortSignal,
  ): Promise<NativeAnswer>;
}
