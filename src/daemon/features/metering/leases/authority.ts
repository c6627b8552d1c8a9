import type { EarlierCall, Granted, QuotaFacts, Subject, ToAuthority, ToMember, Wanted } from './messages.ts';
import { type Clock, Quota, type QuotaTerms } from './quota.ts';

/** How long members may take to answer a recall, in milliseconds. */
const defaultPatienceMs = 400;

/** A part of a limit that members do not use yet is worth lending only if each can have several calls of it. */
const callsPerMember = 4;

export interface AuthorityDeps {
  clock: Clock;
  /**
   * Reads a limit when a member first asks for it, without the charges of these calls, but with their requests. Undefined for
   * one that no longer exists.
   */
  load: (subject: Subject, calls: readonly EarlierCall[]) => Promise<QuotaTerms | undefined>;
  /** Called with each charge. */
  onSpent?: (subject: Subject, charge: { amount: number; spent: number; limit: number }) => void;
  patienceMs?: number;
}

interface Ask<M> {
  member: M;
  /** The member's number for it. */
  number: number;
  /** The number of its recalls. */
  recall: number;
  wanted: readonly Wanted[];
  /** The recalls for it, by subject. */
  recalls: Map<Subject, Recall<M>>;
  /** By the clock that only advances; set with the first recall. */
  deadline: number;
}

interface Recall<M> {
  /** The members that have not answered it. */
  awaited: Set<M>;
  /** The quota's count of loans when it was sent: members that got more since have to be asked again. */
  loans: number;
}

/** A limit that is being read. */
interface Loading<M> {
  /** Tells its counts from those of an earlier time. */
  number: number;
  /** The members that have not counted their calls. */
  awaited: Set<M>;
  calls: EarlierCall[];
  /** What these calls hold or were charged. */
  lent: [member: M, amount: number][];
  /** What members returned and spent since they counted. */
  later: [member: M, message: Returned][];
  /** Set meanwhile. */
  limit: number | undefined;
}

type Returned = Exclude<ToAuthority, { kind: 'ask' | 'counted' }>;

/**
 * Grants leases: parts of limits that members then spend without asking. A grant leaves the limit before it can be used, so
 * that members together never exceed it. When a limit is used up, the others give back what they do not use before a call is
 * refused. Synchronous but for `load`; messages of one member must arrive in order.
 */
export class LeaseAuthority<M> {
  readonly #deps: AuthorityDeps;
  readonly #members = new Map<M, (message: ToMember) => void>();
  readonly #quotas = new Map<Subject, Quota<M>>();
  readonly #loading = new Map<Subject, Loading<M>>();
  /** Oldest first. */
  readonly #asks = new Set<Ask<M>>();
  /** Limits that were lowered, by the number of their recall. */
  readonly #lowered = new Map<number, { awaited: Set<M>; deadline: number; resolve: () => void }>();
  #recalls = 0;
  #loads = 0;

  constructor(deps: AuthorityDeps) {
    this.#deps = deps;
  }

  /** Adds a member without calls. */
  join(member: M, send: (message: ToMember) => void): void {
    this.#members.set(member, send);
  }

