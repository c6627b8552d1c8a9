import { createHash } from 'node:crypto';
import { Mutex } from '../../../shared/async/mutex.ts';
import { peersMax } from '../../../shared/contract/peers.ts';
import { ApiError } from '../../../shared/errors.ts';
import { inputFault, wellFormed } from '../../../shared/faults/input-faults.ts';
import { notFound } from '../../../shared/faults/not-found.ts';
import type { Changes } from '../../base/changes.ts';
import type { Caller, LoginCaller } from '../../base/handler.ts';
import { repeatedly } from '../../base/world.ts';
import type { PeerCall, PeerSource } from '../decisions/index.ts';
import type { Vault } from '../vault/index.ts';
import { managedWorkspace, type Workspaces } from '../workspaces/index.ts';
import { modelAt } from './choose-peer.ts';
import { type CheckOutcome, checkRequest, failedCheck } from './peer-check.ts';
import { PeerContact, type PeerContactDeps, peerKeyName } from './peer-contact.ts';
import { PeerDecisions, type PeerDecisionsDeps } from './peer-decisions.ts';
import { PeerState } from './peer-state.ts';
import { readPeerUrl } from './peer-url.ts';
import type { KeyChange, PeerAttemptRecord, PeerRecord, PeerSettings, PeersStore } from './store.ts';

const checkEveryMs = 5000;
const putAttemptsMax = 5;
const maxInFlightDefault = 4;

export interface PeersDeps extends PeerContactDeps, PeerDecisionsDeps {
  store: PeersStore;
  changes: Changes;
  vault: Pick<Vault, 'seal' | 'open' | 'version'>;
  workspaces: Pick<Workspaces, 'membership' | 'isDaemonOwner'>;
  /** Why an address cannot be that of a peer, as the end of a sentence; undefined if it can. */
  addressProblem: (url: URL, options: { mayBePrivate: boolean }) => string | undefined;
  /** The workspace whose peers are asked for callers without peers of their own. */
  hostWorkspace: { readonly id: string | undefined };
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
  /** A peer that was read before another change must not undo it. */
  readonly #reads = new Mutex();
  readonly #contact: PeerContact;
  readonly #decisions: PeerDecisions;

  constructor(deps: PeersDeps) {
    this.#deps = deps;
    this.#contact = new PeerContact(deps);
    this.#decisions = new PeerDecisions(this.#contact, deps);
    deps.changes.subscribe('peer', ({ workspaceId, name }) =>
      this.#reads.run(async () => {
        const record = await deps.store.find(workspaceId, name);
        if (record) this.#replace(record);
        else this.#of(workspaceId).delete(name);
      }),
    );
  }

  /** Loads the peers; to be awaited before the first decision. */
  async load(): Promise<void> {
    for (const record of await this.#deps.store.all())
      this.#of(record.workspaceId).set(record.name, new PeerState(record));
  }

  /** Fails with `permission` unless the caller manages the workspace. */
  permit(caller: LoginCaller, workspace: string): Promise<string> {
    return managedWorkspace(this.#deps.workspaces, { caller, workspace, action: 'manage its peers' });
  }

  async list(caller: LoginCaller, workspace: string): Promise<PeerState[]> {
    const peers = this.#of(await this.permit(caller, workspace));
    // Other daemons may have added to the counts.
    await Promise.all(
      [...peers.values()].map(async (peer) => {
        const { workspaceId, name, url } = peer.record;
        const stored = await this.#deps.store.find(workspaceId, name);
        if (stored?.url === url) peer.follow(stored);
      }),
    );
    return [...peers.values()].sort((a, b) => (a.record.name < b.record.name ? -1 : 1));
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
    const secretName = peerKeyName({ workspaceId, name });
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
      await events.record({
        type: before ? 'peer.changed' : 'peer.added',
        workspaceId,
        at,
        data: { peer: name, user: caller.userId },
      });
      return this.#of(workspaceId).get(name) ?? new PeerState(record);
    }
    throw new ApiError('unavailable', {
      message: 'The peer is being changed by another request; try again.',
    });
  }

  /** Fails with `permission` or `not_found`. */
  async remove(caller: LoginCaller, workspace: string, name: string): Promise<void> {
    const workspaceId = await this.permit(caller, workspace);
    if (!(await this.#deps.store.remove(workspaceId, name))) throw noSuchPeer(name);
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
    const fault = await this.#contact.readCard(peer, signal);
    if (fault) return failedCheck(name, fault.message);
    const cardMs = Math.round(world.elapsed() - startedAt);
    const self = this.#contact.isSelf(peer);
    const model = modelAt(peer, 'service/decide', undefined);
    if (self || model === undefined) {
      return {
        ...failedCheck(name, self ? 'it is this daemon itself' : 'it offers no model for decisions'),
        cardMs,
      };
    }
    const outcome = await this.#contact.ask(
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
    const peers = this.#askedFor(call.caller);
    return peers.length === 0 ? undefined : await this.#decisions.sourceOf(peers, call);
  }

  /** Reads the cards of peers that were not asked for a while, until aborted. */
  async runBackground(signal: AbortSignal, onFailure: (error: unknown) => void): Promise<void> {
    const read = async () => {
      const now = this.#deps.world.now();
      const due = [...this.#byWorkspace.values()]
        .flatMap((peers) => [...peers.values()])
        .filter((peer) => peer.record.enabled && !peer.isBenched(now) && peer.nextCheckAt <= now);
      await Promise.all(due.map((peer) => this.#contact.readCard(peer, signal)));
    };
    await read().catch(onFailure);
    await Promise.all([
      repeatedly(this.#deps.world, { everyMs: checkEveryMs, signal, onFailure }, read),
      this.#decisions.compare(signal),
    ]);
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

  /** Keeps the state of a peer whose address stays: its health does not depend on the other settings. */
  #replace(record: PeerRecord): void {
    const peers = this.#of(record.workspaceId);
    const state = peers.get(record.name);
    if (state?.record.url === record.url) state.follow(record);
    else peers.set(record.name, new PeerState(record));
  }
}

function noSuchPeer(name: string): ApiError {
  return notFound('peer', name, 'peer');
}
