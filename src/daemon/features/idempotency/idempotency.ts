import { createHash } from 'node:crypto';
import { TransientMap } from '../../../shared/async/transient.ts';
import { whenAborted } from '../../../shared/async/when-aborted.ts';
import { idempotencyKeyCharactersMax } from '../../../shared/contract/model-call.ts';
import { ApiError } from '../../../shared/errors.ts';
import { isObject } from '../../../shared/json/json-object.ts';
import { hasSecret } from '../../../shared/masking/mask-json.ts';
import { type Caller, RelayReply, type StreamReply } from '../../base/handler.ts';
import type { Log } from '../../base/log.ts';
import { pollUntil, repeatedly, type World, within } from '../../base/world.ts';
import type { DataSealer } from '../vault/index.ts';
import { fingerprintOf } from './fingerprint.ts';
import { IdempotencySlot } from './idempotency-slot.ts';
import type { Claimed, IdempotencyStore, KeyClaim, StoredAnswer } from './store.ts';

const keyTtlMs = 24 * 60 * 60 * 1000;
const pruneEveryMs = 60 * 60 * 1000;
const pruneBatch = 500;
/** Longer than any call takes. Applies only to a call that was lost while the daemon kept running. */
const leaseMs = 60 * 60 * 1000;
/** How long a duplicate waits for the first call, unless the call says otherwise. */
const waitMsDefault = 10 * 60 * 1000;
const retryAfterSeconds = 5;

/** A call that may carry an Idempotency-Key. */
export interface OnceCall {
  caller: Caller;
  requestId: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: unknown;
  /** Streams are never replayed. */
  isStreamed: boolean;
  /** Set if the answer contains a secret: it is sealed where it is stored. */
  isSecret?: true;
  /** How long a duplicate waits for the first call before it gets `conflict`, in milliseconds; ten minutes by default. */
  waitMs?: number;
  signal: AbortSignal;
  remoteAddress?: string;
  endpoint: { method: string; path: string };
}

interface Outcome {
  answer: StoredAnswer;
  /** The request that was answered originally. */
  requestId: string;
}

interface Flight {
  fingerprint: string;
  /** Whether this call owns the key and produces the answer, once known. */
  isMine: Promise<boolean>;
  outcome: Promise<Outcome>;
}

type Reply = RelayReply | StreamReply;
/** Produces the answer; with a key, its settlement may store it in the slot. */
type Produce<R extends Reply = Reply> = (signal: AbortSignal, slot?: IdempotencySlot) => Promise<R>;

export interface IdempotencyDeps {
  store: IdempotencyStore;
  sealer: DataSealer;
  /** Whether other daemons run calls, too. */
  hasOthers: () => boolean;
  world: Pick<World, 'now' | 'sleep'>;
  log: Pick<Log, 'warn'>;
}

/**
 * Executes a call once, however often it is sent: the first one with a key runs, and duplicates get its answer for
 * 24 hours. Errors are not stored, so a failed call can be retried with the same key.
 */
export class Idempotency {
  readonly #deps: IdempotencyDeps;
  readonly #flights = new TransientMap<string, Flight>();
  /** Aborted when the daemon stops and its grace period is over. */
  readonly #ending = new AbortController();

  constructor(deps: IdempotencyDeps) {
    this.#deps = deps;
  }

  /**
   * Runs `produce` unless the call's key has an answer. Fails with `invalid_request` for a malformed key, with
   * `idempotency_conflict` when the key belongs to a different request, with `conflict` when its call takes too long.
   * A call with a key continues when its client leaves, so that a retry finds the answer.
   */
  once<R extends Reply>(call: OnceCall, produce: Produce<R>): Promise<R | RelayReply> {
    const header = call.headers['idempotency-key'];
    // Not async, so that calls without a key, nearly all, skip the extra microtasks.
    return header === undefined ? produce(call.signal) : this.#withKey(call, header, produce);
  }

