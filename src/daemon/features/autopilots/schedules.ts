import { ApiError } from '../../../shared/errors.ts';
import type { MakeId } from '../../../shared/ids.ts';
import { isoTime } from '../../../shared/time/time.ts';
import type { Changes } from '../../base/changes.ts';
import type { Log } from '../../base/log.ts';
import type { World } from '../../base/world.ts';
import type { EventFeed } from '../events/index.ts';
import type { AutopilotRuns } from './autopilot-runs.ts';
import { timeAfter, timesUntil } from './cron.ts';
import type { Runner } from './runner.ts';
import type { AutopilotRecord, AutopilotsStore, OccurrenceRecord, ScheduledBy } from './store.ts';

export interface SchedulesDeps {
  store: Pick<AutopilotsStore, 'due' | 'nextDue' | 'claim' | 'endClaim' | 'endLeftClaims'>;
  runs: Pick<AutopilotRuns, 'startScheduled'>;
  /** Fails with an ApiError if the credential has ended. */
  runnerOf(by: ScheduledBy): Promise<Runner>;
  changes: Changes;
  events: Pick<EventFeed, 'record'>;
  makeId: MakeId;
  world: Pick<World, 'now' | 'sleep'>;
  log: Pick<Log, 'warn'>;
}

/** Longest sleep, as the clock may be set meanwhile. */
const checkEveryMs = 30_000;
/** A run that is due longer is missed: the machine slept. */
const lateMaxMs = 60_000;
const pageSize = 100;

type Reason = NonNullable<OccurrenceRecord['reason']>;

const overlap: Reason = {
  code: 'conflict',
  message: 'The run of the schedule before this one had not ended.',
};

/**
 * Starts the runs of schedules: reads those that are due, and claims each with a conditional write that plans the next one, so
 * that no time is run twice, also if the clock is set back. Times that passed while the daemon did not run are reported as
 * missed, and not run.
 */
export class Schedules {
  readonly #deps: SchedulesDeps;
  /** The autopilots whose scheduled run has not ended. */
  readonly #running = new Set<string>();
  /** What was due before was missed. */
  #since = Number.POSITIVE_INFINITY;
  #waker = new AbortController();

  constructor(deps: SchedulesDeps) {
    this.#deps = deps;
    deps.changes.subscribe('schedules', () => {
      this.#waker.abort();
      this.#waker = new AbortController();
    });
  }

  /** Reports the runs that a daemon which is gone had claimed but not started. */
  async takeOver(daemon: number): Promise<void> {
    const { store } = this.#deps;
    for (const occurrence of await store.endLeftClaims(daemon)) this.#report(occurrence);
  }

