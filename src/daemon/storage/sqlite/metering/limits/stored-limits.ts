import type { AnsweringRoute } from '../../../../../shared/calls/budget-filter.ts';
import {
  calendarName,
  isSameCalendar,
  type PeriodSpend,
  type SpendCalendar,
  spendPeriods,
  startOfPeriod,
} from '../../../../../shared/money/spend-periods.ts';
import { utcDay } from '../../../../../shared/time/time.ts';
import type { WatchedTotal } from '../../../../features/metering/admission/admission-store.ts';
import type { BudgetScope, SpendSubject } from '../../../../features/metering/rules/budget-rule.ts';
import type { AgentTotals, PoolTotals } from '../../../../features/metering/rules/free-tier.ts';
import {
  type FilteredHold,
  heldOnRoutes,
  isOnRoute,
  isRouted,
} from '../../../../features/metering/rules/held-routes.ts';
import { RateWindow, rateWindowMs } from '../../../../features/metering/rules/rate-window.ts';
import { BalanceTotals, KeyTotals } from '../../../../features/metering/rules/running-totals.ts';
import { SubjectTotals } from '../../../../features/metering/rules/subject-totals.ts';
import type { HoldRecord, Settlement } from '../../../../features/metering/store.ts';
import type { Connection } from '../../engine/connection.ts';
import type { NameNumbers } from '../../engine/names.ts';
import { readLabelsText, readTags } from '../call-details.ts';
import { workspaceAccount } from '../ledger/accounts.ts';
import { type CallRow, callFormat, type HoldRow, holdFormat } from '../rows.ts';
import { foldedTo } from '../usage/usage-totals.ts';
import { hasLabel, holdReads } from './hold-reads.ts';
import { spendingReads } from './spending.ts';
import { isEdge, keyNumbers, keyTree, subjectSpending } from './subject-spending.ts';

/** By how much the clocks of members may differ, and calls be late, without a request being left out of a rate. */
const lateMs = 10_000;
/** Keys whose ancestors are kept in memory. */
const linesMax = 20_000;

/** What the running batch has not written yet. */
interface PendingTotals {
  names: Pick<NameNumbers, 'find'>;
  /** The change of the balance of an account. */
  pendingChange(account: string): number;
  /** Charges by key and UTC day. */
  pendingSpend(): Iterable<{ keyId: string; day: string; amount: number }>;
  /** The numbers of names that are new. */
  pendingNames(): Iterable<readonly [number: number, text: string]>;
  /** The number of the newest call or event. */
  readonly sequence: number;
}

interface CountedSubject {
  subject: SpendSubject;
  totals: SubjectTotals;
}

/** What a call counts against. */
interface CallSubjects {
  workspaceId: string;
  keyId: string | null;
  budget: string | null;
  labels: () => ReturnType<typeof readLabelsText>;
  endpoint: string;
  /** What its hold is, or was; routes as JSON, or as they were sent. */
  amount: number;
  routes: HoldRecord['routes'] | string | null;
}

/**
 * Writer-thread side of limits that members share: what keys, budgets, workspaces and agents spent and hold. It is read when
 * a call first asks, then follows the writes of this thread, and is read again after others wrote (`reset`).
 */
export class StoredLimits {
  readonly #pending: PendingTotals;
  readonly #read: ReturnType<typeof limitReads>;
  readonly #keys = new Map<string, KeyTotals>();
  readonly #windows = new Map<string, RateWindow>();
  /** By workspace, then by scope and calendar. */
  readonly #subjects = new Map<string, Map<string, CountedSubject>>();
  /** By account. */
  readonly #balances = new Map<string, BalanceTotals>();
  #pool: (PoolTotals & { day: string }) | undefined;
  /** When finished calls of keys started, up to the call with a number; others only add to them. */
  readonly #finished = new Map<string, { starts: readonly number[]; upTo: number }>();
  /** What filters counted up to the call with a number, since the starts of periods. */
  readonly #filtered = new Map<string, { since: string; spend: PeriodSpend; upTo: number }>();
  /** A key and those that it descends from, which never change. */
  readonly #lines = new Map<string, readonly string[]>();
  /** Whether nothing is in memory that writes change. */
  #isEmpty = true;

  constructor(database: Connection, pending: PendingTotals) {
    this.#pending = pending;
    this.#read = limitReads(database, pending);
  }

  /** Forgets everything, as something was undone. */
  revert(): void {
    this.#finished.clear();
    this.#filtered.clear();
    this.reset();
  }