  async #withKey<R extends Reply>(
    call: OnceCall,
    header: string | string[],
    produce: Produce<R>,
  ): Promise<R | RelayReply> {
    const given = parseKey(header);
    if (given === undefined || call.isStreamed) return produce(call.signal);
    const key = storedKey(given);
    const scope = scopeOf(call.caller, call.remoteAddress);
    const fingerprint = await fingerprintOf(call.endpoint, call.body);
    const name = `${scope} ${key}`;
    for (;;) {
      const flight = this.#flights.get(name);
      if (!flight) break;
      if (flight.fingerprint === fingerprint) return replayed(await this.#waitFor(flight, call));
      if (await flight.isMine) throw conflict();
      await flight.outcome.catch(() => {});
    }
    return this.#lead(call, { scope, key, fingerprint, name }, produce);
  }

  /** Frees the keys of calls that a daemon which is gone did not finish. */
  takeOver(daemon: number): Promise<number> {
    return this.#deps.store.releaseLeft(daemon);
  }

  /** Removes expired answers periodically, until aborted. */
  keepPruned(signal: AbortSignal, onFailure: (error: unknown) => void): Promise<void> {
    const { world, store } = this.#deps;
    return repeatedly(world, { everyMs: pruneEveryMs, signal, onFailure }, async () => {
      while (!signal.aborted && (await store.removeExpired(world.now(), pruneBatch)) > 0);
    });
  }

  /** Waits for running calls with a key, and ends them at the deadline. */
  async drain(deadlineMs: number): Promise<void> {
    const { world } = this.#deps;
    await within(world, Promise.allSettled(this.#flights.values().map(({ outcome }) => outcome)), deadlineMs);
    this.#ending.abort();
  }

  async #lead(
    call: OnceCall,
    { scope, key, fingerprint, name }: { scope: string; key: string; fingerprint: string; name: string },
    produce: Produce,
  ): Promise<RelayReply> {
    const { store } = this.#deps;
    const { requestId } = call;
    const claimed = this.#claim(call, { scope, key, fingerprint });
    const isMine = claimed.then(({ state }) => state === 'mine');
    const outcome = claimed.then(async (found): Promise<Outcome> => {
      if (found.state === 'mine') {
        return { requestId, answer: await this.#produce(call, { scope, key }, produce) };
      }
      if (found.fingerprint !== fingerprint) throw conflict();
      const answer = found.state === 'done' ? await store.answer(scope, key) : undefined;
      if (found.state === 'done' && answer) {
        return { requestId: found.requestId, answer: this.#opened(call, { scope, key }, answer) };
      }
      throw stillRunning();
    });
    // There may be no duplicate to handle a rejection.
    isMine.catch(() => {});
    this.#flights.set(name, { fingerprint, isMine, outcome });
    try {
      const result = await outcome;
      return result.requestId === requestId ? plain(result) : replayed(result);
    } finally {
      this.#flights.delete(name);
    }
  }

  /** Claims a key. While another daemon answers the same call, waits for it. */
  async #claim(
    { requestId, waitMs = waitMsDefault }: OnceCall,
    named: Pick<KeyClaim, 'scope' | 'key' | 'fingerprint'>,
  ): Promise<Claimed> {
    const { store, world, hasOthers } = this.#deps;
    const { signal } = this.#ending;
    const until = world.now() + waitMs;
    for (;;) {
      const startedAt = world.now();
      const times = { startedAt, leaseUntil: startedAt + leaseMs, expiresAt: startedAt + keyTtlMs };
      const found = await store.claim({ ...named, requestId, ...times });
      if (found.state !== 'running' || found.fingerprint !== named.fingerprint || !hasOthers()) return found;
      const isOver = async () => !(await store.isRunning(named));
      if (!(await pollUntil(world, { withinMs: until - startedAt, signal }, isOver))) return found;
    }
  }

  /** Produces the answer and stores it; releases the key if there is none. */
  async #produce(
    call: OnceCall,
    { scope, key }: { scope: string; key: string },
    produce: Produce,
  ): Promise<StoredAnswer> {
    const { store, log } = this.#deps;
    const { requestId, signal } = call;
    const mine = { scope, key, requestId };
    const { signal: lasting, release } = this.#lasting(signal);
    const releaseKey = (error?: unknown) => {
      if (error)
        log.warn(
          { err: error, request_id: requestId },
          'an answer could not be stored for its idempotency key',
        );
      return store.release(mine).catch(() => {});
    };
    try {
      const slot = new IdempotencySlot(mine, (answer) => this.#sealed(call, mine, answer));
      const reply = await produce(lasting, slot);
      if (!(reply instanceof RelayReply)) throw new TypeError('streams cannot be replayed');
      const { answer, state } = slot.decide(reply);
      if (state === 'too-long') await releaseKey();
      else if (state === 'to-store') {
        await store.finish(mine, this.#sealed(call, mine, answer)).catch(releaseKey);
      }
      return answer;
    } catch (error) {
      await releaseKey();
      throw error;
    } finally {
      release();
    }
  }

  #sealed(call: OnceCall, claim: Claim, { headers, body }: StoredAnswer): StoredAnswer {
    const mark = call.isSecret ? '' : repeatsSecret(call, body) ? sealedMark : undefined;
    if (mark === undefined) return { headers, body };
    return { headers, body: Buffer.from(mark + this.#deps.sealer.seal(body, boundTo(claim))) };
  }

  #opened({ isSecret }: OnceCall, claim: Claim, { headers, body }: StoredAnswer): StoredAnswer {
    const text = Buffer.from(body);
    const isSealed = isSecret || text.subarray(0, sealedMark.length).toString('latin1') === sealedMark;
    if (!isSealed) return { headers, body };
    const sealed = text.toString().slice(isSecret ? 0 : sealedMark.length);
    const opened = this.#deps.sealer.open(sealed, boundTo(claim));
    if (opened) return { headers, body: opened };
    throw new Error('a stored answer cannot be decrypted');
  }

  /** A signal that outlives the client: aborted with `draining` when the daemon's grace period is over. */
  #lasting(signal: AbortSignal) {
    const controller = new AbortController();
    const { signal: ending } = this.#ending;
    const end = () => controller.abort('draining');
    const onSignal = () => {
      if (signal.reason === 'draining') end();
    };
    const removals = [whenAborted(ending, end), whenAborted(signal, onSignal)];
    const release = () => {
      for (const remove of removals) remove();
    };
    return { signal: controller.signal, release };
  }

  /** The outcome of the first call, while this one's client waits. */
  async #waitFor({ outcome }: Flight, { signal, waitMs = waitMsDefault }: OnceCall): Promise<Outcome> {
    const left = Promise.withResolvers<undefined>();
    const stopWatching = whenAborted(signal, () => left.resolve(undefined));
    try {
      const first = Promise.race([outcome, left.promise]);
      await within(this.#deps.world, first, waitMs);
      // Undefined if there is no result yet; duplicates fail with the first call's error.
      const found = await Promise.race([first, undefined]);
      if (found) return found;
      throw signal.aborted ? new ApiError('unavailable', { retryAfterSeconds: 1 }) : stillRunning();
    } finally {
      stopWatching();
    }
  }
}

/** A credential in the place of a key is stored as its digest. */
function storedKey(key: string): string {
  return hasSecret(key) ? `sha256:${createHash('sha256').update(key).digest('hex')}` : key;
}

/** Starts the stored answer of a call that is not secret by itself, but whose answer has a secret. */
const sealedMark = 'gwx1.';

/** Whether an answer has a secret, such as one that a model repeats. */
function repeatsSecret({ body: request }: OnceCall, answer: Uint8Array): boolean {
  return hasSecret(Buffer.from(answer).toString(), isObject(request) ? request : {});
}

type Claim = Pick<KeyClaim, 'scope' | 'key'>;

const boundTo = ({ scope, key }: Claim): string => `answer|${scope}|${key}`;

function plain({ answer }: Outcome): RelayReply {
  return new RelayReply({ ...answer.headers }, answer.body);
}

function replayed({ answer, requestId }: Outcome): RelayReply {
  return new RelayReply(
    { ...answer.headers, 'idempotent-replayed': 'true', 'x-service-replay-of': requestId },
    answer.body,
  );
}

function conflict(): ApiError {
  return new ApiError('idempotency_conflict', { param: 'Idempotency-Key' });
}

function stillRunning(): ApiError {
  return new ApiError('conflict', {
    param: 'Idempotency-Key',
    message: 'The first request with this key is still running; retry later to get its response.',
    retryAfterSeconds,
  });
}

/**
 * Parses an Idempotency-Key header, with or without the quotes of a structured field. A repeated header arrives as both
 * values joined by a comma and a space, which no valid key contains.
 */
function parseKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  const text = String(header);
  const key = /^".*"$/s.test(text) && text.length > 1 ? text.slice(1, -1) : text;
  if (key.length <= idempotencyKeyCharactersMax && /^[!-~]+$/.test(key)) return key;
  throw new ApiError('invalid_request', {
    param: 'Idempotency-Key',
    message: `\`Idempotency-Key\` must be 1 to ${idempotencyKeyCharactersMax} visible ASCII characters, sent once.`,
  });
}

const loopback = /^(127\.|::1$|::ffff:127\.)/;

/** The namespace of a caller's keys: an API key, a login in a workspace, a token, or the address of an anonymous caller. */
function scopeOf(caller: Caller, remoteAddress = ''): string {
  if (caller.kind === 'key') return `key:${caller.keyId}`;
  if (caller.kind === 'agent') return `agent:${caller.agentId}`;
  if (caller.kind === 'login') return `login:${caller.loginId} ${caller.workspaceId}`;
  if (caller.kind === 'token') return `token:${caller.tokenId}`;
  if (caller.kind === 'autopilot') return `autopilot:${caller.autopilotId}`;
  return `address:${loopback.test(remoteAddress) ? 'loopback' : remoteAddress}`;
}

/**
 * Runs a call with an optional Idempotency-Key once. Its answer contains a secret, so it is sealed where it is stored. Resolves
 * to a reply that is already serialised, as answers are stored in this form.
 */
export function onceSealed(
  idempotency: Pick<Idempotency, 'once'>,
  call: Pick<OnceCall, 'caller' | 'requestId' | 'headers' | 'signal' | 'remoteAddress'> & { body: unknown },
  endpoint: OnceCall['endpoint'],
  produce: () => Promise<RelayReply>,
): Promise<RelayReply> {
  const { caller, requestId, headers, body, signal, remoteAddress } = call;
  const asked: OnceCall = {
    caller,
    requestId,
    headers,
    body,
    signal,
    endpoint,
    isStreamed: false,
    isSecret: true,
    ...(remoteAddress !== undefined && { remoteAddress }),
  };
  return idempotency.once(asked, produce);
}