  /** Starts runs as they become due, until aborted. */
  async runBackground(signal: AbortSignal, onFailure: (error: unknown) => void): Promise<void> {
    const { store, world } = this.#deps;
    this.#since = world.now();
    while (!signal.aborted) {
      const ends = AbortSignal.any([signal, this.#waker.signal]);
      let waitMs = checkEveryMs;
      try {
        await this.#runDue(signal);
        const next = await store.nextDue();
        waitMs = Math.min(checkEveryMs, Math.max(1, (next ?? Number.POSITIVE_INFINITY) - world.now()));
      } catch (error) {
        onFailure(error);
      }
      await world.sleep(waitMs, ends).catch((error: unknown) => {
        if (!ends.aborted) throw error;
      });
    }
  }

  async #runDue(signal: AbortSignal): Promise<void> {
    const now = this.#deps.world.now();
    // After the clock was set back, what is due is later than the start, too.
    this.#since = Math.min(this.#since, now);
    for (const autopilot of await this.#deps.store.due(now, pageSize)) {
      if (signal.aborted) return;
      await this.#take(autopilot, now);
    }
  }

  /** Claims what is due of an autopilot: starts the latest run, if it is not late, and reports the others. */
  async #take(autopilot: AutopilotRecord, now: number): Promise<void> {
    const { store } = this.#deps;
    const { id, schedule, scheduledBy, nextRunAt: dueAt } = autopilot;
    if (schedule === null || scheduledBy === null || dueAt === null) return;
    const { count, last } = timesUntil(schedule, dueAt, now);
    const isLate = last < this.#since || now - last > lateMaxMs;
    const missed = isLate ? count : count - 1;
    const occurrences: OccurrenceRecord[] = [];
    if (missed > 0) {
      const lastMissed = isLate ? last : timesUntil(schedule, dueAt, last - 1).last;
      const times = { dueAt, lastDueAt: lastMissed, count: missed };
      occurrences.push(
        this.#occurrence(autopilot, scheduledBy, { status: 'missed', ...times, reason: null }),
      );
    }
    if (!isLate) {
      const isRunning = this.#running.has(id);
      const status = isRunning ? 'skipped' : 'claimed';
      const times = { dueAt: last, lastDueAt: last, count: 1 };
      const reason = isRunning ? overlap : null;
      occurrences.push(this.#occurrence(autopilot, scheduledBy, { status, ...times, reason }));
    }
    const claim = { id, dueAt, nextRunAt: timeAfter(schedule, now), occurrences };
    if (!(await store.claim(claim))) return;
    for (const occurrence of occurrences) {
      if (occurrence.status === 'claimed') await this.#start(autopilot, occurrence);
      else this.#report(occurrence);
    }
  }

  #occurrence(
    { id: autopilotId }: AutopilotRecord,
    { workspaceId }: ScheduledBy,
    facts: Pick<OccurrenceRecord, 'status' | 'dueAt' | 'lastDueAt' | 'count' | 'reason'>,
  ): OccurrenceRecord {
    const { makeId, world } = this.#deps;
    return { id: makeId('run'), autopilotId, workspaceId, ...facts, createdAt: world.now() };
  }

  async #start(autopilot: AutopilotRecord, claimed: OccurrenceRecord): Promise<void> {
    const { store, runs, runnerOf } = this.#deps;
    const { id, schedule, scheduledBy } = autopilot;
    if (schedule === null || scheduledBy === null) return;
    this.#running.add(id);
    try {
      const run = await runs.startScheduled(autopilot, {
        runner: await runnerOf(scheduledBy),
        runId: claimed.id,
        dueAt: claimed.dueAt,
        input: schedule.input,
        maxSpendMsats: schedule.maxSpendMsats,
        onFailed: ({ threadId }, { code, message }) =>
          this.#record(claimed, 'autopilot.run_failed', { run: claimed.id, chat: threadId, code, message }),
      });
      void run.ended.then(() => this.#running.delete(id));
    } catch (error) {
      this.#running.delete(id);
      const reason = this.#reasonOf(error, id);
      await store.endClaim(claimed.id, reason);
      this.#report({ ...claimed, status: 'skipped', reason });
      return;
    }
    await store.endClaim(claimed.id, null);
  }

  #reasonOf(error: unknown, autopilotId: string): Reason {
    if (!(error instanceof ApiError))
      this.#deps.log.warn({ err: error, autopilot_id: autopilotId }, 'a scheduled run could not start');
    const { code, message } = error instanceof ApiError ? error : new ApiError('server_error');
    return { code, message };
  }

  #report(occurrence: OccurrenceRecord): void {
    const { status, count, dueAt, lastDueAt, reason } = occurrence;
    const times = { count, first_at: isoTime(dueAt), last_at: isoTime(lastDueAt) };
    if (status === 'missed') this.#record(occurrence, 'autopilot.run_missed', times);
    else this.#record(occurrence, 'autopilot.run_skipped', { at: isoTime(dueAt), ...reason });
  }

  #record({ autopilotId, workspaceId }: OccurrenceRecord, type: string, data: Record<string, unknown>): void {
    const { events, world } = this.#deps;
    const event = { type, workspaceId, at: world.now(), data: { autopilot: autopilotId, ...data } };
    void events.record(event);
  }
}
