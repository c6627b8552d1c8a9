import { expect, onTestFinished, test } from 'vitest';
import { Schedules } from '../../../../src/daemon/features/autopilots/index.ts';
import type {
  AutopilotRecord,
  AutopilotsStore,
  OccurrenceRecord,
  ScheduledBy,
} from '../../../../src/daemon/features/autopilots/store.ts';
import type { NewEvent } from '../../../../src/daemon/features/events/index.ts';
import { LocalChanges } from '../../../../src/daemon/storage/local-changes.ts';
import { ApiError } from '../../../../src/shared/errors.ts';
import { idMaker } from '../../../../src/shared/ids.ts';
import { fakeWorld, settled } from '../../../support/fake-world.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const by: ScheduledBy = { userId: 'usr_1', workspaceId: 'ws_1', credentialId: null, mayPay: true };

/** The time of the day in UTC. */
const time = (ms: number) => new Date(ms).toISOString().slice(11, 16);

/** A daemon whose autopilot runs at every full hour; its world starts at 08:00. */
function place() {
  const world = fakeWorld();
  const makeId = idMaker(world.now, world.randomBytes);
  const schedule = { cron: '0 * * * *', timeZone: 'UTC', input: 'Hello.', paused: false };
  const stored = {
    autopilot: { id: 'ap_1', schedule, scheduledBy: by, nextRunAt: world.now() + hourMs } as AutopilotRecord,
    occurrences: new Map<string, OccurrenceRecord>(),
  };
  const events: NewEvent[] = [];
  const started: string[] = [];
  const ends: (() => void)[] = [];
  const daemon = { refusal: undefined as ApiError | undefined, dies: false };
  const start = async () => {
    const stop = new AbortController();
    onTestFinished(() => stop.abort());
    const changes = new LocalChanges();
    const schedules = new Schedules({
      changes,
      store: storeOf(stored),
      runs: {
        async startScheduled(_autopilot, { dueAt, runId }) {
          if (daemon.dies) await new Promise(() => {});
          if (daemon.refusal) throw daemon.refusal;
          started.push(time(dueAt));
          const ended = new Promise<void>((resolve) => ends.push(resolve));
          return { id: runId, ended } as never;
        },
      },
      runnerOf: async () => ({}) as never,
      events: { record: async (event) => void events.push(event) },
      makeId,
      world,
      log: { warn: () => {} },
    });
    await schedules.takeOver(1);
    void schedules.runBackground(stop.signal, () => {});
    await settled();
    return { stop: () => stop.abort(), changes };
  };
  const endRuns = async () => {
    for (const end of ends.splice(0)) end();
    await settled();
  };
  const reported = () =>
    events.map(({ type, data }) => [type.replace('autopilot.run_', ''), data.count ?? data.code]);
  return { world, start, started, stored, daemon, endRuns, reported };
}

function storeOf({
  autopilot,
  occurrences,
}: {
  autopilot: AutopilotRecord;
  occurrences: Map<string, OccurrenceRecord>;
}): Pick<AutopilotsStore, 'due' | 'nextDue' | 'claim' | 'endClaim' | 'endLeftClaims'> {
  return {
    due: async (now) => ((autopilot.nextRunAt ?? Infinity) <= now ? [{ ...autopilot }] : []),
    nextDue: async () => autopilot.nextRunAt ?? undefined,
    async claim({ dueAt, nextRunAt, occurrences: given }) {
      if (autopilot.nextRunAt !== dueAt) return false;
      autopilot.nextRunAt = nextRunAt;
      for (const occurrence of given) occurrences.set(occurrence.id, occurrence);
      return true;
    },
    async endClaim(id, reason) {
      const claimed = occurrences.get(id);
      if (reason === null || !claimed) occurrences.delete(id);
      else occurrences.set(id, { ...claimed, status: 'skipped', reason });
    },
    async endLeftClaims() {
      const left = [...occurrences.values()].filter(({ status }) => status === 'claimed');
      for (const each of left) each.status = 'missed';
      return left;
    },
  };
}

