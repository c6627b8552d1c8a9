import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { EventBatch } from '../../../../../../src/daemon/features/inference/lifecycles/background/background-store.ts';
import {
  countEvents,
  EventLog,
  textAfter,
  withoutUnknownEvents,
} from '../../../../../../src/daemon/features/inference/lifecycles/background/event-log.ts';

const eventAt = (sequence: number, size: number) =>
  `event: delta\ndata: {"sequence_number":${sequence},"delta":"${'x'.repeat(size)}"}\n\n`;

/** An in-memory store. Writes take a number of event loop turns, and fail from a given write on. */
function slowStore({ turns = 0, failsFrom = Number.POSITIVE_INFINITY } = {}) {
  const rows: EventBatch[] = [];
  let writes = 0;
  return {
    rows,
    async appendEvents(_id: string, batch: EventBatch): Promise<void> {
      writes += 1;
      const fails = writes >= failsFrom;
      for (let turn = 0; turn < turns; turn += 1) await nextTurn();
      if (fails) throw new Error('the disk is full');
      rows.push(batch);
    },
    async eventsAfter(_id: string, sequence: number): Promise<EventBatch | undefined> {
      return rows.find((row) => row.lastSequence > sequence);
    },
  };
}

/** Sleeping takes one turn of the event loop. */
const world = {
  async sleep(_ms: number, signal?: AbortSignal): Promise<void> {
    await nextTurn();
    if (signal?.aborted) throw new Error('aborted');
  },
};

const sequencesIn = (text: string) =>
  [...text.matchAll(/"sequence_number":(\d+)/g)].map(([, sequence]) => Number(sequence));

async function readAll(log: EventLog, after: number, pauses: number): Promise<number[]> {
  let text = '';
  for await (const batch of log.follow(after, new AbortController().signal)) {
    text += batch.text;
    for (let turn = 0; turn < pauses; turn += 1) await nextTurn();
  }
  return sequencesIn(text);
}

const appends = fc.array(
  fc.record({
    events: fc.integer({ min: 1, max: 6 }),
    size: fc.oneof({ weight: 5, arbitrary: fc.nat(200) }, fc.integer({ min: 10_000, max: 40_000 })),
    turns: fc.nat(3),
  }),
  { maxLength: 30 },
);

const from = (first: number, count: number) => Array.from({ length: count }, (_, index) => first + index);

describe('the events of a running response', () => {
  test('reach every follower once and in order, whenever and wherever it starts and however slow it is', async () => {
    await fc.assert(
      fc.asyncProperty(
        appends,
        fc.nat(5),
        fc.array(
          fc.record({ after: fc.integer({ min: -1, max: 120 }), comesAt: fc.nat(30), pauses: fc.nat(4) }),
          { minLength: 1, maxLength: 6 },
        ),
        async (added, turns, followers) => {
          const store = slowStore({ turns });
          const log = new EventLog({ responseId: 'resp_1', store, world });
          const read: Promise<number[]>[] = [];
          const comeAt = (step: number) => {
            for (const { after, comesAt, pauses } of followers)
              if (comesAt === step) read.push(readAll(log, after, pauses));
          };
          let count = 0;
          for (const [step, { events, size, turns: wait }] of added.entries()) {
            comeAt(step);
            await log.append(
              from(count, events)
                .map((sequence) => eventAt(sequence, size))
                .join(''),
            );
            count += events;
            for (let turn = 0; turn < wait; turn += 1) await nextTurn();
          }
          const late = followers.filter(({ comesAt }) => comesAt >= added.length);
          const early = followers.filter(({ comesAt }) => comesAt < added.length);
          const ending = log.end();
          for (const { after, pauses } of late) read.push(readAll(log, after, pauses));
          await ending;
          const found = await Promise.all(read);
          const expected = [...early.toSorted((a, b) => a.comesAt - b.comesAt), ...late].map(({ after }) =>
            from(after + 1, Math.max(0, count - after - 1)),
          );
          expect(found).toEqual(expected);
          expect(sequencesIn(store.rows.map(({ text }) => text).join(''))).toEqual(from(0, count));
          expect(log.lastSequence).toBe(count - 1);
        },
      ),
      { numRuns: 200 },
    );
  });

  test('have no gaps when the disk fails, and followers end', async () => {
    await fc.assert(
      fc.asyncProperty(appends, fc.integer({ min: 1, max: 4 }), async (added, failsFrom) => {
        const log = new EventLog({ responseId: 'resp_1', store: slowStore({ turns: 1, failsFrom }), world });
        const reading = readAll(log, -1, 0);
        let count = 0;
        for (const { events, size } of added) {
          await log.append(
            from(count, events)
              .map((sequence) => eventAt(sequence, size))
              .join(''),
          );
          count += events;
        }
        await log.end();
        const seen = await reading;
        expect(seen).toEqual(from(0, seen.length));
      }),
      { numRuns: 100 },
    );
  });

  test('are written in few batches, and wait for a slow disk', async () => {
    const store = slowStore({ turns: 200 });
    const log = new EventLog({ responseId: 'resp_1', store, world });
    let waiting = 0;
    let most = 0;
    for (let sequence = 0; sequence < 3000; sequence += 1) {
      const text = eventAt(sequence, 1000);
      waiting += text.length;
      await log.append(text);
      const written = store.rows.reduce((sum, row) => sum + row.text.length, 0);
      most = Math.max(most, waiting - written);
    }
    await log.end();
    expect(store.rows.length).toBeLessThan(100);
    expect(most).toBeLessThan(1.5 * 1024 * 1024);
  });

  test('end for a follower that leaves', async () => {
    const log = new EventLog({ responseId: 'resp_1', store: slowStore(), world });
    const leaving = new AbortController();
    const following = log.follow(-1, leaving.signal);
    await log.append(eventAt(0, 1));
    expect((await following.next()).value?.lastSequence).toBe(0);
    const next = following.next();
    leaving.abort();
    expect((await next).done).toBe(true);
  });
});

describe('a batch of events', () => {
  test('can be cut after any event', () => {
    const events = from(5, 4).map((sequence) => eventAt(sequence, 3));
    const batch = { lastSequence: 8, text: events.join('') };
    expect(countEvents(batch.text)).toBe(4);
    for (const seen of from(-1, 12)) {
      const left = events.slice(Math.max(0, seen - 4)).join('');
      expect(textAfter(batch, seen)).toBe(seen < 5 ? batch.text : left);
    }
  });

  test.each(['service:route', 'codex.rate_limits', 'response.made_up.delta'])(
    'loses only what OpenAI does not define for strict clients: %s',
    (name) => {
      const event = (type: string) => `event: ${type}\ndata: {"type":"${type}"}\n\n`;
      const [first, last] = [event('response.output_text.delta'), event('response.completed')];
      expect(withoutUnknownEvents(first + event(name) + last)).toBe(first + last);
      expect(withoutUnknownEvents(event(name))).toBe('');
      expect(withoutUnknownEvents(first)).toBe(first);
    },
  );
});
