import type { EarlierCall, QuotaFacts, Subject, ToAuthority, ToMember } from './messages.ts';
import { RecentUse } from './recent-use.ts';

/** What a call takes from its limits. */
export interface Claim {
  /** Each of these lends the amount. */
  money: readonly Subject[];
  /** Each of these lends one request. */
  requests: readonly Subject[];
  /** The most that the call can cost. */
  amount: number;
  /** The amount to take of an affordable one that is too little; undefined if the call cannot be made smaller. */
  fit: (affordable: number) => number | undefined;
}

/** What a call that is not on disk holds, or was charged. */
export interface Taken {
  /** The leases that it is part of; one is added when its limit is set later. */
  leases: readonly Lease[];
  amount: number;
}

/** The limit that refused a call. */
export interface Shortage extends QuotaFacts {
  subject: Subject;
  /** What all limits of the call lent. */
  affordable: number;
  /** The same without this one; infinite if they all suffice. */
  affordableByOthers: number;
}

export type Outcome = { taken: Taken } | { shortage: Shortage };

/** What a member has of a limit. */
export interface Lease {
  readonly subject: Subject;
  /** What was granted and is not spent. */
  left: number;
  /** Of it, what calls hold or were charged without being committed. */
  used: number;
  /** Whether an ask for it is on its way. */
  isAsked: boolean;
  /** The number of the last ask for which it did not suffice. */
  shortAt: number;
  shortage: QuotaFacts | undefined;
  readonly recent: RecentUse;
  /** Whether its limit ended. */
  isVoid: boolean;
}

interface Waiting {
  /** Its limits may change while it waits. */
  claim: () => Claim;
  /** The last ask before it waited: an answer to a later one is about it, too. */
  since: number;
  resolve: (outcome: Outcome) => void;
  reject: (error: Error) => void;
}

export interface MemberDeps {
  /** Delivers in order. */
  send: (message: ToAuthority) => void;
  /** Milliseconds of a clock that only advances. */
  elapsed: () => number;
  /** The calls of a limit that were admitted without it and are not on disk. */
  openCalls?: (subject: Subject) => readonly (EarlierCall & { taken: Taken })[];
}

/**
 * Admits calls within the leases that it was granted, without asking while they suffice. Synchronous: what a grant brings is
 * taken by the calls that wait for it before any other message is read.
 */
export class LeaseMember {
  readonly #deps: MemberDeps;
  readonly #leases = new Map<Subject, Lease>();
  /** Oldest first. */
  readonly #waiting = new Set<Waiting>();
  #asks = 0;
  readonly #asked = new Map<number, readonly Subject[]>();

  constructor(deps: MemberDeps) {
    this.#deps = deps;
  }

  /** Takes what a call needs; undefined if leases do not suffice, and it has to `wait`. */
  take(claim: Claim): Taken | undefined {
    return this.#suffices(claim) ? this.#use(claim, claim.amount) : undefined;
  }

