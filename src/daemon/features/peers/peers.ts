import { createHash } from 'node:crypto';
import { peersMax } from '../../../shared/contract/peers.ts';
import { ApiError } from '../../../shared/errors.ts';
import { inputFault, wellFormed } from '../../../shared/input-faults.ts';
import { notFound } from '../../../shared/not-found.ts';
import type { Caller, LoginCaller } from '../../handler.ts';
import { repeatedly, type World, within } from '../../world.ts';
import type {
  DecisionRequest,
  DecisionSource,
  PeerCall,
  PeerSource,
  SourceAnswer,
} from '../decisions/index.ts';
import type { EventFeed } from '../events/index.ts';
import type { Vault } from '../vault/index.ts';
import type { Workspaces } from '../workspaces/index.ts';
import { AgreementChecks, type AgreementDeps } from './agreement.ts';
import { askPeer, type PeerOutcome } from './ask-peer.ts';
import { modelAt, offers, rank } from './choose-peer.ts';
import type { PeerAddress, PeerClient } from './client.ts';
import { type CheckOutcome, checkRequest, failedCheck } from './peer-check.ts';
import { PeerState } from './peer-state.ts';
import { readPeerUrl } from './peer-url.ts';
import { HedgeBudget, peersSource } from './peers-source.ts';
import { readCard } from './read-card.ts';
import type { KeyChange, PeerAttemptRecord, PeerRecord, PeerSettings, PeersStore } from './store.ts';

const checkEveryMs = 5000;
const cardEveryMs = 30_000;
/** A peer without a free slot may have one soon. */
const busyCardEveryMs = 5000;
/** How long a decision waits for the card of a peer that was never asked. */
const firstCardMs = 2000;
const attemptsKept = 10_000;
const putAttemptsMax = 5;
const maxInFlightDefault = 4;

export interface PeersDeps {
  store: PeersStore;
  vault: Pick<Vault, 'seal' | 'open' | 'version'>;
  workspaces: Pick<Workspaces, 'membership' | 'isDaemonOwner'>;
  client: PeerClient;
  events: Pick<EventFeed, 'record'>;
  world: Pick<World, 'now' | 'elapsed' | 'sleep' | 'randomBytes'>;
  /** Why an address cannot be that of a peer, as the end of a sentence; undefined if it can. */
  addressProblem: (url: URL, options: { mayBePrivate: boolean }) => string | undefined;
  /** Identifies this daemon to its peers. */
  nodeId: string;
  /** The workspace whose peers are asked for callers without peers of their own. */
  hostWorkspace: { readonly id: string | undefined };
  /** What answers as `engine` or `engine-flash` here; undefined for any other model, and without an engine. */
  ownIdentity: (model: string) => string | undefined;
  settings: AgreementDeps['settings'];
  /** The engine of the host for decisions of a model, to compare answers of peers with; undefined if it cannot be asked now. */
  engineFor: (model: string) => DecisionSource | undefined;
  /** Called for each comparison, with the peer's name. */
  onCompared: (peer: string, isSame: boolean) => void;
  /** Gets what failed in the background. */
  onFailure: (error: unknown) => void;
}

export interface NewPeer {
  url: string;
  key?: string | null;
  models?: string[] | null;
  max_in_flight?: number;
  enabled?: boolean;
  insecure_http?: boolean;
}

/** The peers of all workspaces: managed by owners and admins, and asked for decisions. */
export class Peers {
  readonly #deps: PeersDeps;
  readonly #byWorkspace = new Map<string, Map<string, PeerState>>();
  readonly #hedges = new HedgeBudget();
  readonly #agreement: AgreementChecks;