test('runs start when they are due', async () => {
  const { world, start, started, endRuns, reported } = place();
  await start();
  await world.advance(hourMs - 1);
  expect(started).toEqual([]);
  await world.advance(1);
  expect(started).toEqual(['09:00']);
  await endRuns();
  await world.advance(2 * hourMs - 1);
  expect(started).toEqual(['09:00', '10:00']);
  expect(reported()).toEqual([]);
});

test('a schedule that is set while the daemon waits is not late', async () => {
  const { world, start, started, stored } = place();
  const { changes } = await start();
  stored.autopilot.nextRunAt = world.now() + 1000;
  await changes.announce([{ topic: 'schedules' }]);
  await settled();
  await world.advance(1000);
  expect(started).toEqual(['08:00']);
});

test('what was missed while no daemon ran is reported once, and not run', async () => {
  const { world, start, started, stored, reported } = place();
  world.shiftWallClock(3 * hourMs + 5000);
  (await start()).stop();
  expect(started).toEqual([]);
  expect(reported()).toEqual([['missed', 3]]);
  expect([...stored.occurrences.values()]).toEqual([
    expect.objectContaining({ status: 'missed', count: 3, workspaceId: 'ws_1' }),
  ]);
  const [missed] = stored.occurrences.values();
  expect([time(missed?.dueAt ?? 0), time(missed?.lastDueAt ?? 0)]).toEqual(['09:00', '11:00']);

  await start();
  await world.advance(hourMs);
  expect(started).toEqual(['12:00']);
  expect(reported()).toEqual([['missed', 3]]);
});

test('what passes while the machine sleeps is missed, too, but not what is due when it wakes', async () => {
  const { world, start, started, reported } = place();
  await start();
  world.shiftWallClock(2 * hourMs + 30 * minuteMs);
  await world.advance(minuteMs);
  expect([started, reported()]).toEqual([[], [['missed', 2]]]);
  world.shiftWallClock(29 * minuteMs);
  await world.advance(minuteMs);
  expect([started, reported()]).toEqual([['11:00'], [['missed', 2]]]);
});

test('of several daemons one starts the run', async () => {
  const { world, start, started, reported } = place();
  for (let daemon = 0; daemon < 3; daemon += 1) await start();
  await world.advance(hourMs);
  expect([started, reported()]).toEqual([['09:00'], []]);
});

test('a run is skipped while the one before it has not ended', async () => {
  const { world, start, started, endRuns, reported } = place();
  await start();
  await world.advance(2 * hourMs);
  expect(started).toEqual(['09:00']);
  expect(reported()).toEqual([['skipped', 'conflict']]);
  await endRuns();
  await world.advance(hourMs);
  expect(started).toEqual(['09:00', '11:00']);
});

test('a clock that is set back runs nothing twice', async () => {
  const { world, start, started, endRuns, reported } = place();
  const { stop } = await start();
  await world.advance(hourMs);
  await endRuns();
  world.shiftWallClock(-30 * minuteMs);
  await world.advance(30 * minuteMs);
  expect(started).toEqual(['09:00']);
  stop();
  world.shiftWallClock(-30 * minuteMs);
  await start();
  await world.advance(hourMs);
  expect(started).toEqual(['09:00']);
  await world.advance(30 * minuteMs);
  expect([started, reported()]).toEqual([['09:00', '10:00'], []]);
});

test('a run that cannot start is skipped, with the reason', async () => {
  const { world, start, started, stored, daemon, reported } = place();
  daemon.refusal = new ApiError('limit_reached', { message: 'The key has expired.' });
  await start();
  await world.advance(hourMs);
  expect([started, reported()]).toEqual([[], [['skipped', 'limit_reached']]]);
  const [skipped] = stored.occurrences.values();
  expect(skipped).toMatchObject({ status: 'skipped', reason: { message: 'The key has expired.' } });
  daemon.refusal = undefined;
  await world.advance(hourMs);
  expect(started).toEqual(['10:00']);
});

test('a run that was claimed but not started when the daemon died is missed', async () => {
  const { world, start, started, daemon, reported } = place();
  daemon.dies = true;
  const { stop } = await start();
  await world.advance(hourMs);
  stop();
  daemon.dies = false;
  await start();
  expect([started, reported()]).toEqual([[], [['missed', 1]]]);
});
