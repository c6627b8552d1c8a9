/** A limit of how many calls run at a time. */
export interface SlotLimit {
  /** What is limited: a key, model or provider. */
  readonly kind: 'key' | 'model' | 'provider';
  /** Its id or name. */
  readonly name: string;
  /** Calls that run at a time. */
  readonly calls: number;
  /** How long a call waits at most, in milliseconds; 0: none waits. */
  readonly queueMs: number;
  /** Calls that wait at most. */
  readonly queueMax: number;
}

/** How busy a limit is. */
export interface SlotUse extends SlotLimit {
  running: number;
  waiting: number;
}

/** A way to run a call: it needs a slot of each of these limits. */
export type Way = readonly SlotLimit[];

export type Requested =
  /** The call has the slots of this way. */
  | { kind: 'taken'; way: Way }
  | { kind: 'waiting'; waiter: Waiting }
  /** All queues are full. */
  | { kind: 'full'; limit: SlotLimit; retryAfterMs: number };

export interface Waiting {
  /** Of the ways, the one with the shortest queue. */
  readonly limit: SlotLimit;
  /** Counted from 1, in the order in which slots are given when it begins to wait. */
  readonly position: number;
  /** How long it may wait, in milliseconds. */
  readonly queueMs: number;
  /** Ends the wait. Returns false if it already has slots. */
  leave(): boolean;
}

interface LimitState {
  limit: SlotLimit;
  running: number;
  /** How many slots the other daemons have, as far as is known. */
  elsewhere: number;
  /** Those who wait, by owner; the owners in the order of their turns. */
  readonly queues: Map<string, Set<Waiter>>;
  waiting: number;
  /** How long calls keep a slot, on average of the latest ones; undefined before the first. */
  meanMs: number | undefined;
}

interface Waiter {
  owner: string;
  ways: readonly Way[];
  states: readonly LimitState[];
  onTaken: (way: Way) => void;
}

/** The weight of the latest call in the average time. */
const latestWeight = 0.2;

/**
 * Who runs and who waits at each limit. The owners of those that wait take turns; each is first come, first served. A call that
 * can run in several ways takes the first that has free slots; slots of several limits are taken together or not at all.
 *
 * Whoever has a slot of a model also has one of its provider, and whoever has one of a key has those of the keys above it: when
 * the narrower one becomes free, so does the wider one, and no call waits for both for ever.
 */
export class SlotTable {
  readonly #states = new Map<string, LimitState>();

