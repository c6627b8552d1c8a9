import { describe, expect, test } from 'vitest';
import type {
  MeteringStore,
  SeriesPoint,
  UsageFilter,
  UsageGroup,
  UsagePage,
} from '../../src/daemon/features/metering/store.ts';
import { distribution } from '../../src/daemon/features/metering/usage/series-view.ts';
import { noLabels } from '../../src/shared/constants/call-labels.ts';
import { bucketsOf } from '../../src/shared/time/time-zones.ts';
import { memoryMeteringReads } from '../support/memory-stores.ts';
import {
  aHold,
  aSettlement,
  aUsage,
  dayMs,
  entriesOf,
  morning,
  type OpenStorage,
  tokens,
} from './records.ts';

export function meteringStoreContract(open: OpenStorage): void {
  describe('holds', () => {
    test('are left if they are not settled, with their last progress', async () => {
      const { metering, daemons } = await open();
      await metering.hold(aHold('req_1'));
      await metering.hold(aHold('req_2', { keyId: null, createdAt: morning + 1 }));
      await metering.progress({ requestId: 'req_2', provider: 'openai', tokens, cost: 300 });
      await metering.progress({ requestId: 'req_none', provider: 'openai', tokens, cost: 300 });

      const unknown = { progressTokens: null, progressCost: null, provider: null };
      expect(await metering.leftHolds(daemons.own + 1)).toEqual([]);
      expect(await metering.leftHolds(daemons.own)).toEqual([
        { ...aHold('req_1'), ...unknown },
        {
          ...aHold('req_2', { keyId: null, createdAt: morning + 1 }),
          progressTokens: tokens,
          progressCost: 300,
          provider: 'openai',
        },
      ]);
    });

    test('are unique per request', async () => {
      const { metering } = await open();
      await metering.hold(aHold('req_1'));
      await expect(metering.hold(aHold('req_1'))).rejects.toMatchObject({ code: 'conflict' });
    });

    test.each([
      ['after its hold was written', true],
      ['in the same turn', false],
    ])('end with the settlement, %s', async (_when, isApart) => {
      const { metering, daemons } = await open();
      const held = metering.hold(aHold('req_1'));
      if (isApart) await held;
      const settled = metering.settle(aSettlement('req_1'));

      expect(await held).toBeUndefined();
      expect(await settled).toBe(1);
      expect(await metering.leftHolds(daemons.own)).toEqual([]);
      expect(await metering.usage('req_1')).toEqual(aUsage('req_1'));
    });

    test('stay when a settlement of the same turn is refused', async () => {
      const { metering, daemons } = await open();
      await metering.settle(aSettlement('req_1'));
      const held = metering.hold(aHold('req_1'));
      await expect(metering.settle(aSettlement('req_1'))).rejects.toMatchObject({ code: 'conflict' });
      await held;
      expect(await metering.leftHolds(daemons.own)).toHaveLength(1);
    });
  });

  test('a call keeps its labels, prices, cache use and status, also as a hold', async () => {
    const { metering, daemons } = await open();
    const labels = {
      client: 'claude-cli/2.1.4',
      user: 'ann',
      conversation: 'conv 1',
      tags: { team: 'search', job: '7=8' },
      replayOf: 'req_0',
    };
    const prices = { input: 3_000, cachedInput: 300, cacheWrite: 0, output: 15_000 };
    const dear = { ...prices, media: { audioInput: 40_000 }, fees: { webSearch: 10 } };
    const first = { labels, prices, cache: 'miss', httpStatus: 200 } as const;
    const second = { labels: { ...labels, tags: {}, user: null }, prices: dear, httpStatus: null } as const;
    await metering.hold(aHold('req_1', { labels }));
    expect(await metering.leftHolds(daemons.own)).toMatchObject([{ labels }]);
    await metering.settle(aSettlement('req_1', first));
    await metering.settle(aSettlement('req_2', second));
    expect(await metering.usage('req_1')).toEqual(aUsage('req_1', first));
    expect(await metering.usage('req_2')).toEqual(aUsage('req_2', second));
  });

  describe('a settlement', () => {
    test('is stored unchanged', async () => {
      const { metering } = await open();
      const usage = aUsage('req_1', {
        responseId: null,
        keyId: null,
        provider: null,
        streamed: false,
        ownKey: true,
        status: 'failed',
        errorCode: 'no_route',
        tokensReported: false,
        cost: null,
        charged: 0,
        attempts: [],
        ttftMs: null,
      });
      await metering.settle({ ...aSettlement('req_1'), usage, entries: [] });
      expect(await metering.usage('req_1')).toEqual(usage);
      expect(await metering.usage('req_2')).toBeUndefined();
    });

    test('is refused the second time and changes nothing', async () => {
      const { metering, ledger } = await open();
      await metering.settle(aSettlement('req_1'));
      await expect(metering.settle(aSettlement('req_1', { charged: 1 }))).rejects.toMatchObject({
        code: 'conflict',
      });
      expect(await metering.spendOfKey('key_1', morning)).toEqual({
        total: 786,
        day: 786,
        week: 786,
        month: 786,
      });
      expect(await ledger.verify()).toMatchObject({ accounts: 3, problems: [] });
      expect((await metering.served())[0]?.requests).toBe(1);
    });

    test.each([0, -1, 1.5])('with an entry of %d is refused', async (amount) => {
      const { metering, ledger } = await open();
      const entries = entriesOf('ws_1', 5, 1).map((entry) => ({ ...entry }));
      const second = entries[1];
      if (second) second.amount = amount;
      await expect(metering.settle({ ...aSettlement('req_1'), entries })).rejects.toThrow();
      expect(await metering.usage('req_1')).toBeUndefined();
      expect(await ledger.verify()).toMatchObject({ accounts: 0, problems: [] });
    });
  });

  test('a key has spent what it was charged, per day and month', async () => {
    const { metering } = await open();
    const charge = (
      requestId: string,
      charged: number,
      completedAt: number,
      keyId: string | null = 'key_1',
    ) => metering.settle(aSettlement(requestId, { charged, completedAt, keyId }));
    await charge('req_1', 1, morning);
    await charge('req_2', 10, morning + 60_000);
    await charge('req_3', 100, morning - dayMs);
    await charge('req_4', 1000, morning - 30 * dayMs);
    await charge('req_5', 5, morning, 'key_2');
    await charge('req_6', 5, morning, null);

    expect(await metering.spendOfKey('key_1', morning + 3)).toEqual({
      total: 1111,
      day: 11,
      week: 111,
      month: 111,
    });
    expect(await metering.spendOfKey('key_3', morning)).toEqual({ total: 0, day: 0, week: 0, month: 0 });
  });

  test('served tokens are summed by day, caller, own key and tier', async () => {
    const { metering } = await open();
    const settle = (requestId: string, changes: object, usage: object = {}) =>
      metering.settle({ ...aSettlement(requestId, usage), ...changes });
    await Promise.all([
      settle('req_1', {}),
      settle('req_2', {}),
      settle('req_3', { caller: 'agent', tier: 'free' }),
      settle('req_4', {}, { ownKey: true }),
      settle('req_5', {}, { completedAt: morning - dayMs }),
    ]);
    const day = { day: '2026-11-21', caller: 'key', ownKey: false, tier: 'paid' };
    const one = { requests: 1, inputTokens: 12, outputTokens: 50 };
    expect(await metering.served()).toEqual([
      { ...day, day: '2026-11-20', ...one },
      { ...day, caller: 'agent', tier: 'free', ...one },
      { ...day, requests: 2, inputTokens: 24, outputTokens: 100 },
      { ...day, ownKey: true, ...one },
    ]);
  });

  describe('a summary', () => {
    const fill = async () => {
      const { metering } = await open();
      const calls = [
        aSettlement('req_1', { model: 'b', completedAt: morning - dayMs }),
        aSettlement('req_2', { model: 'a' }),
        aSettlement('req_3', { model: 'a', keyId: null, cost: null, charged: 0 }),
        aSettlement('req_4', { model: 'a', keyId: 'key_0' }),
        aSettlement('req_5', { workspaceId: 'ws_2' }),
      ];
      await Promise.all(calls.map((call) => metering.settle(call)));
      return metering;
    };
    const all = {
      workspaceId: 'ws_1',
      keyId: undefined,
      model: undefined,
      since: 0,
      until: morning + dayMs,
      timeZone: 'UTC',
    };
    const times = (count: number) => ({
      input: 12 * count,
      cachedInput: 4 * count,
      cacheWrite: 0,
      output: 50 * count,
      reasoning: 7 * count,
    });
    const costs = (count: number) => ({
      cost: { provider: 700 * count, margin: 86 * count, total: 786 * count },
      charged: 786 * count,
    });

    test('groups by day', async () => {
      const metering = await fill();
      expect(await metering.summarize({ ...all, groupBy: ['day'] })).toEqual([
        { groups: ['2026-11-20'], requests: 1, rejected: 0, unpriced: 0, tokens: times(1), ...costs(1) },
        { groups: ['2026-11-21'], requests: 3, rejected: 0, unpriced: 1, tokens: times(3), ...costs(2) },
      ]);
    });

    test('groups by model and by key, calls of logins last', async () => {
      const metering = await fill();
      const names = async (groupBy: 'model' | 'key') =>
        (await metering.summarize({ ...all, groupBy: [groupBy] })).map(({ groups: [name], requests }) => [
          name,
          requests,
        ]);
      expect(await names('model')).toEqual([
        ['a', 3],
        ['b', 1],
      ]);
      expect(await names('key')).toEqual([
        ['key_0', 1],
        ['key_1', 2],
        [null, 1],
      ]);
    });

    test('is limited to a key, a model and a time', async () => {
      const metering = await fill();
      const count = async (filter: object) =>
        (await metering.summarize({ ...all, groupBy: ['key'], ...filter })).reduce(
          (sum, { requests }) => sum + requests,
          0,
        );
      expect(await count({ keyId: 'key_1' })).toBe(2);
      expect(await count({ keyId: 'key_1', model: 'a' })).toBe(1);
      expect(await count({ since: morning + 23 })).toBe(3);
      expect(await count({ since: morning + 24 })).toBe(0);
      expect(await count({ until: morning + 23 })).toBe(1);
    });

    test('of any range, filter and grouping is the sum of the calls in it', async () => {
      const { metering } = await open();
      const hour = dayMs / 24;
      const midnight = morning - 8 * hour;
      const pick = <T>(all: readonly T[], number: number): T => all[number % all.length] as T;
      const reads = memoryMeteringReads();
      // Enough that an engine which adds them up in bulk has done so with a part of them.
      for (let number = 0; number < 900; number += 1) {
        reads.calls.push(
          aUsage(`req_${number}`, {
            completedAt: midnight + Math.floor(number / 12) * (number < 300 ? 3 : 27) * hour,
            keyId: pick(['key_1', 'key_2', null], number),
            model: pick(['a', 'b'], number),
            provider: pick(['openai', null], number),
            status: pick(['completed', 'failed', 'completed'], number),
            labels: {
              ...noLabels,
              client: pick(['curl/8', 'agent/1', null], number),
              user: pick([null, 'ann'], number),
              tags: pick<Record<string, string>>([{}, { team: 'a' }, { team: 'a', job: '7' }], number),
            },
            ...(number % 5 === 0 && { cost: null, charged: 0 }),
          }),
        );
      }
      for (const part of [reads.calls.slice(0, 600), reads.calls.slice(600)]) {
        await Promise.all(part.map((call) => metering.settle(aSettlement(call.requestId, call))));
      }
      const newest = reads.calls.at(-1)?.completedAt ?? 0;
      const bounds = [
        0,
        midnight,
        midnight + 1,
        midnight + 5 * hour,
        midnight + dayMs,
        midnight + dayMs - 1,
        midnight + 37 * dayMs + hour,
      ];
      const ends = [
        midnight + dayMs,
        midnight + dayMs + 3 * hour,
        midnight + 3 * dayMs + 20 * hour,
        midnight + 45 * dayMs,
        midnight + 75 * dayMs + 5 * hour,
        newest,
        newest + 1,
      ];
      let asked = 0;
      const same = async (filter: UsageFilter) => {
        asked += 1;
        // A fifth has each range, and each filter and grouping, though not all of them together.
        if (open.isSlow && asked % 5 !== 0) return;
        expect(await metering.summarize(filter), JSON.stringify(filter)).toEqual(
          await reads.summarize(filter),
        );
      };
      for (const since of bounds) {
        for (const until of ends) {
          if (since >= until) continue;
          for (const groupBy of [
            ['day'],
            ['model'],
            ['key'],
            ['provider', 'status'],
            ['day', 'key'],
          ] as const) {
            for (const only of [{}, { keyId: 'key_1' }, { model: 'b' }, { keyId: 'key_2', model: 'a' }])
              await same({ ...all, ...only, since, until, groupBy });
          }
          const others = [
            ['key', 'status'],
            ['model', 'key'],
            ['client'],
            ['tag'],
            ['day', 'user'],
            ['tag', 'day'],
          ];
          for (const groupBy of others as UsageFilter['groupBy'][])
            await same({ ...all, since, until, groupBy });
          for (const timeZone of ['Asia/Kathmandu', 'America/St_Johns'])
            for (const only of [{}, { keyId: 'key_1' }, { keyId: 'key_1', model: 'a' }])
              await same({ ...all, ...only, since, until, groupBy: ['day', 'status'], timeZone });
        }
      }
      for (const groupBy of [
        ['key'],
        ['day', 'key'],
        ['model', 'key'],
        ['key', 'provider'],
        ['status', 'day'],
      ]) {
        for (const timeZone of ['UTC', ...(groupBy.includes('key') ? [] : ['Asia/Kathmandu'])]) {
          const since = midnight + 5 * hour;
          const filter = { ...all, since, groupBy: groupBy as UsageFilter['groupBy'], timeZone };
          await expectPages(metering, reads, filter);
          const after = groupBy.map(() => 'none');
          expect(await metering.usagePage({ ...filter, after, limit: 5 })).toBeUndefined();
        }
      }
      const total = async (filter: Partial<UsageFilter>) =>
        await reads.summarize({ ...all, ...filter, groupBy: [] });
      const zone = 'Australia/Lord_Howe';
      for (const bucket of ['hour', 'day', 'week'] as const) {
        const since = midnight + 5 * hour + (bucket === 'hour' ? 71 * dayMs : 0);
        const range = { since, until: midnight + 75 * dayMs };
        const buckets = bucketsOf(range, { bucket, timeZone: zone, most: 1_000 }) ?? [];
        const byError = await metering.series({
          ...all,
          provider: undefined,
          status: undefined,
          buckets,
          groupBy: 'error',
          top: 20,
        });
        for (const [index, { start, end }] of buckets.entries()) {
          const failures = reads.calls.filter(
            ({ errorCode, completedAt }) => errorCode !== null && completedAt >= start && completedAt < end,
          );
          const counted = byError.map(({ group, points }) => [group, points[index]?.requests] as const);
          for (const [code, count] of counted)
            expect(count).toBe(failures.filter(({ errorCode }) => errorCode === code).length);
          expect(counted.reduce((sum, [, count = 0]) => sum + count, 0)).toBe(failures.length);
        }
        for (const groupBy of [undefined, 'model', 'status', 'key'] as const) {
          for (const keyId of [undefined, 'key_1']) {
            const filter = {
              ...all,
              keyId,
              provider: undefined,
              status: undefined,
              buckets,
              groupBy,
              top: 1,
            };
            const series = await metering.series(filter);
            expect(series.findIndex(({ isOther }) => isOther)).toBe(series.length === 1 ? -1 : 1);
            for (const [index, { start, end }] of buckets.entries()) {
              const [calls] = await total({ keyId, since: start, until: end });
              const sum = (of: (point: SeriesPoint) => number) =>
                series.reduce((all, { points }) => all + of(points[index] as SeriesPoint), 0);
              const found = [
                sum(({ requests }) => requests),
                sum(({ cost }) => cost.total),
                sum(({ tokens }) => tokens.output),
              ];
              const { requests = 0, cost, tokens } = calls ?? {};
              expect(found).toEqual([requests, cost?.total ?? 0, tokens?.output ?? 0]);
            }
            const errors = series
              .flatMap(({ points }) => points)
              .reduce((sum, point) => sum + point.errors, 0);
            const [first, last] = [buckets[0], buckets.at(-1)];
            const failed = reads.calls.filter(
              (call) =>
                call.status === 'failed' &&
                (keyId === undefined || call.keyId === keyId) &&
                call.completedAt >= (first?.start ?? 0) &&
                call.completedAt < (last?.end ?? 0),
            );
            expect(errors).toBe(failed.length);
          }
        }
      }
    });

    test('by provider or status and key, pages have what many and few calls of many keys add up to', async () => {
      const { metering } = await open();
      const hour = dayMs / 24;
      const reads = memoryMeteringReads();
      for (let number = 0; number < 800; number += 1) {
        reads.calls.push(
          aUsage(`req_${number}`, {
            completedAt: morning + number * hour,
            keyId: number % 46 === 0 ? null : `key_${number % 46}`,
            provider: number % 8 === 0 ? null : number % 8 === 1 ? 'azure' : 'openai',
            status: number % 9 === 0 ? 'failed' : 'completed',
          }),
        );
      }
      await Promise.all(reads.calls.map((call) => metering.settle(aSettlement(call.requestId, call))));
      for (const groupBy of [
        ['status', 'key'],
        ['provider', 'key'],
      ] as const) {
        for (const [since, until] of [
          [0, morning + 900 * hour],
          [morning + 3 * hour, morning + 790 * hour],
          [morning + 700 * hour, morning + 710 * hour],
        ] as const) {
          for (const only of [{}, { keyId: 'key_1' }, { model: 'a' }]) {
            const filter = { ...all, ...only, since, until, groupBy };
            await expectPages(metering, reads, filter);
            for (const after of [
              ['none', 'key_1'],
              ['completed', 'none'],
              ['openai', 'none'],
              ['azure', 'none'],
            ])
              expect(await metering.usagePage({ ...filter, after, limit: 5 })).toBeUndefined();
          }
        }
      }
    });
  });

  test('latency is the number of calls by steps of a quarter of a doubling', async () => {
    const { metering } = await open();
    const durations = Array.from({ length: 600 }, (_, index) => 10 + ((index * 7919) % 20_000));
    await Promise.all(
      durations.map((totalMs, index) =>
        metering.settle(
          aSettlement(`req_${index}`, {
            totalMs,
            ttftMs: index % 2 === 0 ? Math.ceil(totalMs / 2) : null,
            model: index % 3 === 0 ? 'a' : 'b',
            status: index % 100 === 0 ? 'failed' : 'completed',
            completedAt: morning + (index % 3) * 3_600_000,
          }),
        ),
      ),
    );
    const hour = 3_600_000;
    const buckets = [0, 1, 2].map((index) => ({
      start: morning + index * hour,
      end: morning + (index + 1) * hour,
    }));
    const filter = {
      workspaceId: 'ws_1',
      model: undefined,
      provider: undefined,
      buckets,
      groupBy: undefined,
    };
    const [all] = await metering.latency(filter);
    const answered = durations.filter((_, index) => index % 100 !== 0);
    const counted = all?.total.flatMap((histogram) => [...histogram.values()]) ?? [];
    expect(counted.reduce((sum, calls) => sum + calls, 0)).toBe(answered.length);
    for (const [hourIndex, histogram] of (all?.total ?? []).entries()) {
      const exact = durations
        .filter((_, index) => index % 3 === hourIndex && index % 100 !== 0)
        .sort((a, b) => a - b);
      for (const [name, share] of [
        ['p50', 0.5],
        ['p95', 0.95],
        ['p99', 0.99],
      ] as const) {
        const expected = exact[Math.max(1, Math.ceil(exact.length * share)) - 1] as number;
        const found = distribution(histogram)[name] as number;
        expect(Math.abs(found / expected - 1), `${name} ${found} ${expected}`).toBeLessThan(0.1);
      }
    }
    const byModel = await metering.latency({ ...filter, groupBy: 'model' });
    expect(byModel.map(({ group }) => group).sort()).toEqual(['a', 'b']);
    expect(await metering.latency({ ...filter, model: 'none' })).toEqual([]);
    const long = [{ start: morning - 20 * dayMs, end: morning + dayMs }];
    const [days] = await metering.latency({ ...filter, buckets: long });
    expect([...(days?.firstToken[0]?.values() ?? [])].reduce((sum, calls) => sum + calls, 0)).toBe(300);
  });

  test.each([1, 20])(
    'latency includes the hour or day that has just begun, of the last %d days',
    async (days) => {
      const { metering } = await open();
      const minute = 60_000;
      await metering.settle(aSettlement('req_1', { completedAt: morning + minute }));
      const buckets = [{ start: morning - days * dayMs, end: morning + 2 * minute }];
      const everything = { workspaceId: 'ws_1', model: undefined, provider: undefined, groupBy: undefined };
      const [all] = await metering.latency({ ...everything, buckets });
      expect([...(all?.total[0]?.values() ?? [])]).toEqual([1]);
    },
  );
}

/** All pages together are the summary, and each has the sums of all. */
async function expectPages(
  metering: Pick<MeteringStore, 'usagePage'>,
  reads: ReturnType<typeof memoryMeteringReads>,
  filter: UsageFilter,
): Promise<void> {
  const total = (await reads.usagePage({ ...filter, after: undefined, limit: 1 }))?.total;
  const pages: UsageGroup[] = [];
  let page: UsagePage | undefined;
  do {
    page = await metering.usagePage({ ...filter, after: pages.at(-1)?.groups, limit: 14 });
    pages.push(...(page?.groups ?? []));
    expect(page?.total).toEqual(total);
  } while (page?.hasMore);
  expect(pages, JSON.stringify(filter)).toEqual(await reads.summarize(filter));
}
