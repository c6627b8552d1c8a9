import { describe, expect, test } from 'vitest';
import type { EventsStore, NewEvent } from '../../src/daemon/features/events/store.ts';
import { aSettlement, morning, type OpenStorage } from './records.ts';

const event = (number: number, workspaceId = 'ws_1') => ({
  type: 'key.revoked',
  workspaceId,
  at: morning + number,
  data: { number, text: 'é\n"' },
});

/** Appends events one after the other; resolves to their sequences. */
async function appendInTurn(
  events: EventsStore,
  count: number,
  make: (number: number) => NewEvent,
): Promise<number[]> {
  const sequences: number[] = [];
  for (let number = 1; number <= count; number += 1) sequences.push(await events.append(make(number)));
  return sequences;
}

export function eventsStoreContract(open: OpenStorage): void {
  describe('events', () => {
    test('are numbered in the order of their commits, together with those of settled calls', async () => {
      const { events, metering } = await open();
      expect(await events.last()).toBe(0);
      const sequences = await Promise.all([
        events.append(event(1)),
        metering.settle(aSettlement('req_1')),
        events.append(event(3)),
      ]);
      expect(sequences).toEqual(sequences.toSorted((a, b) => a - b));
      expect(new Set(sequences).size).toBe(3);
      expect(await events.last()).toBe(sequences.at(-1));
    });

    test('are stored although a write between them fails', async () => {
      const { events, metering } = await open();
      const written = await Promise.allSettled([
        metering.settle(aSettlement('req_1')),
        metering.settle(aSettlement('req_1')),
        events.append(event(1)),
      ]);
      expect(written.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
      const found = await events.after(['ws_1'], 0, 10);
      const sequences = written.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
      expect(found.map(({ sequence }) => sequence)).toEqual(sequences);
    });

    test('are read after a sequence, oldest first, from one workspace alone', async () => {
      const { events } = await open();
      const [first = 0, second = 0, , fourth = 0, fifth = 0] = await appendInTurn(events, 5, (number) =>
        event(number, number === 3 ? 'ws_2' : 'ws_1'),
      );
      expect(await events.after(['ws_1'], first, 10)).toEqual([
        { sequence: second, ...event(2) },
        { sequence: fourth, ...event(4) },
        { sequence: fifth, ...event(5) },
      ]);
      const found = await events.after(['ws_1'], 0, 2);
      expect(found.map(({ sequence }) => sequence)).toEqual([first, second]);
      expect(await events.after(['ws_1'], fifth, 10)).toEqual([]);
      expect(await events.after(['ws_1'], fifth + 94, 10)).toEqual([]);
    });

    test('include those of settled calls, in order', async () => {
      const { events, metering } = await open();
      const settled = await metering.settle(aSettlement('req_1'));
      const appended = await events.append(event(1));
      const other = await metering.settle(aSettlement('req_2', { workspaceId: 'ws_2' }));
      const failed = await metering.settle(aSettlement('req_3', { status: 'failed', errorCode: 'no_route' }));
      const found = await events.after(['ws_1'], 0, 10);
      expect(found).toMatchObject([
        {
          sequence: settled,
          type: 'request.completed',
          at: morning + 23,
          data: { request_id: 'req_1', key: 'key_1', cost_usd: '0.000000786' },
        },
        { sequence: appended, ...event(1) },
        { sequence: failed, type: 'request.failed', data: { request_id: 'req_3', error_code: 'no_route' } },
      ]);
      expect(await events.after(['ws_1'], appended, 10)).toEqual(found.slice(2));
      expect(await events.after(['ws_1'], 0, 2)).toEqual(found.slice(0, 2));
      expect(await events.prune(0, 2)).toBe(2);
      expect(await events.prunedTo()).toBeGreaterThanOrEqual(appended);
      expect(await events.prunedTo()).toBeLessThan(other);
      expect(await events.after(['ws_1'], 0, 10)).toEqual(found.slice(2));
      expect(await metering.usage('req_1')).toBeDefined();
    });

    test('are found behind many events of another workspace', async () => {
      const { events } = await open();
      await Promise.all(Array.from({ length: 9000 }, (_, number) => events.append(event(number))));
      const sequence = await events.append(event(1, 'ws_2'));
      expect(await events.after(['ws_2'], 0, 10)).toEqual([{ sequence, ...event(1, 'ws_2') }]);
    });

    test('are pruned by age and number, and the sequence keeps rising', async () => {
      const { events } = await open();
      const sequences = await appendInTurn(events, 5, event);
      expect(await events.prunedTo()).toBe(0);

      expect(await events.prune(morning + 2, 100)).toBe(1);
      expect(await events.prune(0, 3)).toBe(1);
      const [, second = 0, third = 0] = sequences;
      expect(await events.prunedTo()).toBeGreaterThanOrEqual(second);
      expect(await events.prunedTo()).toBeLessThan(third);
      const kept = await events.after(['ws_1'], 0, 10);
      expect(kept.map(({ sequence }) => sequence)).toEqual(sequences.slice(2));
      expect(await events.prune(morning + 99, 100)).toBe(3);
      expect(await events.after(['ws_1'], 0, 10)).toEqual([]);
      const last = sequences.at(-1) ?? 0;
      expect([await events.prunedTo(), await events.last()]).toEqual([last, last]);
      expect(await events.append(event(6))).toBeGreaterThan(last);
    });

    test('are pruned in any number', async () => {
      const { events } = await open();
      await Promise.all(Array.from({ length: 2500 }, (_, number) => events.append(event(number))));
      expect(await events.prune(0, 10)).toBe(2490);
      expect((await events.after(['ws_1'], 0, 100)).length).toBe(10);
    });
  });
}