  /** No more is granted to a member or received from it. What it has stays out until `settle`. */
  fence(member: M): void {
    this.#members.delete(member);
    for (const subject of this.#loading.keys()) this.#counted(member, subject);
    for (const recall of this.#lowered.keys()) this.#recalled(member, recall);
    for (const ask of this.#asks) {
      if (ask.member === member) this.#asks.delete(ask);
      else for (const { awaited } of ask.recalls.values()) awaited.delete(member);
    }
    this.#serve();
  }

  /**
   * Ends the leases of a fenced member. What it was charged without having reported it is spent, and the rest returns; its
   * requests count as used.
   */
  settle(member: M, charged: ReadonlyMap<Subject, number>): void {
    if (this.#members.has(member)) throw new TypeError('only a fenced member is settled');
    for (const [subject, quota] of this.#quotas) {
      const out = quota.outOf(member);
      quota.spend(member, quota.span === 'minute' ? out : Math.min(out, charged.get(subject) ?? 0));
      quota.lend(member, -quota.outOf(member));
    }
    this.#serve();
  }

  receive(member: M, message: ToAuthority): void {
    if (!this.#members.has(member)) return;
    if (message.kind === 'ask') this.#ask(member, message);
    else if (message.kind === 'counted') {
      const loading = this.#loading.get(message.subject);
      if (loading?.number !== message.load) return;
      loading.calls.push(...message.calls);
      loading.lent.push([member, message.amount]);
      this.#counted(member, message.subject);
    } else this.#returned(member, message);
  }

  /**
   * Changes a limit that is in use. After one that is lower, nothing is granted until what is out has returned. Resolves when
   * it applies to all calls that are admitted later, or when a member did not answer in time.
   */
  async setLimit(subject: Subject, limit: number): Promise<void> {
    const loading = this.#loading.get(subject);
    if (loading) loading.limit = limit;
    const quota = this.#quotas.get(subject);
    if (!quota) return;
    const isLower = limit < quota.limit;
    quota.limit = limit;
    if (isLower) await this.#lower(subject, quota.holders());
    else this.#serve();
  }

  /** Ends a limit. What members have of it is void; calls that still ask for it have it read again. */
  forget(subject: Subject): void {
    const isKnown = this.#quotas.delete(subject);
    const isLoading = this.#loading.delete(subject);
    if (!isKnown && !isLoading) return;
    for (const send of this.#members.values()) send({ kind: 'forget', subject });
    if (this.#asksFor(subject).length > 0) this.#load(subject);
  }

  /** Answers calls that waited too long for members, or for which time made room. To be called every 100 ms or so. */
  tick(): void {
    for (const [recall, { deadline, resolve }] of this.#lowered) {
      if (this.#deps.clock.elapsed() < deadline) continue;
      this.#lowered.delete(recall);
      resolve();
    }
    if (this.#asks.size > 0) this.#serve();
  }

  /** Undefined for a limit that no member has asked for. */
  factsOf(subject: Subject): QuotaFacts | undefined {
    return this.#quotas.get(subject)?.facts(1);
  }

  #ask(member: M, { ask: number, wanted }: ToAuthority & { kind: 'ask' }): void {
    for (const { subject, handedIn } of wanted) {
      this.#returned(member, { kind: 'given', subject, amount: handedIn });
    }
    this.#recalls += 1;
    this.#asks.add({
      member,
      number,
      recall: this.#recalls,
      wanted,
      recalls: new Map(),
      deadline: Number.POSITIVE_INFINITY,
    });
    for (const { subject } of wanted) if (!this.#quotas.has(subject)) this.#load(subject);
    this.#serve();
  }

  /** Takes back what a member returned or spent. What it had of a limit before that was forgotten is void. */
  #returned(member: M, message: Returned): void {
    const { subject, amount } = message;
    const quota = this.#quotas.get(subject);
    if (!quota) {
      if (message.kind === 'recalled') this.#recalled(member, message.recall);
      const loading = this.#loading.get(subject);
      if (loading && !loading.awaited.has(member)) loading.later.push([member, message]);
      return;
    }
    if (message.kind === 'spent') {
      quota.spend(member, amount);
      this.#deps.onSpent?.(subject, { amount, spent: quota.spent, limit: quota.limit });
      return;
    }
    quota.lend(member, -amount);
    if (message.kind === 'recalled') {
      this.#recalled(member, message.recall);
      for (const ask of this.#asks) {
        if (ask.recall === message.recall) ask.recalls.get(subject)?.awaited.delete(member);
      }
    }
    this.#serve();
  }

  /** Reads a limit once all members have counted the calls that are not on disk. */
  #load(subject: Subject): void {
    if (this.#loading.has(subject)) return;
    this.#loads += 1;
    const number = this.#loads;
    const awaited = new Set(this.#members.keys());
    this.#loading.set(subject, { number, awaited, calls: [], lent: [], later: [], limit: undefined });
    for (const send of this.#members.values()) send({ kind: 'count', load: number, subject });
  }

  #counted(member: M, subject: Subject): void {
    const loading = this.#loading.get(subject);
    if (!loading?.awaited.delete(member) || loading.awaited.size > 0) return;
    const isCurrent = () => this.#loading.get(subject) === loading;
    this.#deps.load(subject, loading.calls).then(
      (terms) => {
        if (!isCurrent()) return;
        if (terms) this.#loaded(subject, terms, loading);
        else this.#missing(subject);
      },
      (error: unknown) => {
        if (isCurrent()) this.#fail(subject, error instanceof Error ? error.message : String(error));
      },
    );
  }

  #loaded(subject: Subject, terms: QuotaTerms, { lent, later, limit = terms.limit }: Loading<M>): void {
    const quota = new Quota<M>({ ...terms, limit }, this.#deps.clock);
    for (const [member, amount] of lent) quota.lend(member, amount);
    this.#loading.delete(subject);
    this.#quotas.set(subject, quota);
    for (const [member, message] of later) this.#returned(member, message);
    this.#serve();
  }

  /** Calls that asked for a limit which does not exist go on without it. */
  #missing(subject: Subject): void {
    for (const ask of this.#asksFor(subject)) {
      ask.wanted = ask.wanted.filter((wanted) => wanted.subject !== subject);
    }
    this.forget(subject);
    this.#serve();
  }

  #fail(subject: Subject, reason: string): void {
    for (const ask of this.#asksFor(subject)) {
      this.#asks.delete(ask);
      this.#members.get(ask.member)?.({ kind: 'failed', ask: ask.number, reason });
    }
    this.forget(subject);
  }

  #asksFor(subject: Subject): Ask<M>[] {
    return [...this.#asks].filter(({ wanted }) => wanted.some((each) => each.subject === subject));
  }

  #serve(): void {
    for (const ask of this.#asks) this.#attempt(ask);
  }

  /** Grants all that is asked for, or recalls what is missing, or grants the rest if all members have answered. */
  #attempt(ask: Ask<M>): void {
    const found: [Wanted, Quota<M>][] = [];
    for (const wanted of ask.wanted) {
      const quota = this.#quotas.get(wanted.subject);
      if (!quota) return;
      found.push([wanted, quota]);
    }
    const lacking = found.filter(([{ need }, quota]) => quota.free < need);
    for (const [{ subject }, quota] of lacking) this.#recallFor(ask, subject, quota);
    const isAnswered = lacking.every(([{ subject }]) => ask.recalls.get(subject)?.awaited.size === 0);
    if (!isAnswered && this.#deps.clock.elapsed() < ask.deadline) return;
    this.#asks.delete(ask);
    const granted = found.map(([wanted, quota]) => this.#grant(ask.member, wanted, quota));
    this.#members.get(ask.member)?.({ kind: 'granted', ask: ask.number, granted });
  }

  /** Asks the others for what they do not use, unless they were asked and got nothing since. */
  #recallFor(ask: Ask<M>, subject: Subject, quota: Quota<M>): void {
    const before = ask.recalls.get(subject);
    if (before && (before.awaited.size > 0 || before.loans === quota.loans)) return;
    const others = quota.holders().filter((member) => member !== ask.member && this.#members.has(member));
    ask.recalls.set(subject, { awaited: new Set(others), loans: quota.loans });
    ask.deadline = Math.min(ask.deadline, this.#deadline());
    this.#recall(subject, others, ask.recall);
  }

  #lower(subject: Subject, holders: readonly M[]): Promise<void> {
    this.#recalls += 1;
    const recall = this.#recalls;
    const awaited = new Set(holders.filter((member) => this.#members.has(member)));
    if (awaited.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#lowered.set(recall, { awaited, deadline: this.#deadline(), resolve });
      this.#recall(subject, [...awaited], recall);
    });
  }

  #recalled(member: M, recall: number): void {
    const lowered = this.#lowered.get(recall);
    if (!lowered?.awaited.delete(member) || lowered.awaited.size > 0) return;
    this.#lowered.delete(recall);
    lowered.resolve();
  }

  #deadline(): number {
    return this.#deps.clock.elapsed() + (this.#deps.patienceMs ?? defaultPatienceMs);
  }

  #recall(subject: Subject, members: readonly M[], recall: number): void {
    for (const member of members) this.#members.get(member)?.({ kind: 'recall', recall, subject });
  }

  #grant(member: M, { subject, need, want }: Wanted, quota: Quota<M>): Granted {
    const { free } = quota;
    const shortage = free < need ? quota.facts(need) : undefined;
    const amount = Math.max(0, Math.min(free, share(free, { need, want, members: this.#members.size })));
    quota.lend(member, amount);
    return { subject, amount, shortage };
  }
}

/** What to lend of the free part: exactly what is needed if that is scarce, so that no member keeps what another lacks. */
function share(free: number, { need, want, members }: { need: number; want: number; members: number }) {
  if (free < callsPerMember * members * need) return need;
  return Math.max(need, Math.min(want, Math.floor(free / (2 * members))));
}
