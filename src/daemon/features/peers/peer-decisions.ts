import { type World, within } from '../../base/world.ts';
import type {
  DecisionRequest,
  DecisionSource,
  PeerCall,
  PeerSource,
  SourceAnswer,
} from '../decisions/index.ts';
import { AgreementChecks, type AgreementDeps } from './agreement.ts';
import { modelAt, offers, rank } from './choose-peer.ts';
import type { PeerContact } from './peer-contact.ts';
import type { PeerState } from './peer-state.ts';
import { HedgeBudget, peersSource } from './peers-source.ts';

/** How long a decision waits for the card of a peer that was never asked. */
const firstCardMs = 2000;

export interface PeerDecisionsDeps {
  world: Pick<World, 'now' | 'elapsed' | 'sleep' | 'randomBytes'>;
  /** Identifies this daemon to its peers. */
  nodeId: string;
  /** What answers as `engine` or `engine-flash` here; undefined for any other model, and without an engine. */
  ownIdentity: (model: string) => string | undefined;
  settings: AgreementDeps['settings'];
  /** The engine of the host for decisions of a model, to compare answers of peers with; undefined if it cannot be asked now. */
  engineFor: (model: string) => DecisionSource | undefined;
  /** Called for each comparison, with the peer's name. */
  onCompared: (peer: string, isSame: boolean) => void;
}

/** Peers as sources of decisions: which are asked, in which order, and whether they agree. */
export class PeerDecisions {
  readonly #deps: PeerDecisionsDeps;
  readonly #contact: PeerContact;
  readonly #hedges = new HedgeBudget();
  readonly #agreement: AgreementChecks;

  constructor(contact: PeerContact, deps: PeerDecisionsDeps) {
    this.#contact = contact;
    this.#deps = deps;
    const { settings, world } = deps;
    this.#agreement = new AgreementChecks({
      settings,
      world,
      onCompared: (peer, results) => this.#compared(peer, results),
    });
  }

  /** Compares answers of peers, until aborted. */
  compare(signal: AbortSignal): Promise<void> {
    return this.#agreement.run(signal);
  }

  /** The source of a decision that asks these peers. */
  async sourceOf(peers: readonly PeerState[], call: PeerCall): Promise<PeerSource> {
    const { world, nodeId } = this.#deps;
    const unread = peers.filter(
      (peer) => peer.card === undefined && peer.unavailable(world.now()) === undefined,
    );
    if (unread.length > 0)
      await within(world, Promise.all(unread.map((peer) => this.#contact.readCard(peer))), firstCardMs);
    const skipped: { source: string; outcome: string; message: string }[] = [];
    const models = new Map<PeerState, string>();
    for (const peer of peers) {
      const reason = this.#unsuited(peer, call.model);
      if (typeof reason === 'string') models.set(peer, reason);
      else skipped.push({ source: peer.name, ...reason });
    }
    const ranked = rank([...models.keys()], () => (world.randomBytes(1)[0] ?? 0) % 2 === 0);
    const context = {
      via: [...call.via, nodeId],
      idempotencyKey: call.idempotencyKey,
      remainingMs: call.remainingMs,
    };
    const source = peersSource({
      candidates: ranked,
      skipped,
      world,
      hedges: this.#hedges,
      unavailable: (peer) => peer.unavailable(world.now()),
      ask: async (peer, question, signal) => {
        const model = models.get(peer) as string;
        const sent = { requestId: call.requestId, context };
        const outcome = await this.#contact.ask(peer, { ...question, model }, sent, signal);
        if ('answer' in outcome) {
          const { request } = question;
          const askAgain = this.#askElsewhere(peer, call, models);
          this.#agreement.sample({ peer, request, answer: outcome.answer, askAgain });
        }
        return outcome;
      },
    });
    return { ...source, offersModel: peers.some((peer) => offers(peer, call.model)) };
  }

  /** Asks the question again: the engine of the host, or another peer that may be asked for the model. */
  #askElsewhere(
    answered: PeerState,
    { model, requestId, via }: Pick<PeerCall, 'model' | 'requestId' | 'via'>,
    models: ReadonlyMap<PeerState, string>,
  ) {
    return async (request: DecisionRequest, signal: AbortSignal): Promise<SourceAnswer> => {
      const { world, nodeId, engineFor } = this.#deps;
      const engine = engineFor(model);
      if (engine) return await engine.decide(request, { debias: 'auto', samples: 1 }, signal);
      const others = [...models.keys()].filter(
        (peer) => peer !== answered && peer.unavailable(world.now()) === undefined,
      );
      const [other] = rank(others, () => false);
      if (other === undefined) throw new Error('no other source can be asked');
      const outcome = await this.#contact.ask(
        other,
        { model: models.get(other) as string, request, options: { debias: 'auto' }, isHedge: false },
        {
          requestId,
          context: { via: [...via, nodeId], idempotencyKey: undefined, remainingMs: () => 60_000 },
        },
        signal,
      );
      if ('answer' in outcome) return outcome.answer;
      throw new Error('the other source gave no answer');
    };
  }

  #compared(peer: PeerState, results: readonly boolean[]): void {
    peer.compared(results);
    for (const isSame of results) this.#deps.onCompared(peer.record.name, isSame);
    this.#contact.saveHealth(peer);
  }

  /** The model to ask a peer for, or why it is not asked. */
  #unsuited(peer: PeerState, model: string): string | { outcome: string; message: string } {
    const { world, ownIdentity } = this.#deps;
    const unavailable = peer.unavailable(world.now());
    if (unavailable) return unavailable;
    if (this.#contact.isSelf(peer)) return { outcome: 'loop', message: `${peer.name} is this daemon itself` };
    const found = modelAt(peer, model, ownIdentity(model));
    if (found !== undefined) return found;
    return peer.card === undefined
      ? { outcome: peer.record.reason ?? 'timeout', message: `${peer.name} did not send its card` }
      : { outcome: 'model_not_found', message: `${peer.name} does not offer ${model}` };
  }
}
