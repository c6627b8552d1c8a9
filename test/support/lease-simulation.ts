import type fc from 'fast-check';
import { LeaseAuthority } from '../../src/daemon/features/metering/leases/authority.ts';
import {
  type Claim,
  LeaseMember,
  type Outcome,
  type Taken,
} from '../../src/daemon/features/metering/leases/member.ts';
import type { Subject, ToAuthority, ToMember } from '../../src/daemon/features/metering/leases/messages.ts';
import type { QuotaTerms } from '../../src/daemon/features/metering/leases/quota.ts';

/** A call of a member, as a test plans it. */
export interface PlannedCall {
  by: number;
  money: readonly Subject[];
  /** A limit that may be set and removed while calls run. */
  changing?: Subject;
  requests?: readonly Subject[];
  amount: number;
  /** Of the amount that it holds, from 0 to 1. */
  chargedShare: number;
  canShrink?: boolean;
  /** Whether it never ends. */
  lasts?: boolean;
}

export interface SeenCall {
  call: PlannedCall;
  /** Undefined while it waits. */
  outcome: Outcome | undefined;
  /** What it held at first. */
  amount: number | undefined;
  admittedAt: number | undefined;
  /** The least that its limits can have had left while it waited. */
  leastFree: ReadonlyMap<Subject, number> | undefined;
}

/** A call that is admitted and not known to be on disk. */
interface OpenCall {
  seen: SeenCall;
  requestId: string;
  createdAt: number;
  taken: Taken;
  charged: number;
  /** The limits that count it now. */
  subjects: Set<Subject>;
  isHeldOnDisk: boolean;
}

/** Messages in one direction, delivered in order and at any time. */
class Link<M> {
  readonly queue: M[] = [];
  isCut = false;
  /** Whether messages wait. */
  isFrozen = false;
  readonly #deliver: (message: M) => void;
  readonly #schedule: (work: () => void) => void;

  constructor(deliver: (message: M) => void, schedule: (work: () => void) => void) {
    this.#deliver = deliver;
    this.#schedule = schedule;
  }

  readonly send = (message: M): void => {
    if (this.isCut) return;
    this.queue.push(message);
    if (this.isFrozen) return;
    this.#schedule(() => {
      const next = this.queue.shift();
      if (next !== undefined) this.#deliver(next);
    });
  };

  cut(): void {
    this.isCut = true;
    this.queue.length = 0;
  }
}

interface SimulatedMember {
  readonly lease: LeaseMember;
  readonly up: Link<ToAuthority>;
  readonly down: Link<ToMember>;
  /** What its calls hold or were charged. */
  readonly use: Map<Subject, number>;
  /** The charges among it that are committed. */
  readonly committed: Map<Subject, number>;
  /** The most that was in use since a call began to wait, by that call. */
  readonly peaks: Map<SeenCall, Map<Subject, number>>;
  readonly open: Set<OpenCall>;
  /** Charges on disk, and of these what the authority learned of. */
  readonly onDisk: Map<Subject, number>;
  readonly reported: Map<Subject, number>;
  isFenced: boolean;
}

/** An authority and its members, whose messages, commits and ends of calls happen in the scheduler's order. */
export class LeaseSimulation {
  readonly authority: LeaseAuthority<number>;
  readonly members: readonly SimulatedMember[];
  readonly seen: SeenCall[] = [];
  /** What calls were charged on disk, by the limits that they had then. */
  readonly charged = new Map<Subject, number>();
  /** Whether the limits that change are set. */
  isSet = false;
  now = Date.UTC(2026, 10, 26, 9);
  elapsed = 0;
  readonly #scheduler: fc.Scheduler;
  readonly #terms: ReadonlyMap<Subject, QuotaTerms>;
  readonly #totals = new Map<Subject, number>();
  readonly #disk: { requestId: string; call: PlannedCall; charged: number }[] = [];
  #failure: unknown;

