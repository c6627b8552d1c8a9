import { whenAborted } from '../../../shared/async/when-aborted.ts';
import type { World } from '../../base/world.ts';
import type { LimitedRoute } from './limits.ts';
import { queueFull, waitedTooLong } from './queue-errors.ts';
import type { SharedSlots } from './shared-slots.ts';
import { idOf, type Requested, type SlotLimit, type SlotTable, type Way } from './slot-table.ts';

/** A call that waits. */
export interface QueuedCall {
  limit: SlotLimit;
  /** Counted from 1. */
  position: number;
}

/** How a call waited. */
export type QueueWait = {
  /** What it waited for: a key, model or provider, and its id or name. */
  limit: SlotLimit['kind'];
  name: string;
  /** Its position when it began to wait, counted from 1. */
  position: number;
  /** When it began, in milliseconds since the call arrived. */
  startedMs: number;
  ms: number;
};

export interface CallSlotsDeps {
  table: SlotTable;
  world: Pick<World, 'elapsed' | 'sleep'>;
  limitsOf: (route: LimitedRoute) => Way;
  /** Set where several daemons may make calls. */
  shared?: SharedSlots | undefined;
}

export interface SlotCall {
  /** Whose calls take turns with those of others. */
  owner: string;
  /** When it arrived, by `elapsed`. */
  startedAt: number;
  /** Called when it begins to wait. */
  onQueued?: (queued: QueuedCall) => void;
}

interface Held {
  way: Way;
  since: number;
  /** The numbers of the slots in the database, where several daemons share them. */
  shared?: readonly number[] | undefined;
}

/**
 * The slots of one call: those of its key, and those of the route that it tries or whose answer it reads. They are given back
 * by `release`, whatever ends the call.
 */
export class CallSlots {
  readonly #deps: CallSlotsDeps;
  readonly #call: SlotCall;
  /** Each wait that is over, in order. */
  readonly waits: QueueWait[] = [];
  #ofKey: Held | undefined;
  #ofRoute: Held | undefined;
  /** Whether the slots of a route were taken before it is tried. */
  #isAhead = false;
  #isOver = false;

  constructor(deps: CallSlotsDeps, call: SlotCall) {
    this.#deps = deps;
    this.#call = call;
  }

