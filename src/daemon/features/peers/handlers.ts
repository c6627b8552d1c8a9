import {
  checkPeer,
  deletePeer,
  getNode,
  listPeerAttempts,
  listPeers,
  type NodeCard,
  type Peer,
  putPeer,
} from '../../../shared/contract/peers.ts';
import { isoTime } from '../../../shared/time/time.ts';
import { type Handler, implement, loginOf } from '../../base/handler.ts';
import type { PeerState } from './peer-state.ts';
import type { Peers } from './peers.ts';

export interface PeerHandlersDeps {
  peers: Peers;
  card: () => NodeCard;
  now: () => number;
}

export function peerHandlers({ peers, card, now }: PeerHandlersDeps): Handler[] {
  const permit = ({
    caller,
    params,
  }: {
    caller: Parameters<typeof loginOf>[0];
    params: { workspace: string };
  }) => peers.permit(loginOf(caller), params.workspace);
  return [
    implement(getNode, async () => card()),

    implement(listPeers, async ({ caller, params }) => {
      const listed = await peers.list(loginOf(caller), params.workspace);
      return { object: 'list', data: listed.map((peer) => peerView(peer, now())) };
    }),

    implement(
      putPeer,
      async ({ caller, params, body }) =>
        peerView(await peers.put(loginOf(caller), params.workspace, params.peer, body), now()),
      permit,
    ),

    implement(deletePeer, async ({ caller, params }) => {
      await peers.remove(loginOf(caller), params.workspace, params.peer);
      return { id: params.peer, object: 'peer', deleted: true };
    }),

    implement(checkPeer, async ({ caller, params, requestId, signal }) => {
      const { workspace, peer: name } = params;
      const { cardMs, decisionMs, ...check } = await peers.check(
        loginOf(caller),
        { workspace, name, requestId },
        signal,
      );
      return { ...check, card_ms: cardMs, decision_ms: decisionMs };
    }),

    implement(
      listPeerAttempts,
      async ({ caller, params, query: { peer, limit = 50 } }) => {
        const attempts = await peers.attempts(loginOf(caller), params.workspace, { peer, limit });
        const data = attempts.map(({ peer: name, requestId, outcome, code, hedged, ms, at }) => ({
          peer: name,
          request_id: requestId,
          outcome,
          code,
          hedged,
          ms,
          created_at: isoTime(at),
        }));
        return { object: 'list', data };
      },
      permit,
    ),
  ];
}

function peerView(peer: PeerState, now: number): Peer {
  const { record, card } = peer;
  const time = (at: number | null) => (at === null ? null : isoTime(at));
  return {
    name: record.name,
    url: record.url,
    status: peer.status(now),
    reason: record.reason,
    enabled: record.enabled,
    allowed_models: record.allowedModels,
    max_in_flight: record.maxInFlight,
    insecure_http: record.insecureHttp,
    key_fingerprint: record.keyFingerprint,
    node_id: card?.nodeId ?? null,
    version: card?.version ?? null,
    models: card?.models.map(({ id, identity }) => ({ id, identity })) ?? [],
    last_seen_at: time(record.lastSeenAt),
    answered: record.answered,
    failed: record.failed,
    agreement: { compared: record.compared, agreed: record.agreed },
    latency_ms: record.latencyMs === null ? null : Math.round(record.latencyMs),
    benched_until: peer.isBenched(now) ? time(record.benchedUntil) : null,
    added_at: isoTime(record.addedAt),
    updated_at: isoTime(record.updatedAt),
  };
}