  constructor(deps: PeersDeps) {
    this.#deps = deps;
    const { settings, world } = deps;
    this.#agreement = new AgreementChecks({
      settings,
      world,
      onCompared: (peer, results) => this.#compared(peer, results),
    });
  }

  /** Loads the peers; to be awaited before the first decision. */
  async recover(): Promise<void> {
    for (const record of await this.#deps.store.all())
      this.#of(record.workspaceId).set(record.name, new PeerState(record));
  }

  /** Fails with `permission` unless the caller manages the workspace. */
  async permit(caller: LoginCaller, workspace: string): Promise<string> {
    const membership = await this.#deps.workspaces.membership(caller, workspace);
    if (membership && membership.role !== 'member') return membership.workspaceId;
    throw new ApiError('permission', {
      message: 'Only owners and admins of a workspace can manage its peers.',
    });
  }

  async list(caller: LoginCaller, workspace: string): Promise<PeerState[]> {
    const peers = this.#of(await this.permit(caller, workspace)).values();
    return [...peers].sort((a, b) => (a.record.name < b.record.name ? -1 : 1));
  }

  /**
   * Adds or changes a peer. Fails with `permission`, with `invalid_request` for an address that is not allowed or a key that
   * would be sent to another one, or with `unavailable` while the vault is sealed.
   */
  async put(caller: LoginCaller, workspace: string, name: string, body: NewPeer): Promise<PeerState> {
    const workspaceId = await this.permit(caller, workspace);
    const { store, vault, world, events } = this.#deps;
    const before = this.#of(workspaceId).get(name)?.record;
    const isHostOwner = await this.#deps.workspaces.isDaemonOwner(caller);
    const insecureHttp = body.insecure_http ?? false;
    const url = readPeerUrl(body.url, {
      insecureHttp,
      problemOf: (each) => this.#deps.addressProblem(each, { mayBePrivate: isHostOwner }),
    });
    if (before?.keyFingerprint && body.key === undefined && before.url !== url) {
      throw inputFault('key', 'must be given again, or be null, as the address changes');
    }
    const secretName = `peer-key|${workspaceId}|${name}`;
    for (let attempt = 1; attempt <= putAttemptsMax; attempt += 1) {
      let key: KeyChange = body.key === null ? 'remove' : 'keep';
      if (typeof body.key === 'string') {
        const version = (await vault.version(secretName)) + 1;
        key = await vault.seal({ name: secretName, version, secret: Buffer.from(body.key) });
      }
      const at = world.now();
      const current = this.#of(workspaceId).get(name)?.record;
      const settings: PeerSettings = {
        workspaceId,
        name,
        url,
        insecureHttp,
        addedAt: at,
        updatedAt: at,
        keyFingerprint:
          typeof body.key === 'string'
            ? createHash('sha256').update(body.key).digest('hex').slice(0, 12)
            : body.key === null
              ? null
              : (current?.keyFingerprint ?? null),
        allowedModels: body.models ? wellFormed(body.models, 'models') : null,
        maxInFlight: body.max_in_flight ?? maxInFlightDefault,
        enabled: body.enabled ?? true,
        mayBePrivate: isHostOwner || (before?.url === url && before.mayBePrivate),
      };
      const record = await store.put(settings, { key, max: peersMax });
      if (record === 'full')
        throw new ApiError('invalid_request', { message: `A workspace has at most ${peersMax} peers.` });
      if (record === 'outdated') continue;
      const state = this.#stored(record, before?.url === url);
      await events.record({
        type: before ? 'peer.changed' : 'peer.added',
        workspaceId,
        at,
        data: { peer: name, user: caller.userId },
      });
      return state;
    }
    throw new ApiError('unavailable', {
      message: 'The peer is being changed by another request; try again.',
    });
  }

  /** Fails with `permission` or `not_found`. */
  async remove(caller: LoginCaller, workspace: string, name: string): Promise<void> {
    const workspaceId = await this.permit(caller, workspace);
    if (!(await this.#deps.store.remove(workspaceId, name))) throw noSuchPeer(name);
    this.#of(workspaceId).delete(name);
    const at = this.#deps.world.now();
    const data = { peer: name, user: caller.userId };
    await this.#deps.events.record({ type: 'peer.removed', workspaceId, at, data });
  }

  /** Reads the card of a peer and asks it one question, also while it is benched or disabled. Fails like `remove`. */
  async check(
    caller: LoginCaller,
    { workspace, name, requestId }: { workspace: string; name: string; requestId: string },
    signal: AbortSignal,
  ): Promise<CheckOutcome> {
    const peer = this.#of(await this.permit(caller, workspace)).get(name);
    if (!peer) throw noSuchPeer(name);
    const { compared, agreed } = peer.record;
    return { ...(await this.#checked(peer, requestId, signal)), agreement: { compared, agreed } };
  }

  async #checked(
    peer: PeerState,
    requestId: string,
    signal: AbortSignal,
  ): Promise<Omit<CheckOutcome, 'agreement'>> {
    const { name } = peer.record;
    const { world } = this.#deps;
    const startedAt = world.elapsed();
    const fault = await this.#readCard(peer, signal);
    if (fault) return failedCheck(name, fault.message);
    const cardMs = Math.round(world.elapsed() - startedAt);
    const self = this.#isSelf(peer);
    const model = modelAt(peer, 'service/decide', undefined);
    if (self || model === undefined) {
      return {
        ...failedCheck(name, self ? 'it is this daemon itself' : 'it offers no model for decisions'),
        cardMs,
      };
    }
    const outcome = await this.#ask(
      peer,
      { model, request: checkRequest, options: { debias: 'auto' }, isHedge: false },
      {
        requestId,
        context: { via: [this.#deps.nodeId], idempotencyKey: undefined, remainingMs: () => 60_000 },
      },
      signal,
    );
    if (!('answer' in outcome)) {
      return {
        ...failedCheck(name, 'fault' in outcome ? outcome.fault.message : 'the check was canceled'),
        cardMs,
      };
    }
    const answeredBy = outcome.answer.model;
    return {
      name,
      result: 'good',
      message: `It answered as ${answeredBy}.`,
      cardMs,
      decisionMs: Math.round(outcome.ms),
      model: answeredBy,
    };
  }

  async attempts(
    caller: LoginCaller,
    workspace: string,
    page: { peer: string | undefined; limit: number },
  ): Promise<PeerAttemptRecord[]> {
    return await this.#deps.store.attempts(await this.permit(caller, workspace), page);
  }

  /** The peers to ask for a decision: those of the caller's workspace, or of the host's if it has none. */
  async sourceFor(call: PeerCall): Promise<PeerSource | undefined> {
    const { world, nodeId } = this.#deps;
    const peers = this.#askedFor(call.caller);
    if (peers.length === 0) return undefined;
    const unread = peers.filter(
      (peer) => peer.card === undefined && peer.unavailable(world.now()) === undefined,
    );
    if (unread.length > 0)
      await within(world, Promise.all(unread.map((peer) => this.#readCard(peer))), firstCardMs);
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
        const outcome = await this.#ask(peer, { ...question, model }, sent, signal);
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

  /** Reads the cards of peers that were not asked for a while, until aborted. */
  async runBackground(signal: AbortSignal, onFailure: (error: unknown) => void): Promise<void> {
    const read = async () => {
      const now = this.#deps.world.now();
      const due = [...this.#byWorkspace.values()]
        .flatMap((peers) => [...peers.values()])
        .filter((peer) => peer.record.enabled && !peer.isBenched(now) && peer.nextCheckAt <= now);
      await Promise.all(due.map((peer) => this.#readCard(peer, signal)));
    };
    await read().catch(onFailure);
    await Promise.all([
      repeatedly(this.#deps.world, { everyMs: checkEveryMs, signal, onFailure }, read),
      this.#agreement.run(signal),
    ]);
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
      const outcome = await this.#ask(
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
    const { store, onCompared, onFailure } = this.#deps;
    peer.compared(results);
    for (const isSame of results) onCompared(peer.record.name, isSame);
    void store.saveHealth(peer.record, peer.recordedHealth()).catch(onFailure);
  }

  #of(workspaceId: string): Map<string, PeerState> {
    let peers = this.#byWorkspace.get(workspaceId);
    if (!peers) {
      peers = new Map();
      this.#byWorkspace.set(workspaceId, peers);
    }
    return peers;
  }

  #askedFor(caller: Caller): PeerState[] {
    const { hostWorkspace } = this.#deps;
    const enabledOf = (id: string | undefined) =>
      id === undefined
        ? []
        : [...(this.#byWorkspace.get(id)?.values() ?? [])].filter(({ record }) => record.enabled);
    const own = caller.kind === 'anonymous' ? [] : enabledOf(caller.workspaceId);
    return own.length > 0 ? own : enabledOf(hostWorkspace.id);
  }

  /** The model to ask a peer for, or why it is not asked. */
  #unsuited(peer: PeerState, model: string): string | { outcome: string; message: string } {
    const { world, ownIdentity } = this.#deps;
    const unavailable = peer.unavailable(world.now());
    if (unavailable) return unavailable;
    if (this.#isSelf(peer)) return { outcome: 'loop', message: `${peer.name} is this daemon itself` };
    const found = modelAt(peer, model, ownIdentity(model));
    if (found !== undefined) return found;
    return peer.card === undefined
      ? { outcome: peer.record.reason ?? 'timeout', message: `${peer.name} did not send its card` }
      : { outcome: 'model_not_found', message: `${peer.name} does not offer ${model}` };
  }

  #isSelf({ card }: PeerState): boolean {
    return card?.nodeId === this.#deps.nodeId;
  }

  /** Keeps the state of a peer whose address stays: its health does not depend on the other settings. */
  #stored(record: PeerRecord, keepsState: boolean): PeerState {
    const peers = this.#of(record.workspaceId);
    let state = peers.get(record.name);
    if (state && keepsState) {
      state.record = { ...record, ...state.recordedHealth() };
    } else {
      state = new PeerState(record);
      peers.set(record.name, state);
    }
    return state;
  }

  async #addressOf({ name, record }: PeerState): Promise<PeerAddress> {
    const { url, mayBePrivate, keyFingerprint, workspaceId } = record;
    if (keyFingerprint === null) return { name, url, mayBePrivate, key: undefined };
    const secret = await this.#deps.vault.open(`peer-key|${workspaceId}|${record.name}`);
    const key = secret.toString('utf8');
    secret.fill(0);
    return { name, url, mayBePrivate, key };
  }

  async #ask(
    peer: PeerState,
    {
      isHedge,
      ...question
    }: Pick<Parameters<typeof askPeer>[2], 'model' | 'request' | 'options'> & { isHedge: boolean },
    { requestId, context }: { requestId: string; context: Parameters<typeof askPeer>[2]['context'] },
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
    void store.attempted(attempt, peer.recordedHealth(), attemptsKept).catch(onFailure);
  }

  #announceBench(peer: PeerState, ms: number | undefined, reason: string): void {
    if (ms === undefined) return;
    const { workspaceId, name } = peer.record;
    const data = { peer: name, reason, retry_after_ms: ms };
    void this.#deps.events
      .record({ type: 'peer.benched', workspaceId, at: this.#deps.world.now(), data })
      .catch(this.#deps.onFailure);
  }

  #readCard(peer: PeerState, signal?: AbortSignal): ReturnType<typeof readCard> {
    const { client, world, store, onFailure } = this.#deps;
    return readCard(
      {
        client,
        world,
        addressOf: (each) => this.#addressOf(each),
        nextCheckMs: (isBusy) => this.#jittered(isBusy ? busyCardEveryMs : cardEveryMs),
        onBenched: (ms, reason) => {
          this.#announceBench(peer, ms, reason);
          void store.saveHealth(peer.record, peer.recordedHealth()).catch(onFailure);
        },
      },
      peer,
      signal,
    );
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

function noSuchPeer(name: string): ApiError {
  return notFound('peer', name, 'peer');
}