  /**
   * Takes the slots of a key, then those of the first route that has free ones, before the call is admitted. Fails with
   * `rate_limited` if the queue is full or the wait too long, and with the signal's reason.
   */
  async enter(ofKey: Way, routes: readonly LimitedRoute[], signal: AbortSignal): Promise<void> {
    await this.#take([ofKey], signal, (held) => {
      this.#ofKey = held;
    });
    await this.take(routes, signal);
    this.#isAhead = true;
  }

  /**
   * Resolves to the route to try: the first that has free slots. Those of an earlier route are given back. Fails as `enter` does.
   */
  async take<R extends LimitedRoute>(routes: readonly R[], signal: AbortSignal): Promise<R> {
    const healthy = routes.filter(({ isLastResort }) => !isLastResort);
    // Routes that failed lately are no way around a queue.
    const usable = healthy.length > 0 ? healthy : routes;
    const ways = usable.map((route) => this.#deps.limitsOf(route));
    const ahead = this.#isAhead ? this.#ofRoute : undefined;
    this.#isAhead = false;
    const known = ahead && usable.find((_, index) => isSame(ways[index], ahead.way));
    if (known) return known;
    this.#ofRoute = this.#giveBack(this.#ofRoute);
    const way = await this.#takeRoute(ways, signal);
    return usable[ways.indexOf(way)] as R;
  }

  /** Gives all slots back, now and when one comes late. Does nothing the second time. */
  release(): void {
    this.#isOver = true;
    this.#ofRoute = this.#giveBack(this.#ofRoute);
    this.#ofKey = this.#giveBack(this.#ofKey);
  }

  #takeRoute(ways: readonly Way[], signal: AbortSignal): Promise<Way> {
    return this.#take(ways, signal, (held) => {
      this.#ofRoute = held;
    });
  }

  async #take(ways: readonly Way[], signal: AbortSignal, hold: (held: Held) => void): Promise<Way> {
    const { shared, world } = this.#deps;
    const queue = new Queue(this.#call, world);
    try {
      let refused: Way | undefined;
      for (;;) {
        const held = await this.#turn(ways, signal, { refused, queue });
        if (shared && held.way.length > 0) {
          held.shared = await this.#share(held, shared);
          refused = held.way;
          if (held.shared === undefined) continue;
        }
        if (this.#isOver) this.#giveBack(held);
        else hold(held);
        return held.way;
      }
    } finally {
      const wait = queue.end();
      if (wait) this.waits.push(wait);
    }
  }

  /** Waits for slots that this daemon has free, and gives those back of which the database has none. */
  async #turn(
    ways: readonly Way[],
    signal: AbortSignal,
    { refused, queue }: { refused: Way | undefined; queue: Queue },
  ): Promise<Held> {
    const { shared, table, world } = this.#deps;
    const turn = Promise.withResolvers<Held>();
    const onTaken = (way: Way) => turn.resolve({ way, since: world.elapsed() });
    const asking = { owner: this.#call.owner, isFirst: refused !== undefined, onTaken };
    let requested: Requested;
    try {
      signal.throwIfAborted();
      requested = table.request(ways, asking);
    } finally {
      // Not before: a table that nobody uses forgets that other daemons have the slots, and this call would ask again at once.
      if (refused) table.release(refused, undefined);
    }
    if (requested.kind === 'taken') return { way: requested.way, since: world.elapsed() };
    if (requested.kind === 'full') throw queueFull(requested.limit, requested.retryAfterMs);
    const { waiter } = requested;
    const { limit, position, queueMs } = waiter;
    if (queueMs === 0 && waiter.leave()) throw queueFull(limit, table.waitMs(limit));
    shared?.watch(ways.flat());
    const leftMs = queue.join({ limit, position }, queueMs);
    const over = new AbortController();
    const endWatch = whenAborted(signal, () => {
      if (waiter.leave()) turn.reject(signal.reason);
    });
    world.sleep(leftMs, over.signal).then(
      () => {
        if (waiter.leave()) turn.reject(waitedTooLong({ ...limit, queueMs }, table.waitMs(limit)));
      },
      () => {},
    );
    try {
      return await turn.promise;
    } finally {
      endWatch();
      over.abort();
    }
  }

  /** Takes the slots in the database, too; undefined if other daemons have them. */
  async #share({ way }: Held, shared: SharedSlots): Promise<readonly number[] | undefined> {
    try {
      return await shared.take(way);
    } catch (error) {
      this.#deps.table.release(way, undefined);
      throw error;
    }
  }

  #giveBack(held: Held | undefined): undefined {
    if (!held) return;
    const { table, shared, world } = this.#deps;
    if (held.shared) void shared?.release(held.shared);
    table.release(held.way, world.elapsed() - held.since);
  }
}

/** One wait of a call, which may have several turns in vain. */
class Queue {
  readonly #call: SlotCall;
  readonly #world: Pick<World, 'elapsed'>;
  #joined: { queued: QueuedCall; since: number; queueMs: number } | undefined;

  constructor(call: SlotCall, world: Pick<World, 'elapsed'>) {
    this.#call = call;
    this.#world = world;
  }

  /** Begins or continues the wait. Returns how long it may last, in milliseconds. */
  join(queued: QueuedCall, queueMs: number): number {
    const now = this.#world.elapsed();
    if (this.#joined === undefined) {
      this.#joined = { queued, since: now, queueMs };
      this.#call.onQueued?.(queued);
    }
    const { since, queueMs: allowedMs } = this.#joined;
    return Math.max(0, since + allowedMs - now);
  }

  /** Undefined if it did not wait. */
  end(): QueueWait | undefined {
    if (this.#joined === undefined) return undefined;
    const { queued, since } = this.#joined;
    const { limit, position } = queued;
    const startedMs = tenths(since - this.#call.startedAt);
    const ms = tenths(this.#world.elapsed() - since);
    return { limit: limit.kind, name: limit.name, position, startedMs, ms };
  }
}

function isSame(one: Way | undefined, other: Way): boolean {
  return (
    one?.length === other.length &&
    one.every((limit, index) => idOf(limit) === idOf(other[index] as SlotLimit))
  );
}

function tenths(ms: number): number {
  return Math.round(ms * 10) / 10;
}