  /** Forgets what may have changed: something was written that `held` and `settled` do not know. */
  reset(): void {
    if (this.#isEmpty) return;
    this.#keys.clear();
    this.#windows.clear();
    this.#subjects.clear();
    this.#balances.clear();
    this.#pool = undefined;
    this.#isEmpty = true;
  }

  /** What a key and its descendants, or an autopilot, spent in the periods of a calendar, and hold. */
  key(keyId: string, at: number, calendar?: SpendCalendar): KeyTotals {
    const known = this.#keys.get(keyId);
    if (known && !isSameCalendar(known.calendar, calendar)) this.#keys.delete(keyId);
    return this.#found(this.#keys, keyId, () => {
      const totals = new KeyTotals(calendar);
      const subject = { workspaceId: '', kind: 'key', value: keyId, calendar } as const;
      this.#load(totals, subject, at);
      return totals;
    });
  }

  /** When a key and its descendants started calls in the last minute, by the clocks of the members. */
  window(keyId: string, at: number): RateWindow {
    return this.#found(this.#windows, keyId, () => {
      const since = at - rateWindowMs - lateMs;
      const starts = [...this.#finishedStarts(keyId, since), ...this.#read.holds.startsOfKey(keyId, since)];
      const window = new RateWindow(lateMs);
      window.addEarlier(starts);
      return window;
    });
  }

  /** What the calls of a budget's subject spent and hold. */
  subject(subject: SpendSubject, at: number): SubjectTotals {
    const { workspaceId, kind, value } = subject;
    const ofWorkspace = this.#subjects.get(workspaceId) ?? new Map<string, CountedSubject>();
    this.#subjects.set(workspaceId, ofWorkspace);
    return this.#found(ofWorkspace, `${kind} ${value} ${calendarName(subject.calendar)}`, () => {
      const totals = new SubjectTotals(subject.calendar);
      this.#load(totals, subject, at);
      return { subject, totals };
    }).totals;
  }

  /** The credit of a workspace, and what its calls hold. */
  balance(workspaceId: string): BalanceTotals {
    const account = workspaceAccount(workspaceId);
    return this.#found(this.#balances, account, () => {
      const totals = new BalanceTotals();
      totals.balance = this.#read.balance(account) + this.#pending.pendingChange(account);
      totals.held = this.#read.holds.ofWorkspace(workspaceId);
      return totals;
    });
  }

  /** What an agent used on a day, like `2026-11-21`. */
  agent(agentId: string, day: string): AgentTotals {
    return this.#read.holds.ofAgent(agentId, day);
  }

  /** What all agents used on a day. */
  pool(day: string): PoolTotals {
    if (this.#pool?.day !== day) {
      this.#pool = { ...this.#read.holds.pool(day), day };
      this.#isEmpty = false;
    }
    return this.#pool;
  }

  /** What is spent of a total in its period at a time. */
  spent(watched: WatchedTotal, at: number): number {
    return 'keyId' in watched
      ? this.key(watched.keyId, at, watched.calendar).spentIn(watched.period, at)
      : this.subject(watched.subject, at).spentIn(watched.period, at);
  }

  /** A hold was written. */
  held(row: HoldRow): void {
    if (this.#isEmpty) return;
    const keyId = holdFormat.get(row, 'keyId');
    this.#hold(
      {
        workspaceId: holdFormat.get(row, 'workspaceId'),
        keyId,
        budget: holdFormat.get(row, 'budget'),
        labels: () => readLabelsText(holdFormat.get(row, 'labels')),
        endpoint: holdFormat.get(row, 'endpoint'),
        amount: holdFormat.get(row, 'amount'),
        routes: holdFormat.get(row, 'routes'),
      },
      1,
    );
    const startedAt = holdFormat.get(row, 'createdAt');
    this.#started(keyId, startedAt);
    const free = holdFormat.get(row, 'free');
    const pool = free === null ? undefined : this.#poolOf(startedAt);
    if (pool && free !== null) pool.held += free;
  }

  /** A call was settled; `held` is its hold, `none` if it was not written, undefined if it is not known. */
  settled(
    call: CallRow,
    { held, tier }: { held: Settlement['held'] | 'none'; tier: Settlement['tier'] },
  ): void {
    if (this.#isEmpty) return;
    if (held === undefined) {
      this.reset();
      return;
    }
    const keyId = callFormat.get(call, 'key');
    const budget = callFormat.get(call, 'budget');
    const charged = callFormat.get(call, 'charged');
    const completedAt = callFormat.get(call, 'completedAt');
    const startedAt = callFormat.get(call, 'createdAt');
    const subjects: CallSubjects = {
      workspaceId: callFormat.get(call, 'workspace'),
      keyId,
      budget,
      labels: () => ({
        client: callFormat.get(call, 'client'),
        conversation: callFormat.get(call, 'conversation'),
        replayOf: callFormat.get(call, 'replayOf'),
        user: callFormat.get(call, 'endUser'),
        tags: readTags(callFormat.get(call, 'tags')),
      }),
      endpoint: callFormat.get(call, 'endpoint'),
      amount: held === 'none' ? 0 : held.amount,
      routes: held === 'none' ? undefined : held.routes,
    };
    if (held === 'none') this.#started(keyId, startedAt);
    else this.#hold(subjects, -1);
    if (charged > 0) {
      for (const id of this.#payers(subjects)) this.#keys.get(id)?.charge(charged, completedAt);
      const model = callFormat.get(call, 'model');
      const route = { model, provider: callFormat.get(call, 'provider') };
      for (const { totals } of this.#subjectsOf(subjects, route)) totals.charge(charged, completedAt);
    }
    const pool = held === 'none' || held.free === undefined ? undefined : this.#poolOf(startedAt);
    if (!pool || held === 'none') return;
    pool.held -= held.free ?? 0;
    const cost = (callFormat.get(call, 'costProvider') ?? 0) + (callFormat.get(call, 'costMargin') ?? 0);
    if (tier === 'free') pool.spent += cost;
  }

  /** Money was moved to an account, or from it. */
  moved(account: string, amount: number): void {
    const totals = this.#balances.size > 0 ? this.#balances.get(account) : undefined;
    if (totals) totals.balance += amount;
  }

  /** All are read once, and later only new ones: also those of a key with thousands of calls a minute. */
  #finishedStarts(keyId: string, since: number): readonly number[] {
    const known = this.#finished.get(keyId);
    const numbers = this.#newKeysOf(keyId);
    const added = this.#read.finishedStarts(keyId, { since, after: known?.upTo, numbers });
    const starts = [...(known?.starts ?? []).filter((start) => start >= since), ...added];
    this.#finished.set(keyId, { starts, upTo: this.#pending.sequence });
    return starts;
  }

  /** The numbers of the names of a key and its descendants that the running batch adds. */
  #newKeysOf(keyId: string): number[] {
    const numbers: number[] = [];
    for (const [number, text] of this.#pending.pendingNames()) {
      if (this.#lineOf(text).includes(keyId)) numbers.push(number);
    }
    return numbers;
  }

  #found<T>(known: Map<string, T>, name: string, load: () => T): T {
    let found = known.get(name);
    if (found === undefined) {
      found = load();
      known.set(name, found);
      this.#isEmpty = false;
    }
    return found;
  }

  /** The shared pool of the day on which a call started, if it is in memory. */
  #poolOf(startedAt: number): PoolTotals | undefined {
    return this.#pool?.day === utcDay(startedAt) ? this.#pool : undefined;
  }

  #load(totals: SubjectTotals, subject: SpendSubject, at: number): void {
    const { kind, value, calendar } = subject;
    const newKeys = kind === 'key' && calendar ? this.#newKeysOf(value) : [];
    totals.add(
      kind === 'where' ? this.#filteredSpend(subject, at) : this.#read.subjectSpend(subject, { at, newKeys }),
      at,
    );
    if (kind === 'key') {
      for (const { day, amount } of this.#pendingOf(value)) {
        // Calls of an edge were read one by one.
        if (!isEdge(day, at, calendar)) totals.add(periodSpendOn(day, amount, at, calendar), at);
      }
    }
    totals.held = this.#read.holds.ofSubject(subject);
  }

  /** All calls of the periods are read once, and later only new ones. */
  #filteredSpend(subject: SpendSubject, at: number): PeriodSpend {
    const { workspaceId, value, calendar } = subject;
    const name = `${workspaceId} ${value} ${calendarName(calendar)}`;
    const since = spendPeriods.map((period) => startOfPeriod(period, at, calendar)).join();
    const known = this.#filtered.get(name);
    const isKnown = known?.since === since;
    const added = this.#read.subjectSpend(subject, {
      at,
      ...(isKnown && { after: known.upTo }),
      newNames: this.#pending.pendingNames(),
    });
    const spend = { ...added };
    if (isKnown) for (const period of spendPeriods) spend[period] += known.spend[period];
    this.#filtered.set(name, { since, spend, upTo: this.#pending.sequence });
    return spend;
  }

  #hold(subjects: CallSubjects, sign: 1 | -1): void {
    const amount = sign * subjects.amount;
    for (const id of this.#payers(subjects)) {
      const totals = this.#keys.get(id);
      if (totals) totals.held += amount;
    }
    for (const { subject, totals } of this.#subjectsOf(subjects))
      totals.held += isRouted(subject) ? sign * heldOnRoutes(filteredHold(subjects), subject) : amount;
    const balance = this.#balances.get(workspaceAccount(subjects.workspaceId));
    if (balance) balance.held += amount;
  }

  #started(keyId: string | null, at: number): void {
    if (keyId === null || this.#windows.size === 0) return;
    for (const id of this.#lineOf(keyId)) this.#windows.get(id)?.add(at);
  }

  /** The keys of which a call is part, and its autopilot. */
  #payers({ keyId, budget }: Pick<CallSubjects, 'keyId' | 'budget'>): readonly string[] {
    const line = keyId === null ? [] : this.#lineOf(keyId);
    return budget === null || line.includes(budget) ? line : [...line, budget];
  }

  /** Those that a call is part of; while no route has answered, all of those that look at routes. */
  *#subjectsOf(call: CallSubjects, route?: AnsweringRoute): Generator<CountedSubject> {
    for (const counted of this.#subjects.get(call.workspaceId)?.values() ?? []) {
      if (this.#isCounted(counted.subject, call, route)) yield counted;
    }
  }

  #isCounted(scope: BudgetScope, call: CallSubjects, route: AnsweringRoute | undefined): boolean {
    const { kind, value } = scope;
    if (kind === 'workspace') return true;
    if (kind === 'key') return this.#payers(call).includes(value);
    if (kind === 'user' || kind === 'tag') return hasLabel(call.labels(), kind, value);
    return route === undefined || isOnRoute(scope, route, filteredHold(call));
  }

  *#pendingOf(keyId: string) {
    for (const spend of this.#pending.pendingSpend()) {
      if (this.#lineOf(spend.keyId).includes(keyId)) yield spend;
    }
  }

  #lineOf(keyId: string): readonly string[] {
    let line = this.#lines.get(keyId);
    if (!line) {
      if (this.#lines.size >= linesMax) this.#lines.clear();
      line = this.#read.line(keyId);
      this.#lines.set(keyId, line);
    }
    return line;
  }
}

