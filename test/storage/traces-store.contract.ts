import { describe, expect, test } from 'vitest';
import type { UsageRecord } from '../../src/daemon/features/metering/index.ts';
import type {
  Rejection,
  RejectionsFilter,
  TracesFilter,
  TracesSearch,
} from '../../src/daemon/features/traces/store.ts';
import { noLabels } from '../../src/shared/call-labels.ts';
import { aSettlement, aUsage, dayMs, morning, noSearch, type OpenStorage } from './records.ts';

export function tracesStoreContract(open: OpenStorage): void {
  const trace = {
    admittedMs: 1,
    heldMs: 2,
    startedMs: [3],
    finishReason: 'stop',
    routes: [{ provider: 'openai', model: 'gpt-5' }],
    dropped: [{ param: 'tools[0]', type: 'web_search' }, { param: 'metadata' }],
  };
  const attempts = [
    {
      provider: 'acme',
      model: 'm',
      status: 503,
      errorCode: 'server_error',
      message: 'It is on fire.',
      ms: 1,
    },
    { provider: 'openai', model: 'gpt-5', status: 200, errorCode: null, ms: 2 },
  ];
  const openWithCalls = async () => {
    const { metering, traces } = await open();
    const settle = (id: string, changes: Parameters<typeof aUsage>[1]) =>
      metering.settle(aSettlement(id, changes));
    await settle('req_1', { completedAt: morning + 1, trace, attempts });
    await settle('req_2', { completedAt: morning + 2, status: 'failed', provider: 'anthropic' });
    await settle('req_3', { completedAt: morning + 2, keyId: null, model: 'anthropic/claude' });
    await settle('req_4', { completedAt: morning + 3, workspaceId: 'ws_2' });
    const list = async (filter: Partial<TracesFilter>) => {
      const any = { status: undefined, model: undefined, provider: undefined, keyId: undefined };
      const page = { since: undefined, until: undefined, after: undefined, limit: 10 };
      const calls = await traces.list({ workspaceId: 'ws_1', ...any, ...page, ...filter });
      return calls.map(({ requestId }) => requestId);
    };
    return { traces, list };
  };

  describe('traces', () => {
    test('are found in their workspace', async () => {
      const { traces } = await openWithCalls();
      expect(await traces.find('ws_1', 'req_1')).toEqual(
        aUsage('req_1', { completedAt: morning + 1, trace, attempts }),
      );
      expect(await traces.find('ws_2', 'req_1')).toBeUndefined();
    });

    test('are listed by their end, newest first, page by page', async () => {
      const { list } = await openWithCalls();
      expect(await list({})).toEqual(['req_3', 'req_2', 'req_1']);
      expect(await list({ limit: 2 })).toEqual(['req_3', 'req_2']);
      expect(await list({ after: 'req_2' })).toEqual(['req_1']);
      expect(await list({ after: 'req_4' })).toEqual([]);
    });

    test.each<[Partial<TracesFilter>, string[]]>([
      [{ status: 'failed' }, ['req_2']],
      [{ provider: 'openai' }, ['req_3', 'req_1']],
      [{ model: 'anthropic/claude' }, ['req_3']],
      [{ keyId: 'key_1' }, ['req_2', 'req_1']],
      [{ since: morning + 2 }, ['req_3', 'req_2']],
      [{ until: morning + 2 }, ['req_1']],
      [{ workspaceId: 'ws_2' }, ['req_4']],
      [{ status: 'completed' }, ['req_3', 'req_1']],
      [{ status: 'canceled' }, []],
      [{ model: 'openai/gpt-5', keyId: 'key_1' }, ['req_2', 'req_1']],
      [{ model: 'openai/gpt-5', status: 'completed' }, ['req_1']],
      [{ model: 'anthropic/claude', status: 'failed' }, []],
      [{ keyId: 'key_1', provider: 'anthropic', status: 'failed' }, ['req_2']],
      [{ status: 'completed', after: 'req_3' }, ['req_1']],
      [{ status: 'failed', after: 'req_3' }, ['req_2']],
      [{ model: 'no/such' }, []],
      [{ workspaceId: 'ws_none' }, []],
    ])('are filtered by %j', async (filter, expected) => {
      expect(await (await openWithCalls()).list(filter)).toEqual(expected);
    });

    test('are found by several filters page by page, as if every call was looked at', async () => {
      const { metering, traces } = await open();
      const pick = <T>(all: readonly T[], number: number): T => all[number % all.length] as T;
      const calls = Array.from({ length: 900 }, (_, number) =>
        aUsage(`req_${String(number).padStart(3, '0')}`, {
          completedAt: morning + Math.floor(number / 8) * 3 * 3_600_000,
          keyId: pick(['key_1', 'key_1', 'key_2', null], number),
          model: pick(['a', 'a', 'a', 'b', 'c'], number),
          provider: pick(['x', 'y', null], number),
          status: pick(
            ['completed', 'completed', 'failed', 'canceled', 'completed', 'completed', 'completed'],
            number,
          ),
        }),
      );
      for (const part of [calls.slice(0, 600), calls.slice(600)]) {
        await Promise.all(part.map((call) => metering.settle(aSettlement(call.requestId, call))));
      }
      const newestFirst = calls.toReversed();
      const any = { status: undefined, model: undefined, provider: undefined, keyId: undefined };
      const filters: Partial<TracesFilter>[] = [
        { keyId: 'key_2', model: 'b' },
        { keyId: 'key_1', status: 'completed' },
        { model: 'a', provider: 'x', status: 'failed' },
        { provider: 'y', status: 'completed', since: morning + 2 * dayMs + 5, until: morning + 9 * dayMs },
        { keyId: 'key_1', model: 'c', provider: 'x', status: 'canceled' },
      ];
      for (const filter of filters) {
        const { since = 0, until = Number.MAX_SAFE_INTEGER, ...same } = filter;
        const expected = newestFirst
          .filter((call) => Object.entries(same).every(([name, value]) => call[name as 'model'] === value))
          .filter(({ completedAt }) => completedAt >= since && completedAt < until)
          .map(({ requestId }) => requestId);
        const found: string[] = [];
        for (let page = ['']; page.length > 0; ) {
          const list = await traces.list({
            workspaceId: 'ws_1',
            ...any,
            since: undefined,
            until: undefined,
            ...filter,
            after: found.at(-1),
            limit: 20,
          });
          page = list.map(({ requestId }) => requestId);
          found.push(...page);
        }
        expect(found, JSON.stringify(filter)).toEqual(expected);
      }
    });
  });

  test('are searched for by any filters page by page, as if every call was looked at', async () => {
    const { metering, traces } = await open();
    const pick = <T>(all: readonly T[], number: number): T => all[number % all.length] as T;
    const calls = Array.from({ length: 900 }, (_, number) =>
      aUsage(`req_${String(number).padStart(3, '0')}`, {
        completedAt: morning + Math.floor(number / 8) * 3_600_000,
        keyId: pick(['key_1', 'key_2', null], number),
        model: pick(['a', 'b'], number),
        endpoint: pick(['/v1/responses', '/v1/messages'], number >> 1),
        status: pick(['completed', 'failed', 'canceled', 'completed'], number),
        errorCode: pick([null, 'server_error', null, null, null, 'no_route', null, null], number),
        totalMs: pick([40, 4_096, 5_000, 90_000], number),
        cost: pick([null, { provider: 9_000_000, margin: 1_000_000, total: 10_000_000 }], number),
        labels: {
          client: pick(['curl/8.9', 'curl/8.10', 'curlie/1', null], number),
          user: pick([null, 'ann', 'bob'], number),
          conversation: pick([null, null, 'c1'], number),
          tags: pick<Record<string, string>>([{}, { team: 'a' }, { team: 'b', job: '7' }], number),
          replayOf: number % 100 === 0 ? 'req_000' : null,
        },
      }),
    );
    for (const part of [calls.slice(0, 600), calls.slice(600)])
      await Promise.all(part.map((call) => metering.settle(aSettlement(call.requestId, call))));
    const any = {
      workspaceId: 'ws_1',
      model: undefined,
      provider: undefined,
      keyId: undefined,
      since: undefined,
      until: undefined,
      statuses: undefined,
      ...noSearch,
    };
    const matches = (call: UsageRecord, filter: Partial<TracesSearch>) =>
      (filter.model === undefined || call.model === filter.model) &&
      (filter.keyId === undefined || call.keyId === filter.keyId) &&
      (filter.statuses?.includes(call.status) ?? true) &&
      (filter.errorCode === undefined || call.errorCode === filter.errorCode) &&
      (filter.endpoint === undefined || call.endpoint === filter.endpoint) &&
      (filter.client === undefined ||
        call.labels.client === filter.client ||
        (call.labels.client?.startsWith(`${filter.client}/`) ?? false)) &&
      (filter.user === undefined || call.labels.user === filter.user) &&
      (filter.conversation === undefined || call.labels.conversation === filter.conversation) &&
      (filter.tag === undefined ||
        Object.entries(call.labels.tags).some((tag) => tag.join('=') === filter.tag)) &&
      (filter.replayOf === undefined || call.labels.replayOf === filter.replayOf) &&
      call.totalMs >= (filter.minTotalMs ?? 0) &&
      (filter.minCost === undefined || (call.cost !== null && call.cost.total >= filter.minCost)) &&
      call.completedAt >= (filter.since ?? 0) &&
      call.completedAt < (filter.until ?? Number.MAX_SAFE_INTEGER);
    const filters: Partial<TracesSearch>[] = [
      { statuses: ['failed', 'canceled'] },
      { statuses: ['completed', 'failed'], model: 'b' },
      { errorCode: 'no_route', keyId: 'key_2' },
      { errorCode: 'none' },
      { client: 'curl' },
      { client: 'curl/8.9', user: 'ann' },
      { client: 'wget' },
      { user: 'bob', tag: 'team=b' },
      { tag: 'job=7', statuses: ['canceled'] },
      { conversation: 'c1', endpoint: '/v1/messages' },
      { replayOf: 'req_000' },
      { minTotalMs: 4_096 },
      { minTotalMs: 4_500, model: 'a' },
      { minTotalMs: 100, until: morning + 2 * dayMs },
      { minCost: 10_000_000, since: morning + dayMs },
      { minCost: 1 },
      { minCost: 10_000_001 },
    ];
    for (const filter of filters) {
      const expected = calls
        .toReversed()
        .filter((call) => matches(call, filter))
        .map(({ requestId }) => requestId);
      const found: string[] = [];
      let after: string | undefined;
      do {
        const page = await traces.search({ ...any, ...filter, after, limit: 20 });
        found.push(...page.calls.map(({ requestId }) => requestId));
        after = page.end?.requestId ?? (page.calls.length === 20 ? found.at(-1) : undefined);
      } while (after !== undefined);
      expect(found, JSON.stringify(filter)).toEqual(expected);
    }
  });

  describe('rejections', () => {
    const aRejection = (requestId: string, changes: Partial<Rejection> = {}): Rejection => ({
      requestId,
      workspaceId: 'ws_1',
      keyId: 'key_1',
      address: null,
      endpoint: '/v1/responses',
      model: 'openai/gpt-5',
      streamed: false,
      httpStatus: 403,
      errorCode: 'limit_reached',
      param: 'limits.spend_cap',
      message: 'The spending limit is reached.',
      totalMs: 3,
      labels: { ...noLabels, client: 'curl/8.9', user: 'ann', tags: { team: 'a', job: '7' } },
      createdAt: morning,
      completedAt: morning + 3,
      more: 0,
      ...changes,
    });
    const eventOf = ({ requestId, workspaceId }: Rejection) => ({
      type: 'request.rejected',
      workspaceId: workspaceId ?? '',
      at: morning,
      data: { request_id: requestId },
    });
    const openWithRejections = async () => {
      const storage = await open();
      const { traces, metering } = storage;
      const record = (rejection: Rejection) => traces.recordRejection(rejection, eventOf(rejection), 10);
      await metering.settle(aSettlement('req_1', { completedAt: morning + 1 }));
      await record(aRejection('req_2', { completedAt: morning + 2 }));
      await record(aRejection('req_3', { completedAt: morning + 3, keyId: 'key_2', model: null }));
      await record(aRejection('req_4', { completedAt: morning + 4, workspaceId: null, address: '10.0.0.1' }));
      await record(aRejection('req_5', { completedAt: morning + 5, workspaceId: 'ws_2' }));
      const list = async (filter: Partial<RejectionsFilter>) => {
        const page = { since: undefined, until: undefined, after: undefined, limit: 10 };
        const any = { workspaceIds: ['ws_1'], model: undefined, keyId: undefined };
        const found = await traces.listRejections({ ...any, ...page, ...filter });
        return found.map(({ requestId }) => requestId);
      };
      return { ...storage, record, list };
    };

    test('are found by those who may see them', async () => {
      const { traces } = await openWithRejections();
      const known = aRejection('req_2', { completedAt: morning + 2 });
      const unknown = { workspaceId: null, address: '10.0.0.1' };
      expect(await traces.findRejection(['ws_1'], 'req_2')).toEqual(known);
      expect(await traces.findRejection(['ws_2', null], 'req_2')).toBeUndefined();
      expect(await traces.findRejection(['ws_1'], 'req_4')).toBeUndefined();
      expect(await traces.findRejection(['ws_1', null], 'req_4')).toMatchObject(unknown);
    });

    test.each<[Partial<RejectionsFilter>, string[]]>([
      [{}, ['req_3', 'req_2']],
      [{ workspaceIds: ['ws_1', null] }, ['req_4', 'req_3', 'req_2']],
      [{ keyId: 'key_2' }, ['req_3']],
      [{ model: 'openai/gpt-5' }, ['req_2']],
      [{ since: morning + 3 }, ['req_3']],
      [{ until: morning + 3 }, ['req_2']],
      [{ limit: 1 }, ['req_3']],
      [{ after: 'req_3' }, ['req_2']],
      [{ after: 'req_1' }, []],
      [{ after: 'req_5' }, []],
    ])('are listed with %j', async (filter, expected) => {
      expect(await (await openWithRejections()).list(filter)).toEqual(expected);
    });

    test('come after the finished calls of their millisecond', async () => {
      const { metering, traces, record, list } = await openWithRejections();
      for (const id of ['req_x', 'req_y'])
        await metering.settle(aSettlement(id, { completedAt: morning + 3 }));
      await record(aRejection('req_z', { completedAt: morning + 3 }));
      const any = { status: undefined, model: undefined, provider: undefined, keyId: undefined };
      const page = { since: undefined, until: undefined, limit: 10 };
      const calls = async (after: string) =>
        (await traces.list({ workspaceId: 'ws_1', ...any, ...page, after })).map(
          ({ requestId }) => requestId,
        );
      expect([await calls('req_y'), await list({ after: 'req_y' })]).toEqual([
        ['req_x', 'req_1'],
        ['req_z', 'req_3', 'req_2'],
      ]);
      expect([await calls('req_z'), await list({ after: 'req_z' })]).toEqual([['req_1'], ['req_3', 'req_2']]);
    });

    test('can be where a page of finished calls ended', async () => {
      const { traces } = await openWithRejections();
      const any = { status: undefined, model: undefined, provider: undefined, keyId: undefined };
      const page = { since: undefined, until: undefined, limit: 10 };
      const calls = await traces.list({ workspaceId: 'ws_1', ...any, ...page, after: 'req_2' });
      expect(calls.map(({ requestId }) => requestId)).toEqual(['req_1']);
    });

    test('have an event that is stored with them', async () => {
      const { events } = await openWithRejections();
      expect(await events.after(['ws_1', ''], 0, 10)).toMatchObject([
        { data: { request_id: 'req_1' } },
        { type: 'request.rejected', data: { request_id: 'req_2' } },
        { data: { request_id: 'req_3' } },
        { data: { request_id: 'req_4' } },
      ]);
    });

    test('are kept up to a number per workspace', async () => {
      const { list, traces } = await openWithRejections();
      const newest = aRejection('req_6', { completedAt: morning + 6 });
      await traces.recordRejection(newest, eventOf(newest), 2);
      expect(await list({})).toEqual(['req_6', 'req_3']);
      expect(await list({ workspaceIds: ['ws_2', null] })).toEqual(['req_5', 'req_4']);
    });
  });
}
