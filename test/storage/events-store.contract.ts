import { describe, expect, test } from 'vitest';
import { aSettlement, morning, type OpenStorage } from './records.ts';

const event = (number: number, workspaceId = 'ws_1') => ({
  type: 'key.revoked',
  workspaceId,
  at: morning + number,
  data: { number, text: 'é\n"' },
});

export function eventsStoreContract(open: OpenStorage): void {
  describe('events', () => {
    test('are numbered from 1 without gaps, together with those of settled calls', async () => {
      const { events, metering } = await open();
      expect(await events.last()).toBe(0);
      const sequences = await Promise.all([
        events.append(event(1)),
        metering.settle(aSettlement('req_1')),
        events.append(event(3)),
      ]);
      expect(sequences).toEqual([1, 2, 3]);
      expect(await events.last()).toBe(3);
    });

    test('leave no gap where a write fails', async () => {
      const { events, metering } = await open();
      const [first, second, third] = await Promise.allSettled([
        metering.settle(aSettlement('req_1')),
        metering.settle(aSettlement('req_1')),
        events.append(event(1)),
      ]);
      expect([first, third]).toEqual([
        { status: 'fulfilled', value: 1 },
        { status: 'fulfilled', value: 2 },
      ]);
      expect(second.status).toBe('rejected');
    });

    test('are read after a sequence, oldest first, from one workspace alone', async () => {
      const { events } = await open();
      for (const number of [1, 2, 3, 4, 5])
        await events.append(event(number, number === 3 ? 'ws_2' : 'ws_1'));

      expect(await events.after(['ws_1'], 1, 10)).toEqual([
        { sequence: 2, ...event(2) },
        { sequence: 4, ...event(4) },
        { sequence: 5, ...event(5) },
      ]);
      expect((await events.after(['ws_1'], 0, 2)).map(({ sequence }) => sequence)).toEqual([1, 2]);
      expect(await events.after(['ws_1'], 5, 10)).toEqual([]);
      expect(await events.after(['ws_1'], 99, 10)).toEqual([]);
    });

    test('include those of settled calls, in order', async () => {
      const { events, metering } = await open();
      await metering.settle(aSettlement('req_1'));
      await events.append(event(1));
      await metering.settle(aSettlement('req_2', { workspaceId: 'ws_2' }));
      await metering.settle(aSettlement('req_3', { status: 'failed', errorCode: 'no_route' }));
      const found = await events.after(['ws_1'], 0, 10);
      expect(found).toMatchObject([
        {
          sequence: 1,
          type: 'request.completed',
          at: morning + 23,
          data: { request_id: 'req_1', key: 'key_1', cost_usd: '0.000000786' },
        },
        { sequence: 2, ...event(1) },
        { sequence: 4, type: 'request.failed', data: { request_id: 'req_3', error_code: 'no_route' } },
      ]);
      expect(await events.after(['ws_1'], 2, 10)).toEqual(found.slice(2));
      expect(await events.after(['ws_1'], 0, 2)).toEqual(found.slice(0, 2));
      expect(await events.prune(0, 2)).toBe(2);
      expect(await events.first()).toBe(3);
      expect(await events.after(['ws_1'], 0, 10)).toEqual(found.slice(2));
      expect(await metering.usage('req_1')).toBeDefined();
    });

    test('are found behind many events of another workspace', async () => {
      const { events } = await open();
      await Promise.all(Array.from({ length: 9000 }, (_, number) => events.append(event(number))));
      await events.append(event(1, 'ws_2'));
      expect(await events.after(['ws_2'], 0, 10)).toEqual([{ sequence: 9001, ...event(1, 'ws_2') }]);
    });

    test('are pruned by age and number, and the sequence keeps rising', async () => {
      const { events } = await open();
      for (const number of [1, 2, 3, 4, 5]) await events.append(event(number));

      expect(await events.prune(morning + 2, 100)).toBe(1);
      expect(await events.prune(0, 3)).toBe(1);
      expect(await events.first()).toBe(3);
      expect((await events.after(['ws_1'], 0, 10)).map(({ sequence }) => sequence)).toEqual([3, 4, 5]);
      expect(await events.prune(morning + 99, 100)).toBe(3);
      expect(await events.after(['ws_1'], 0, 10)).toEqual([]);
      expect([await events.first(), await events.last()]).toEqual([6, 5]);
      expect(await events.append(event(6))).toBe(6);
    });

    test('are pruned in any number', async () => {
      const { events } = await open();
      await Promise.all(Array.from({ length: 2500 }, (_, number) => events.append(event(number))));
      expect(await events.prune(0, 10)).toBe(2490);
      expect((await events.after(['ws_1'], 0, 100)).length).toBe(10);
    });
  });
}
