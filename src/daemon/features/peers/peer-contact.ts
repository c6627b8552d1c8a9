import { createHash } from 'node:crypto';
import type { World } from '../../base/world.ts';
import type { EventFeed } from '../events/index.ts';
import type { Vault } from '../vault/index.ts';
import { askPeer, type PeerOutcome } from './ask-peer.ts';
import type { PeerAddress, PeerClient } from './client.ts';
import type { PeerState } from './peer-state.ts';
import { readCard } from './read-card.ts';
import type { PeersStore } from './store.ts';

const cardEveryMs = 30_000;
/** A peer without a free slot may have one soon. */
const busyCardEveryMs = 5000;
const attemptsKept = 10_000;

export interface PeerContactDeps {
  store: Pick<PeersStore, 'attempted' | 'saveHealth'>;
  vault: Pick<Vault, 'open'>;
  client: PeerClient;
  events: Pick<EventFeed, 'record'>;
  world: Pick<World, 'now' | 'elapsed' | 'sleep' | 'randomBytes'>;
  /** Identifies this daemon to its peers. */
  nodeId: string;
  /** Gets what failed in the background. */
  onFailure: (error: unknown) => void;
}

type Question = Pick<Parameters<typeof askPeer>[2], 'model' | 'request' | 'options'> & { isHedge: boolean };

interface Sent {
  requestId: string;
  context: Parameters<typeof askPeer>[2]['context'];
}

/** The name under which the vault seals the key for a peer. */
export const peerKeyName = ({ workspaceId, name }: { workspaceId: string; name: string }): string =>
  `peer-key|${workspaceId}|${name}`;

/** Asks peers and reads their cards, and keeps what that says of their health. */
export class PeerContact {
  readonly #deps: PeerContactDeps;

  constructor(deps: PeerContactDeps) {
    this.#deps = deps;
  }

  isSelf({ card }: PeerState): boolean {
    return card?.nodeId === this.#deps.nodeId;
  }

  async ask(
    peer: PeerState,
    { isHedge, ...question }: Question,
    { requestId, context }: Sent,
    signal: AbortSignal,
  ): Promise<PeerOutcome> {
    const { client, world } = this.#deps;
    const isTrial = peer.isHalfOpen(world.now());
    peer.inFlight += 1;
    if (isTrial) peer.isTried = true;
    try {
      const deps = { client, world, addressOf: (each: PeerState) => this.#addressOf(each) };
      const idempotencyKey = context.idempotencyKey && hashedKey(this.#deps.nodeId, context.idempotencyKey);
      const sent = { ...question, context: { ...context, idempotencyKey } };
      const outcome = await askPeer(deps, peer, sent, signal);
      this.#record(peer, outcome, { requestId, isHedge });
      return outcome;
    } finally {
      peer.inFlight -= 1;
      if (isTrial) peer.isTried = false;
    }
  }

  readCard(peer: PeerState, signal?: AbortSignal): ReturnType<typeof readCard> {
    const { client, world } = this.#deps;
    return readCard(
      {
        client,
        world,
        addressOf: (each) => this.#addressOf(each),
        nextCheckMs: (isBusy) => this.#jittered(isBusy ? busyCardEveryMs : cardEveryMs),
        onBenched: (ms, reason) => {
          this.#announceBench(peer, ms, reason);
          this.saveHealth(peer);
        },
      },
      peer,
      signal,
    );
  }

  /** Stores how a peer did; nothing waits for that. */
  saveHealth(peer: PeerState): void {
    const { store, onFailure } = this.#deps;
    void store.saveHealth(peer.record, peer.takeChange()).catch(onFailure);
  }

  /** Counts an outcome and stores the attempt; a decision does not wait for that. */
  #record(peer: PeerState, outcome: PeerOutcome, call: { requestId: string; isHedge: boolean }): void {
    const { store, world, onFailure } = this.#deps;
    const at = world.now();
    let code: number | null = null;
    let name = 'canceled';
    peer.nextCheckAt = at + this.#jittered(cardEveryMs);
    if ('answer' in outcome) {
      peer.answered(outcome.ms, at);
      code = 200;
      name = 'answered';
    } else if ('fault' in outcome) {
      name = outcome.fault.outcome;
      code = outcome.fault.code;
      this.#announceBench(peer, peer.failed(outcome.fault, at), name);
    }
    const { workspaceId } = peer.record;
    const attempt = {
      workspaceId,
      peer: peer.record.name,
      requestId: call.requestId,
      outcome: name,
      code,
      hedged: call.isHedge,
      ms: Math.round(outcome.ms),
      at,
    };
    void store.attempted(attempt, peer.takeChange(), attemptsKept).catch(onFailure);
  }

  #announceBench(peer: PeerState, ms: number | undefined, reason: string): void {
    if (ms === undefined) return;
    const { workspaceId, name } = peer.record;
    const data = { peer: name, reason, retry_after_ms: ms };
    void this.#deps.events
      .record({ type: 'peer.benched', workspaceId, at: this.#deps.world.now(), data })
      .catch(this.#deps.onFailure);
  }

  async #addressOf({ name, record }: PeerState): Promise<PeerAddress> {
    const { url, mayBePrivate, keyFingerprint } = record;
    if (keyFingerprint === null) return { name, url, mayBePrivate, key: undefined };
    const secret = await this.#deps.vault.open(peerKeyName(record));
    const key = secret.toString('utf8');
    secret.fill(0);
    return { name, url, mayBePrivate, key };
  }

  /** So that the nodes of a group do not ask each other at the same moment. */
  #jittered(ms: number): number {
    return ms * (0.8 + (0.4 * (this.#deps.world.randomBytes(1)[0] ?? 0)) / 255);
  }
}

/** Peers see neither the key nor that two nodes use the same one. */
function hashedKey(nodeId: string, key: string): string {
  return createHash('sha256').update(nodeId).update(key).digest('hex');
}