  constructor(
    scheduler: fc.Scheduler,
    options: { members: number; terms: Readonly<Record<Subject, QuotaTerms>> },
  ) {
    this.#scheduler = scheduler;
    this.#terms = new Map(Object.entries(options.terms));
    this.authority = new LeaseAuthority<number>({
      clock: { now: () => this.now, elapsed: () => this.elapsed },
      load: (subject, calls) =>
        this.#scheduler.schedule(Promise.resolve(), `load ${subject}`).then(() => {
          const terms = this.#terms.get(subject);
          if (!terms) throw new Error(`${subject} cannot be read`);
          const isChanging = this.seen.some(({ call }) => call.changing === subject);
          if (isChanging && !this.isSet) return undefined;
          const except = new Set(calls.map(({ requestId }) => requestId));
          const stored = this.#disk.filter(
            ({ requestId, call }) => call.changing === subject && !except.has(requestId),
          );
          return stored.length > 0
            ? { ...terms, spent: stored.reduce((sum, { charged }) => sum + charged, 0) }
            : terms;
        }),
    });
    this.members = Array.from({ length: options.members }, (_, index) => this.#join(index));
  }

  /** Schedules a call and its end. */
  start(call: PlannedCall): void {
    const seen: SeenCall = {
      call,
      outcome: undefined,
      amount: undefined,
      admittedAt: undefined,
      leastFree: undefined,
    };
    this.seen.push(seen);
    this.#later(`call of ${call.by}`, () => this.#arrive(seen));
  }

  /** Schedules anything else. */
  at(label: string, work: () => void): void {
    this.#later(label, work);
  }

  setLimit(subject: Subject, limit: number): void {
    this.#later('limit', () => {
      this.#check();
      void this.authority.setLimit(subject, limit);
    });
  }

  /** Sets or removes the limits that change. */
  toggle(subject: Subject): void {
    this.#later('toggle', () => {
      this.isSet = !this.isSet;
      if (this.isSet) return;
      this.authority.forget(subject);
      this.#totals.delete(subject);
    });
  }

  /** Runs all that is scheduled, and what follows from it. */
  async settle(): Promise<void> {
    await this.#scheduler.waitIdle();
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Lets time pass, so that members that do not answer are no longer waited for. */
  async passPatience(): Promise<void> {
    this.elapsed += 1_000;
    this.authority.tick();
    await this.settle();
  }

  /** A member dies, or freezes for so long that another one takes over; what it sends later is refused. */
  takeOver(index: number): void {
    const member = this.#member(index);
    if (member.isFenced) return;
    member.isFenced = true;
    member.up.cut();
    member.down.cut();
    this.authority.fence(index);
    this.#later(`successor of ${index}`, () => {
      for (const call of member.open) if (call.isHeldOnDisk) this.#write(member, call);
      member.open.clear();
      const unreported = new Map<Subject, number>();
      for (const [subject, amount] of member.onDisk) {
        unreported.set(subject, amount - (member.reported.get(subject) ?? 0));
      }
      this.authority.settle(index, unreported);
    });
  }

  /** What is not spent of a limit, not held by calls and not charged. */
  trulyFree(subject: Subject): number {
    return this.#freeWith(subject, ({ use }) => use.get(subject) ?? 0);
  }

  #freeWith(subject: Subject, used: (member: SimulatedMember) => number): number {
    const spent = this.#terms.get(subject)?.spent;
    const limit = this.authority.factsOf(subject)?.limit ?? 0;
    return (
      limit -
      (typeof spent === 'number' ? spent : 0) -
      this.members.reduce((sum, member) => sum + used(member), 0)
    );
  }

  /** Fails if any invariant of leases does not hold now. */
  #check(): void {
    for (const subject of this.#terms.keys()) {
      const facts = this.authority.factsOf(subject);
      if (!facts) continue;
      const total = facts.spent + facts.out;
      if (total > facts.limit && total > (this.#totals.get(subject) ?? total)) {
        throw new Error(`${total} of ${subject} is granted, and its limit is ${facts.limit}`);
      }
      this.#totals.set(subject, total);
      const out = this.members.reduce((sum, member) => sum + this.#heldBy(member, subject), 0);
      const areAllThere = this.members.every(({ isFenced }) => !isFenced);
      if (areAllThere && out !== facts.out) {
        throw new Error(`${facts.out} of ${subject} is out, but members have ${out}`);
      }
    }
  }

  /** What a member has of a subject, with what is on its way. */
  #heldBy({ lease, up, down, use, committed }: SimulatedMember, subject: Subject): number {
    const available = lease.available(subject);
    if (available < 0) throw new Error(`a member uses more of ${subject} than it has`);
    const sent = up.queue.reduce((sum, message) => sum + returned(message, subject), 0);
    const coming = down.queue.reduce((sum, message) => sum + grantedBy(message, subject), 0);
    return available + (use.get(subject) ?? 0) - (committed.get(subject) ?? 0) + sent + coming;
  }

  #join(index: number): SimulatedMember {
    const schedule = (label: string) => (work: () => void) => this.#later(label, work);
    const up: Link<ToAuthority> = new Link(
      (message) => {
        const member = this.#member(index);
        if (message.kind === 'spent') add(member.reported, message.subject, message.amount);
        this.authority.receive(index, message);
      },
      schedule(`${index} to authority`),
    );
    const lease = new LeaseMember({
      send: up.send,
      elapsed: () => this.elapsed,
      openCalls: (subject) => this.#openCalls(this.#member(index), subject),
    });
    const down: Link<ToMember> = new Link(
      (message) => {
        if (message.kind === 'forget') this.#forget(this.#member(index), message.subject);
        lease.receive(message);
      },
      schedule(`authority to ${index}`),
    );
    this.authority.join(index, down.send);
    return {
      lease,
      up,
      down,
      use: new Map(),
      committed: new Map(),
      peaks: new Map(),
      open: new Set(),
      onDisk: new Map(),
      reported: new Map(),
      isFenced: false,
    };
  }

  #member(index: number): SimulatedMember {
    const member = this.members[index];
    if (!member) throw new RangeError(`there is no member ${index}`);
    return member;
  }

  /** The calls that a limit counts although it was not set when they started. */
  #openCalls(member: SimulatedMember, subject: Subject): OpenCall[] {
    const calls = [...member.open].filter(
      ({ seen, subjects }) => seen.call.changing === subject && !subjects.has(subject),
    );
    for (const { taken, subjects } of calls) {
      subjects.add(subject);
      this.#uses(member, subject, taken.amount);
    }
    return calls;
  }

  #forget(member: SimulatedMember, subject: Subject): void {
    member.use.delete(subject);
    member.committed.delete(subject);
    for (const { subjects } of member.open) subjects.delete(subject);
  }

  #later(label: string, work: () => void): void {
    this.#scheduler
      .schedule(Promise.resolve(), label)
      .then(async () => {
        work();
        // Calls that were waiting for it continue first.
        await undefined;
        this.#check();
      })
      .catch((error: unknown) => {
        this.#failure ??= error;
      });
  }

  #arrive(seen: SeenCall): void {
    const { call } = seen;
    const member = this.#member(call.by);
    if (member.isFenced) return;
    const moneyNow = () =>
      this.isSet && call.changing !== undefined ? [...call.money, call.changing] : call.money;
    const claim = (): Claim => ({
      money: moneyNow(),
      requests: call.requests ?? [],
      amount: call.amount,
      fit: (affordable) => (call.canShrink && affordable > 0 ? affordable : undefined),
    });
    const taken = member.lease.take(claim());
    if (taken) {
      this.#admitted(seen, taken);
      return;
    }
    for (const each of this.members) each.peaks.set(seen, new Map(each.use));
    member.lease.wait(claim).then(
      (outcome) => {
        if ('taken' in outcome) this.#admitted(seen, outcome.taken);
        else seen.outcome = outcome;
        const least = (subject: Subject) =>
          this.#freeWith(subject, ({ peaks }) => peaks.get(seen)?.get(subject) ?? 0);
        seen.leastFree = new Map(call.money.map((subject) => [subject, least(subject)]));
        for (const { peaks } of this.members) peaks.delete(seen);
      },
      (error: unknown) => {
        this.#failure ??= error;
      },
    );
  }

  #admitted(seen: SeenCall, taken: Taken): void {
    const money = taken.leases.map(({ subject }) => subject);
    const member = this.#member(seen.call.by);
    const { amount } = taken;
    seen.outcome = { taken };
    seen.amount = amount;
    seen.admittedAt = this.elapsed;
    for (const subject of money) this.#uses(member, subject, amount);
    const open: OpenCall = {
      seen,
      requestId: `req_${this.seen.indexOf(seen)}`,
      createdAt: this.now,
      taken,
      charged: Math.floor(amount * seen.call.chargedShare),
      subjects: new Set(money),
      isHeldOnDisk: false,
    };
    member.open.add(open);
    // A hold that is not on disk when its member dies was never used: the provider is asked afterwards.
    this.#later('hold on disk', () => {
      if (member.isFenced) return;
      open.isHeldOnDisk = true;
      if (!seen.call.lasts) this.#later('end of a call', () => this.#end(member, open, amount));
    });
  }

  #end(member: SimulatedMember, open: OpenCall, amount: number): void {
    if (member.isFenced) return;
    const { taken, charged, subjects } = open;
    member.lease.release(taken, charged);
    for (const subject of subjects) this.#uses(member, subject, charged - amount);
    this.#later('commit', () => {
      // The settlement of a member that was taken over fails.
      if (member.isFenced) return;
      open.isHeldOnDisk = false;
      this.#write(member, open);
      // The answer of the commit may come later, or not at all.
      this.#later('committed', () => {
        member.open.delete(open);
        member.lease.commit(taken);
        for (const subject of subjects) add(member.committed, subject, charged);
      });
    });
  }

  #write(member: SimulatedMember, { seen, requestId, charged, subjects }: OpenCall): void {
    this.#disk.push({ requestId, call: seen.call, charged });
    for (const subject of subjects) {
      add(member.onDisk, subject, charged);
      add(this.charged, subject, charged);
    }
  }

  #uses(member: SimulatedMember, subject: Subject, amount: number): void {
    const now = add(member.use, subject, amount);
    for (const peak of member.peaks.values()) peak.set(subject, Math.max(now, peak.get(subject) ?? 0));
  }
}

function add(sums: Map<Subject, number>, subject: Subject, amount: number): number {
  const sum = (sums.get(subject) ?? 0) + amount;
  sums.set(subject, sum);
  return sum;
}

function returned(message: ToAuthority, subject: Subject): number {
  if (message.kind === 'counted') return 0;
  if (message.kind !== 'ask') return message.subject === subject ? message.amount : 0;
  return message.wanted.reduce((sum, each) => sum + (each.subject === subject ? each.handedIn : 0), 0);
}

function grantedBy(message: ToMember, subject: Subject): number {
  if (message.kind !== 'granted') return 0;
  return message.granted.reduce((sum, each) => sum + (each.subject === subject ? each.amount : 0), 0);
}