  /**
   * Takes what a call needs as soon as it is granted. Rejects if the authority could not read a limit. `claim` is called
   * again with each answer, as limits may be set and removed meanwhile.
   */
  wait(claim: () => Claim): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      const waiting = { claim, since: this.#asks, resolve, reject };
      this.#waiting.add(waiting);
      this.#attempt(waiting);
    });
  }

  /** A call ended that cost this much; the rest of what it holds may be used again. */
  release(taken: Taken, charged: number): void {
    const rest = taken.amount - charged;
    taken.amount = charged;
    if (rest === 0) return;
    for (const lease of taken.leases) lease.used -= rest;
    if (this.#waiting.size > 0) this.#serve();
  }

  /** The charge of a call is on disk. */
  commit({ leases, amount }: Taken): void {
    if (amount === 0) return;
    for (const lease of leases) {
      lease.used -= amount;
      lease.left -= amount;
      if (!lease.isVoid) this.#deps.send({ kind: 'spent', subject: lease.subject, amount });
    }
  }

  receive(message: ToMember): void {
    if (message.kind === 'recall') {
      const { recall, subject } = message;
      const amount = this.#handIn(subject);
      this.#deps.send({ kind: 'recalled', recall, subject, amount });
    } else if (message.kind === 'count') this.#count(message);
    else if (message.kind === 'forget') this.#forget(message.subject);
    else this.#answered(message);
  }

  /** Gives back what recent calls did not need. To be called every two seconds. */
  tidy(): void {
    const now = this.#deps.elapsed();
    for (const [subject, lease] of this.#leases) {
      const recent = lease.recent.amount(now);
      const surplus = lease.left - lease.used - recent;
      if (surplus > 0) this.#deps.send({ kind: 'given', subject, amount: handIn(lease, surplus) });
      const isIdle = lease.left === 0 && lease.used === 0 && !lease.isAsked && recent === 0;
      if (isIdle) this.#leases.delete(subject);
    }
  }

  /** What is granted and not in use. */
  available(subject: Subject): number {
    const lease = this.#leases.get(subject);
    return lease ? lease.left - lease.used : 0;
  }

  #of(subject: Subject): Lease {
    const known = this.#leases.get(subject);
    if (known) return known;
    const lease = {
      subject,
      left: 0,
      used: 0,
      isAsked: false,
      shortAt: 0,
      shortage: undefined,
      recent: new RecentUse(),
      isVoid: false,
    };
    this.#leases.set(subject, lease);
    return lease;
  }

  #suffices({ requests, money, amount }: Claim): boolean {
    for (const subject of requests) if (this.available(subject) < 1) return false;
    for (const subject of money) if (this.available(subject) < amount) return false;
    return true;
  }

  #lacking({ requests, money, amount }: Claim): Subject[] {
    return [
      ...requests.filter((subject) => this.available(subject) < 1),
      ...money.filter((subject) => this.available(subject) < amount),
    ];
  }

  #use({ requests, money }: Claim, amount: number): Taken {
    const now = this.#deps.elapsed();
    for (const subject of requests) {
      const lease = this.#of(subject);
      lease.left -= 1;
      lease.recent.add(1, now);
      this.#deps.send({ kind: 'spent', subject, amount: 1 });
    }
    const leases: Lease[] = [];
    for (const subject of money) {
      const lease = this.#of(subject);
      lease.used += amount;
      lease.recent.add(amount, now);
      leases.push(lease);
    }
    return { leases, amount };
  }

  #serve(): void {
    for (const waiting of this.#waiting) this.#attempt(waiting);
  }

  #attempt(waiting: Waiting): void {
    const { since } = waiting;
    const claim = waiting.claim();
    const lacking = this.#lacking(claim);
    if (lacking.every((subject) => this.#of(subject).shortAt > since)) {
      this.#waiting.delete(waiting);
      const isEnough = lacking.length === 0;
      waiting.resolve(isEnough ? { taken: this.#use(claim, claim.amount) } : this.#fit(claim, lacking));
      return;
    }
    const subjects = [...claim.requests, ...claim.money];
    if (!subjects.some((subject) => this.#of(subject).isAsked)) this.#ask(claim, subjects);
  }

  /** Decides a call for which the limits do not suffice: it may be made smaller. */
  #fit(claim: Claim, lacking: readonly Subject[]): Outcome {
    const scarcest = [...claim.money].sort((a, b) => this.available(a) - this.available(b))[0];
    const affordable = scarcest === undefined ? claim.amount : Math.max(0, this.available(scarcest));
    const request = lacking.find((subject) => claim.requests.includes(subject));
    const fitting = request === undefined ? claim.fit(affordable) : undefined;
    if (fitting !== undefined) {
      if (fitting > affordable) throw new RangeError(`${fitting} does not fit into ${affordable}`);
      return { taken: this.#use(claim, fitting) };
    }
    const subject = request ?? scarcest ?? '';
    const { shortage } = this.#of(subject);
    if (!shortage) throw new TypeError('no limit applies to this call');
    const others = lacking.filter((each) => each !== subject && claim.money.includes(each));
    const affordableByOthers = Math.min(...others.map((each) => this.available(each)));
    return { shortage: { ...shortage, subject, affordable, affordableByOthers } };
  }

  #ask(claim: Claim, subjects: readonly Subject[]): void {
    this.#asks += 1;
    const ask = this.#asks;
    const now = this.#deps.elapsed();
    const wanted = subjects.map((subject) => {
      const lease = this.#of(subject);
      lease.isAsked = true;
      const need = claim.requests.includes(subject) ? 1 : claim.amount;
      const want = Math.max(need, this.#waitingFor(subject)) + lease.recent.amount(now);
      return { subject, need, want, handedIn: this.#handIn(subject) };
    });
    this.#asked.set(ask, subjects);
    this.#deps.send({ kind: 'ask', ask, wanted });
  }

  #answered(message: ToMember & { kind: 'granted' | 'failed' }): void {
    const { ask } = message;
    const subjects = this.#asked.get(ask) ?? [];
    this.#asked.delete(ask);
    for (const subject of subjects) this.#of(subject).isAsked = false;
    if (message.kind === 'failed') this.#fail(subjects, message.reason);
    else {
      for (const { subject, amount, shortage } of message.granted) {
        const lease = this.#of(subject);
        lease.left += amount;
        if (!shortage) continue;
        lease.shortAt = ask;
        lease.shortage = shortage;
      }
    }
    this.#serve();
  }

  /** From now on, calls that started without the limit are part of it. */
  #count({ load, subject }: ToMember & { kind: 'count' }): void {
    const lease = this.#of(subject);
    const open = this.#deps.openCalls?.(subject) ?? [];
    let amount = 0;
    for (const { taken } of open) {
      taken.leases = [...taken.leases, lease];
      amount += taken.amount;
    }
    lease.left += amount;
    lease.used += amount;
    const calls = open.map(({ requestId, createdAt }) => ({ requestId, createdAt }));
    this.#deps.send({ kind: 'counted', load, subject, calls, amount });
  }

  #forget(subject: Subject): void {
    const lease = this.#leases.get(subject);
    if (!lease) return;
    lease.isVoid = true;
    this.#leases.delete(subject);
    // The ask is answered by what the limit is then.
    if (lease.isAsked) this.#of(subject).isAsked = true;
  }

  #waitingFor(subject: Subject): number {
    let sum = 0;
    for (const waiting of this.#waiting) {
      const { requests, money, amount } = waiting.claim();
      if (requests.includes(subject)) sum += 1;
      else if (money.includes(subject)) sum += amount;
    }
    return sum;
  }

  #handIn(subject: Subject): number {
    const lease = this.#leases.get(subject);
    return lease ? handIn(lease, Math.max(0, lease.left - lease.used)) : 0;
  }

  #fail(subjects: readonly Subject[], reason: string): void {
    for (const waiting of this.#waiting) {
      const { requests, money } = waiting.claim();
      if (!subjects.some((subject) => requests.includes(subject) || money.includes(subject))) continue;
      this.#waiting.delete(waiting);
      waiting.reject(new Error(reason));
    }
  }
}

/** That a lease did not suffice was known of it and what is handed in together. */
function handIn(lease: Lease, amount: number): number {
  if (amount === 0) return 0;
  lease.left -= amount;
  lease.shortAt = 0;
  return amount;
}