  /**
   * Takes slots, or joins the queues of all ways that are not full; `onTaken` is called when one of them has free slots. `isFirst`
   * is set for one that had its turn in vain.
   */
  request(
    ways: readonly Way[],
    { owner, isFirst = false, onTaken }: { owner: string; isFirst?: boolean; onTaken: (way: Way) => void },
  ): Requested {
    // A reload may have added slots since someone began to wait.
    for (const state of ways.flatMap((way) => way.map((limit) => this.#stateOf(limit))))
      this.#giveFree(state);
    const routes = ways.map((way) => ({ way, states: way.map((limit) => this.#stateOf(limit)) }));
    const requested = ask(routes, { owner, isFirst, onTaken });
    for (const { states } of routes) for (const state of states) this.#forgetIdle(state);
    if (!('waiter' in requested)) return requested;
    const { waiter, ...place } = requested;
    return { kind: 'waiting', waiter: { ...place, leave: () => this.#leave(waiter) } };
  }

  /** Gives back the slots of a way, `heldMs` milliseconds after they were taken; undefined if they were not used. */
  release(way: Way, heldMs: number | undefined): void {
    const states = this.#statesOf(way);
    for (const state of states) {
      state.running -= 1;
      if (heldMs === undefined) continue;
      state.meanMs =
        state.meanMs === undefined ? heldMs : state.meanMs + (heldMs - state.meanMs) * latestWeight;
    }
    for (const state of states) this.#giveFree(state);
    for (const state of states) this.#forgetIdle(state);
  }

  /** Sets how many slots of a limit the other daemons have. */
  setElsewhere(limit: SlotLimit, running: number): void {
    const state = this.#states.get(idOf(limit));
    if (state === undefined) return;
    state.elsewhere = running;
    this.#giveFree(state);
  }

  /** Whether a call waits for a limit. */
  isAwaited(limit: SlotLimit): boolean {
    return (this.#states.get(idOf(limit))?.waiting ?? 0) > 0;
  }

  /** The limits that are used now. */
  use(): SlotUse[] {
    return [...this.#states.values()].map(({ limit, running, waiting }) => ({ ...limit, running, waiting }));
  }

  /** When a slot of a limit is likely to be free for one more, in milliseconds. */
  waitMs(limit: SlotLimit): number {
    const state = this.#states.get(idOf(limit));
    return state ? waitMsOf(state) : 0;
  }

  #statesOf(way: Way): LimitState[] {
    return way.flatMap((limit) => this.#states.get(idOf(limit)) ?? []);
  }

  /** The limit may have changed since. */
  #stateOf(limit: SlotLimit): LimitState {
    const id = idOf(limit);
    const known = this.#states.get(id);
    if (known) {
      known.limit = limit;
      return known;
    }
    const state: LimitState = {
      limit,
      running: 0,
      elsewhere: 0,
      queues: new Map(),
      waiting: 0,
      meanMs: undefined,
    };
    this.#states.set(id, state);
    return state;
  }

  #giveFree(state: LimitState): void {
    while (state.waiting > 0 && isFree(state)) {
      const next = nextOf(state);
      if (next === undefined) return;
      const { waiter, way } = next;
      for (const each of waiter.states) quit(each, waiter);
      for (const taken of this.#statesOf(way)) {
        taken.running += 1;
        moveBack(taken, waiter.owner);
      }
      for (const each of waiter.states) this.#forgetIdle(each);
      waiter.onTaken(way);
    }
  }

  #leave(waiter: Waiter): boolean {
    const [first] = waiter.states;
    if (!first?.queues.get(waiter.owner)?.has(waiter)) return false;
    for (const state of waiter.states) {
      quit(state, waiter);
      this.#forgetIdle(state);
    }
    return true;
  }

  /** Keys come and go. */
  #forgetIdle(state: LimitState): void {
    const id = idOf(state.limit);
    if (state.running === 0 && state.waiting === 0 && this.#states.get(id) === state) this.#states.delete(id);
  }
}

export function idOf({ kind, name }: Pick<SlotLimit, 'kind' | 'name'>): string {
  return `${kind} ${name}`;
}

interface Route {
  way: Way;
  states: readonly LimitState[];
}

type Answer = Exclude<Requested, { kind: 'waiting' }> | (Place & { waiter: Waiter; queueMs: number });

/** Takes the first free route, or waits for those that are not full. */
function ask(
  routes: readonly Route[],
  { isFirst, ...asking }: Pick<Waiter, 'owner' | 'onTaken'> & { isFirst: boolean },
): Answer {
  const free = routes.find(({ states }) => states.every(isFree));
  if (free) {
    for (const state of free.states) state.running += 1;
    return { kind: 'taken', way: free.way };
  }
  const open = isFirst ? routes : routes.filter(({ states }) => states.every(hasRoom));
  if (open.length === 0) return fullest(routes);
  const waiter: Waiter = {
    ...asking,
    ways: open.map(({ way }) => way),
    states: [...new Set(open.flatMap(({ states }) => states))],
  };
  const place = placeOf(open, waiter.owner);
  for (const state of waiter.states) join(state, waiter, isFirst);
  const patienceOf = ({ way }: Route) => Math.min(...way.map(({ queueMs }) => queueMs));
  return { ...place, waiter, queueMs: Math.max(...open.map(patienceOf)) };
}

/** The refusal by the limit whose next slot is likely to be free first. */
function fullest(routes: readonly Route[]): Extract<Requested, { kind: 'full' }> {
  const full = routes.flatMap(({ states }) => states).filter((state) => !hasRoom(state));
  const [first] = full.sort((one, other) => waitMsOf(one) - waitMsOf(other));
  if (first === undefined) throw new TypeError('a call that is refused lacks a slot');
  return { kind: 'full', limit: first.limit, retryAfterMs: waitMsOf(first) };
}

function isFree({ running, elsewhere, limit }: LimitState): boolean {
  return running + elsewhere < limit.calls;
}

/** Whether one more may wait. */
function hasRoom(state: LimitState): boolean {
  const { limit, waiting } = state;
  return isFree(state) || (limit.queueMs > 0 && waiting < limit.queueMax);
}

function waitMsOf({ limit, waiting, meanMs = limit.queueMs }: LimitState): number {
  return (meanMs * (waiting + 1)) / limit.calls;
}

/** Who is next, and in which way. */
function nextOf({ queues }: LimitState): { waiter: Waiter; way: Way } | undefined {
  for (const queue of queues.values()) {
    for (const waiter of queue) {
      const way = waiter.ways.find((limits) =>
        limits.every((limit) => {
          const state = waiter.states.find((each) => idOf(each.limit) === idOf(limit));
          return state !== undefined && isFree(state);
        }),
      );
      if (way !== undefined) return { waiter, way };
    }
  }
  return undefined;
}

interface Place {
  limit: SlotLimit;
  position: number;
}

/** The shortest of the queues that an owner would join, and the place in it. */
function placeOf(routes: readonly Route[], owner: string): Place {
  const places = routes.map(({ states }) =>
    states
      .filter((state) => !isFree(state))
      .map((state) => ({ limit: state.limit, position: positionIn(state, owner) }))
      .reduce((one, other) => (other.position > one.position ? other : one)),
  );
  return places.reduce((one, other) => (other.position < one.position ? other : one));
}

/** Each other owner has as many turns before as this one has calls that wait, and one more if its turn is earlier. */
function positionIn({ queues }: LimitState, owner: string): number {
  const own = queues.get(owner)?.size ?? 0;
  let position = own + 1;
  let isEarlier = true;
  for (const [other, queue] of queues) {
    if (other === owner) isEarlier = false;
    else position += Math.min(queue.size, own + (isEarlier ? 1 : 0));
  }
  return position;
}

function join(state: LimitState, waiter: Waiter, isFirst: boolean): void {
  const { queues } = state;
  const { owner } = waiter;
  state.waiting += 1;
  if (!isFirst) {
    queues.set(owner, (queues.get(owner) ?? new Set()).add(waiter));
    return;
  }
  const others = [...queues];
  queues.clear();
  queues.set(owner, new Set([waiter, ...(others.find(([other]) => other === owner)?.[1] ?? [])]));
  for (const [other, queue] of others) if (other !== owner) queues.set(other, queue);
}

function quit(state: LimitState, waiter: Waiter): void {
  const queue = state.queues.get(waiter.owner);
  if (!queue?.delete(waiter)) return;
  state.waiting -= 1;
  if (queue.size === 0) state.queues.delete(waiter.owner);
}

/** An owner that had its turn is last. */
function moveBack({ queues }: LimitState, owner: string): void {
  const queue = queues.get(owner);
  if (!queue) return;
  queues.delete(owner);
  queues.set(owner, queue);
}
