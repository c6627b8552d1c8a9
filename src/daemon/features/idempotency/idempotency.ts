import { ApiError } from '../../../shared/errors.ts';
import { type Caller, RelayReply, type StreamReply } from '../../handler.ts';
import { repeatedly, type World, within } from '../../world.ts';
import { AnswerPlace } from './answer-place.ts';
import { fingerprintOf } from './fingerprint.ts';
import type { IdempotencyStore, KeptAnswer } from './idempotency-store.ts';
import { keyIn, scopeOf } from './key.ts';

const keptMs = 24 * 60 * 60 * 1000;
const pruneEveryMs = 60 * 60 * 1000;
const prunedAtOnce = 500;
/** Longer than any call takes. Only a call that was lost without the daemon's end is ever held so long. */
const leaseMs = 60 * 60 * 1000;
/** How long a twin waits for the first call before it is told to come back. */
const waitMaxMs = 10 * 60 * 1000;
const comeBackSeconds = 5;

/** A call that may carry an Idempotency-Key. */
export interface OnceCall {
  caller: Caller;
  requestId: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: unknown;
  /** Streams are made anew each time. */
  isStreamed: boolean;
  signal: AbortSignal;
  remoteAddress?: string;
  endpoint: { method: string; path: string };
}

interface Outcome {
  answer: KeptAnswer;
  /** The request that was answered first. */
  requestId: string;
}

interface Flight {
  fingerprint: string;
  /** Whether this call makes the answer, once that is known; otherwise an earlier one has made it. */
  isMine: Promise<boolean>;
  outcome: Promise<Outcome>;
}

type Reply = RelayReply | StreamReply;
/** Makes the answer; with a key it may be kept in its place by whoever makes it. */
type Make = (signal: AbortSignal, place?: AnswerPlace) => Promise<Reply>;

export interface IdempotencyNeeds {
  store: IdempotencyStore;
  world: Pick<World, 'now' | 'sleep'>;
  log: { warn(details: object, message: string): void };
}

/**
 * Makes a call happen once however often it is sent: the first one with a key is made, its twins get its answer, for
 * 24 hours. Only answers are kept: what failed can be tried again with the same key.
 */
export class Idempotency {
  readonly #needs: IdempotencyNeeds;
  readonly #flights = new Map<string, Flight>();
  /** Aborted when the daemon stops and waits no longer. */
  readonly #ending = new AbortController();

  constructor(needs: IdempotencyNeeds) {
    this.#needs = needs;
  }

  /**
   * Runs `make` unless the call's key has an answer. Fails with `invalid_request` for what is no key, with
   * `idempotency_conflict` when the key stands for another call, with `conflict` when its call takes too long.
   * A call with a key runs on when its client leaves, so that the client finds its answer when it asks again.
   */
  once(call: OnceCall, make: Make): Promise<Reply> {
    const header = call.headers['idempotency-key'];
    // Not an async function: calls without a key, nearly all, are spared its turns of the microtask queue.
    return header === undefined ? make(call.signal) : this.#withKey(call, header, make);
  }