function limitReads(database: Connection, { names }: Pick<PendingTotals, 'names'>) {
  const { startsOfKey } = spendingReads(database);
  const balance = database.prepare<[string], number>('SELECT balance FROM accounts WHERE id = ?').pluck();
  const line = database
    .prepare<[{ keyId: string }], string>(
      `WITH RECURSIVE line (id) AS (
         SELECT coalesce((SELECT id FROM keys WHERE id = @keyId), @keyId)
         UNION SELECT keys.parent_id FROM keys JOIN line ON keys.id = line.id WHERE keys.parent_id IS NOT NULL)
       SELECT id FROM line`,
    )
    .pluck();
  const startsAfter = database
    .prepare<[{ keyId: string; after: number; since: number }], number>(
      `${keyTree} SELECT created_at FROM calls
       WHERE number > @after AND created_at >= @since AND key IN (${keyNumbers})`,
    )
    .pluck();
  const startsOfNew = database
    .prepare<[{ numbers: string; after: number; since: number }], number>(
      `SELECT created_at FROM calls WHERE number > @after AND created_at >= @since
         AND key IN (SELECT CAST(value AS bigint) FROM json_each(@numbers))`,
    )
    .pluck();
  return {
    holds: holdReads(database),
    subjectSpend: subjectSpending(database, (text) => names.find(text)),
    balance: (account: string): number => balance.get(account) ?? 0,
    line: (keyId: string): string[] => line.all({ keyId }),
    /** `after`: only of calls with a higher number. `numbers`: those of new names of such keys. */
    finishedStarts(keyId: string, { since, after, numbers }: FinishedSince): number[] {
      const starts =
        after === undefined ? startsOfKey(keyId, since) : startsAfter.all({ keyId, after, since });
      if (numbers.length === 0) return starts;
      const ofNew = startsOfNew.all({
        numbers: JSON.stringify(numbers),
        after: after ?? foldedTo(database),
        since,
      });
      return [...starts, ...ofNew];
    },
  };
}

interface FinishedSince {
  since: number;
  after: number | undefined;
  numbers: readonly number[];
}

/** What filters look at of a call, and what it holds of its routes. */
function filteredHold({ keyId, endpoint, labels, amount, routes }: CallSubjects): FilteredHold {
  const held = typeof routes === 'string' ? JSON.parse(routes) : (routes ?? undefined);
  return { keyId, endpoint, labels: labels(), amount, routes: held };
}

function periodSpendOn(
  day: string,
  amount: number,
  at: number,
  calendar: SpendCalendar | undefined,
): PeriodSpend {
  const start = Date.parse(day);
  const spend = { day: 0, week: 0, month: 0, none: 0 };
  for (const period of spendPeriods) if (start >= startOfPeriod(period, at, calendar)) spend[period] = amount;
  return spend;
}