  async #withKey(call: OnceCall, header: string | string[], make: Make): Promise<Reply> {
    const key = keyIn(header);
    if (key === undefined || call.isStreamed) return make(call.signal);
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
    return this.#lead(call, { scope, key, fingerprint, name }, make);
  }

  /** Frees what an earlier daemon left behind; to be called before the first call. */
  recover(): Promise<number> {
    return this.#needs.store.releaseAll();
  }

  /** Drops what is kept too long, now and then, until aborted. */
  keepPruned(signal: AbortSignal, onFailure: (error: unknown) => void): Promise<void> {
    const { world, store } = this.#needs;
    return repeatedly(world, { everyMs: pruneEveryMs, signal, onFailure }, async () => {
      while (!signal.aborted && (await store.removeExpired(world.now(), prunedAtOnce)) > 0);
    });
  }

  /** Waits for the calls whose clients may have left, and ends them at the deadline. */
  async drain(deadlineMs: number): Promise<void> {
    const { world } = this.#needs;
    await within(
      world,
      Promise.allSettled([...this.#flights.values()].map(({ outcome }) => outcome)),
      deadlineMs,
    );
    this.#ending.abort();
  }

  async #lead(
    call: OnceCall,
    { scope, key, fingerprint, name }: { scope: string; key: string; fingerprint: string; name: string },
    make: Make,
  ): Promise<Reply> {
    const { store, world } = this.#needs;
    const { requestId } = call;
    const startedAt = world.now();
    const claimed = store.claim({
      scope,
      key,
      fingerprint,
      requestId,
      startedAt,
      leaseUntil: startedAt + leaseMs,
      expiresAt: startedAt + keptMs,
    });
    const isMine = claimed.then(({ state }) => state === 'mine');
    const outcome = claimed.then(async (found): Promise<Outcome> => {
      if (found.state === 'mine') {
        return { requestId, answer: await this.#make(call, { scope, key }, make) };
      }
      if (found.fingerprint !== fingerprint) throw conflict();
      const answer = found.state === 'done' ? await store.answer(scope, key) : undefined;
      if (found.state === 'done' && answer) return { requestId: found.requestId, answer };
      throw stillRunning();
    });
    // Twins may come or not.
    isMine.catch(() => {});
    this.#flights.set(name, { fingerprint, isMine, outcome });
    try {
      const made = await outcome;
      return made.requestId === requestId ? plain(made) : replayed(made);
    } finally {
      this.#flights.delete(name);
    }
  }

  /** Makes the answer and keeps it; gives the key back when there is none. */
  async #make(
    { requestId, signal }: OnceCall,
    { scope, key }: { scope: string; key: string },
    make: Make,
  ): Promise<KeptAnswer> {
    const { store, log } = this.#needs;
    const mine = { scope, key, requestId };
    const { signal: lasting, release } = this.#lasting(signal);
    const giveBack = (error?: unknown) => {
      if (error) log.warn({ err: error, request_id: requestId }, 'an answer could not be kept for its key');
      return store.release(mine).catch(() => {});
    };
    try {
      const place = new AnswerPlace(mine);
      const reply = await make(lasting, place);
      if (!(reply instanceof RelayReply)) throw new TypeError('only whole answers can be given again');
      const { answer, state } = place.judge(reply);
      if (state === 'too-long') await giveBack();
      else if (state === 'to-keep') await store.finish(mine, answer).catch(giveBack);
      return answer;
    } catch (error) {
      await giveBack();
      throw error;
    } finally {
      release();
    }
  }

  /** A signal that outlives the client: aborted, with `draining`, when the daemon will wait no longer. */
  #lasting(signal: AbortSignal) {
    const controller = new AbortController();
    const { signal: ending } = this.#ending;
    const end = () => controller.abort('draining');
    const onSignal = () => {
      if (signal.reason === 'draining') end();
    };
    if (ending.aborted) end();
    onSignal();
    ending.addEventListener('abort', end, { once: true });
    signal.addEventListener('abort', onSignal, { once: true });
    const release = () => {
      ending.removeEventListener('abort', end);
      signal.removeEventListener('abort', onSignal);
    };
    return { signal: controller.signal, release };
  }

  /** The outcome of the call that was first, as long as this one's client waits. */
  async #waitFor({ outcome }: Flight, { signal }: OnceCall): Promise<Outcome> {
    const left = Promise.withResolvers<undefined>();
    const leave = () => left.resolve(undefined);
    signal.addEventListener('abort', leave, { once: true });
    try {
      const first = Promise.race([outcome, left.promise]);
      await within(this.#needs.world, first, waitMaxMs);
      // Nothing when it has not come yet; what the first call failed with is what its twins fail with.
      const found = await Promise.race([first, undefined]);
      if (found) return found;
      throw signal.aborted ? new ApiError('unavailable', { retryAfterSeconds: 1 }) : stillRunning();
    } finally {
      signal.removeEventListener('abort', leave);
    }
  }
}

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
    message: 'The first call with this key is still running; send it again later to get its answer.',
    retryAfterSeconds: comeBackSeconds,
  });
}
