import { describe, expect, test } from 'vitest';
import type {
  Series,
  UsageGroup,
  UsageGrouping,
  UsageRecord,
} from '../../src/daemon/features/metering/store.ts';
import type {
  FacetField,
  Rejection,
  RejectionsFilter,
  TermField,
  TracesFilter,
  TracesSearch,
} from '../../src/daemon/features/traces/store.ts';
import { noLabels } from '../../src/shared/constants/call-labels.ts';
import {
  aSettlement,
  aUsage,
  dayMs,
  having,
  morning,
  noSearch,
  type OpenStorage,
  without,
} from './records.ts';

const exactly = (field: TermField, ...values: string[]) => ({ ...having(field, ...values), isExact: true });

/** Whether a call matches, as a search has to find it. */
function matches(call: UsageRecord, filter: Partial<TracesSearch>): boolean {
  const { client, user, conversation, tags, replayOf } = call.labels;
  const valuesOf: Record<TermField, (string | null)[]> = {
    status: [call.status],
    errorCode: [call.errorCode],
    endpoint: [call.endpoint],
    model: [call.model],
    provider: [call.provider],
    keyId: [call.keyId],
    client: [client, client?.split('/')[0] ?? null],
    user: [user],
    conversation: [conversation],
    tag: Object.entries(tags).map((tag) => tag.join('=')),
    httpStatus: [call.httpStatus === null ? null : String(call.httpStatus)],
    replayOf: [replayOf],
  };
  const isLike = (value: string | null, pattern: string) =>
    pattern.endsWith('*') ? value?.startsWith(pattern.slice(0, -1)) : value === pattern;
  return (
    (filter.terms ?? []).every(
      ({ field, values, isExcluded, isExact }) =>
        valuesOf[field]
          .slice(0, isExact && field === 'client' ? 1 : undefined)
          .some((value) =>
            values.some((pattern) => (isExact ? value === pattern : isLike(value, pattern))),
          ) !== isExcluded,
    ) &&
    call.totalMs >= (filter.minTotalMs ?? 0) &&
    (filter.minCost === undefined || (call.cost !== null && call.cost.total >= filter.minCost)) &&
    call.completedAt >= (filter.since ?? 0) &&
    call.completedAt < (filter.until ?? Number.MAX_SAFE_INTEGER)
  );
}

const searches: Partial<TracesSearch>[] = [
  { terms: [having('status', 'failed', 'canceled')] },
  { terms: [exactly('client', 'curl/8.9', 'curlie')] },
  { terms: [exactly('client', 'curl/8.9'), exactly('user', 'ann', 'b*')] },
  { terms: [{ ...exactly('tag', 'team=a', 'team=*'), isExcluded: true }] },
  { terms: [having('status', 'completed', 'failed'), having('model', 'b')] },
  { terms: [having('errorCode', 'no_route'), having('keyId', 'key_2')] },
  { terms: [having('errorCode', 'none')] },
  { terms: [having('client', 'curl')] },
  { terms: [having('client', 'curl/8.9'), having('user', 'ann')] },
  { terms: [having('client', 'wget')] },
  { terms: [having('user', 'bob'), having('tag', 'team=b')] },
  { terms: [having('tag', 'job=7'), having('status', 'canceled')] },
  { terms: [having('tag', 'team=a', 'team=b', 'job=7')] },
  { terms: [having('conversation', 'c1'), having('endpoint', '/v1/messages')] },
  { terms: [having('replayOf', 'req_000')] },
  { minTotalMs: 4_096 },
  { minTotalMs: 4_500, terms: [having('model', 'a')] },
  { minTotalMs: 100, until: morning + 2 * dayMs },
  { minCost: 10_000_000, since: morning + dayMs },
  { minCost: 1 },
  { minCost: 10_000_001 },
  { terms: [without('client', 'curl')] },
  { terms: [without('client', 'curl', 'curlie/*'), without('user', 'bob')] },
  { terms: [having('model', 'a', 'b'), without('status', 'completed'), without('errorCode', '*')] },
  { terms: [having('client', 'curl*'), having('tag', 'team=*')] },
  { terms: [without('tag', 'job=*'), having('user', '*')] },
  { terms: [having('model', 'c*')] },
  { terms: [having('user', 'ann', '[ab]*')] },
  { terms: [having('httpStatus', '2*')] },
  { terms: [without('httpStatus', '200')] },
];

export function tracesStoreContract(open: OpenStorage): void {
  const trace = {
    admittedMs: 1,
    heldMs: 2,
    startedMs: [3],
    finishReason: 'stop',
    routes: [{ provider: 'openai', model: 'gpt-5' }],
    dropped: [{ param: 'tools[0]', type: 'web_search' }, { param: 'metadata' }],
    captured: 'disk' as const,
    waits: [{ limit: 'provider' as const, name: 'ollama', position: 3, startedMs: 0.4, ms: 1200.5 }],
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

    test('are filtered by any of their fields', async () => {
      const { list } = await openWithCalls();
      const lists: [Partial<TracesFilter>, string[]][] = [
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
      ];
      for (const [filter, expected] of lists)
        expect.soft(await list(filter), JSON.stringify(filter)).toEqual(expected);
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

  const openWithLabels = async () => {
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
    return { traces, calls };
  };

  test('are searched for by any filters page by page, as if every call was looked at', async () => {
    const { traces, calls } = await openWithLabels();
    const any = { workspaceId: 'ws_1', since: undefined, until: undefined, ...noSearch };
    const limit = open.isSlow ? 60 : 20;
    for (const filter of searches) {
      const expected = calls
        .toReversed()
        .filter((call) => matches(call, filter))
        .map(({ requestId }) => requestId);
      const found: string[] = [];
      let after: string | undefined;
      do {
        const page = await traces.search({ ...any, ...filter, after, limit });
        found.push(...page.calls.map(({ requestId }) => requestId));
        after = page.end?.requestId ?? (page.calls.length === limit ? found.at(-1) : undefined);
      } while (after !== undefined);
      expect(found, JSON.stringify(filter)).toEqual(expected);
    }
  });

  test.each(['total_ms', 'cost'] as const)('are sorted by %s page by page, for any filters', async (sort) => {
    const { traces, calls } = await openWithLabels();
    const measured = (call: UsageRecord) => (sort === 'cost' ? (call.cost?.total ?? 0) : call.totalMs);
    const any = { workspaceId: 'ws_1', since: undefined, until: undefined, ...noSearch, sort };
    // A slow engine sorts by one of both for each filter.
    const isAsked = (index: number) => !open.isSlow || (index % 2 === 0) === (sort === 'cost');
    for (const filter of [{}, ...searches.filter((_, index) => isAsked(index))]) {
      // Those that were settled later come first among equals.
      const expected = calls
        .toReversed()
        .filter((call) => matches(call, filter))
        .sort((one, other) => measured(other) - measured(one))
        .map(({ requestId }) => requestId);
      const found: string[] = [];
      let after: string | undefined;
      do {
        const page = await traces.sorted({ ...any, ...filter, after, limit: 150 });
        expect(page.isPartial).toBe(false);
        found.push(...page.calls.map(({ requestId }) => requestId));
        after = page.calls.length === 150 ? found.at(-1) : undefined;
      } while (after !== undefined);
      expect(found, JSON.stringify(filter)).toEqual(expected);
    }
  });

  test('are counted by their fields, for any filters and times', async () => {
    const { traces, calls } = await openWithLabels();
    const valuesOf: Record<FacetField, (call: UsageRecord) => (string | null)[]> = {
      status: ({ status }) => [status],
      errorCode: ({ errorCode }) => [errorCode],
      model: ({ model }) => [model],
      provider: ({ provider }) => [provider],
      keyId: ({ keyId }) => [keyId],
      client: ({ labels }) => [labels.client],
      user: ({ labels }) => [labels.user],
      tag: ({ labels }) => {
        const tags = Object.entries(labels.tags).map((tag) => tag.join('='));
        return tags.length === 0 ? [null] : tags;
      },
      conversation: ({ labels }) => [labels.conversation],
      endpoint: ({ endpoint }) => [endpoint],
    };
    const hour = 3_600_000;
    const times = [
      {},
      { since: morning + 7 * hour + 1, until: morning + 2 * dayMs - 5 * hour },
      { since: morning + 7 * hour, until: morning + 9 * hour },
      { until: morning + dayMs },
    ];
    const terms = [
      { terms: [having('keyId', 'key_1')] },
      { terms: [having('model', 'a'), without('status', 'failed')] },
      { terms: [having('status', 'f*')] },
      ...searches,
    ];
    for (const filter of [
      ...times,
      ...(open.isSlow
        ? terms.map((each, index) => ({ ...each, ...times[index % times.length] }))
        : times.flatMap((time) => terms.map((each) => ({ ...each, ...time })))),
    ]) {
      const selected = calls.filter((call) => matches(call, filter));
      const found = await traces.facets({
        workspaceId: 'ws_1',
        since: undefined,
        until: undefined,
        ...noSearch,
        ...filter,
      });
      expect(found.calls, JSON.stringify(filter)).toBe(selected.length);
      expect(found.partial).toEqual([]);
      for (const [field, facet] of Object.entries(found.facets)) {
        const values = selected.flatMap(valuesOf[field as FacetField]);
        const counts = Map.groupBy(
          values.filter((value) => value !== null),
          (value) => value,
        );
        const counted = Object.fromEntries(facet.values.map(({ value, calls: count }) => [value, count]));
        expect(counted, `${field} of ${JSON.stringify(filter)}`).toEqual(
          Object.fromEntries([...counts].map(([value, all]) => [value, all.length])),
        );
        expect(facet.none, `${field} of ${JSON.stringify(filter)}`).toBe(
          values.filter((value) => value === null).length,
        );
        expect(facet.other).toBe(0);
      }
    }
  });

  test('have their attempts counted by provider, model, error and half hour', async () => {
    const { metering, traces } = await open();
    const halfHour = 30 * 60_000;
    const tried = {
      provider: 'azure',
      model: 'gpt',
      status: 429,
      errorCode: 'rate_limited',
      message: 'Slow down.',
    };
    const answered = { provider: 'openai', model: 'gpt-5', status: 200, errorCode: null };
    const invalid = { ...answered, status: 400, errorCode: 'invalid_request' };
    const calls = Array.from({ length: 1_100 }, (_, number) =>
      aUsage(`req_${number}`, {
        completedAt: morning + number * 10_000,
        attempts: [
          ...(number % 10 === 0 ? [{ ...tried, ms: 5 }] : []),
          number % 100 === 3 ? { ...invalid, ms: 1 } : { ...answered, ms: 100 + (number % 50) },
        ],
      }),
    );
    for (const part of [calls.slice(0, 600), calls.slice(600)])
      await Promise.all(part.map((call) => metering.settle(aSettlement(call.requestId, call))));
    const since = Math.ceil((morning + 1_000_000) / halfHour) * halfHour;
    const stripSince = since + 2 * halfHour;
    const filter = { since, stripSince, callersFault: 'invalid_request' };
    const found = await traces.attempts({ ...filter, workspaceId: 'ws_1' });
    const all = calls.filter(({ completedAt }) => completedAt >= since);
    const of = (provider: string) => found.find((one) => one.provider === provider);
    const failed = all.filter(({ attempts: [first] }) => first?.errorCode === 'rate_limited');
    expect(of('azure')).toMatchObject({
      model: 'gpt',
      answered: new Map(),
      errors: [{ errorCode: 'rate_limited', attempts: failed.length }],
      lastFailure: {
        requestId: failed.at(-1)?.requestId,
        at: failed.at(-1)?.completedAt,
        status: 429,
        message: 'Slow down.',
      },
    });
    const refused = all.filter(({ attempts }) => attempts.at(-1)?.errorCode === 'invalid_request').length;
    const counts = [...(of('openai')?.answered.values() ?? [])];
    expect(counts.reduce((sum, attempts) => sum + attempts, 0)).toBe(all.length - refused);
    expect(of('openai')).toMatchObject({
      errors: [{ errorCode: 'invalid_request', attempts: refused }],
      lastFailure: undefined,
    });
    for (const slot of of('azure')?.slots ?? []) {
      const inSlot = failed.filter(
        ({ completedAt }) => Math.floor(completedAt / halfHour) * halfHour === slot.start,
      );
      expect(slot).toEqual({ start: slot.start, attempts: inSlot.length, failed: inSlot.length });
      expect(slot.start).toBeGreaterThanOrEqual(stripSince);
    }
    expect(of('azure')?.slots.length).toBeGreaterThan(1);
    expect(await traces.attempts({ ...filter, workspaceId: 'ws_2' })).toEqual([]);
  });

  test('are picked from some requests by filters', async () => {
    const { traces, calls } = await openWithLabels();
    const asked = ['req_010', 'req_005', 'req_none', 'req_007'];
    const filter = { workspaceId: 'ws_1', since: undefined, until: undefined, ...noSearch };
    const terms = [having('keyId', 'key_2')];
    const found = await traces.matching({ ...filter, terms }, asked);
    const expected = asked.filter((id) =>
      calls.some((call) => call.requestId === id && call.keyId === 'key_2'),
    );
    expect(found.map(({ requestId }) => requestId)).toEqual(expected);
    expect(expected).not.toEqual([]);
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
        const any = { workspaceIds: ['ws_1'], terms: [], minTotalMs: undefined };
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

    test('are listed with any filter', async () => {
      const { list } = await openWithRejections();
      const lists: [Partial<RejectionsFilter>, string[]][] = [
        [{}, ['req_3', 'req_2']],
        [{ workspaceIds: ['ws_1', null] }, ['req_4', 'req_3', 'req_2']],
        [{ terms: [having('keyId', 'key_2')] }, ['req_3']],
        [{ terms: [without('keyId', 'key_2')] }, ['req_2']],
        [{ terms: [having('model', 'openai/*')] }, ['req_2']],
        [{ terms: [having('client', 'curl'), having('tag', 'job=7')] }, ['req_3', 'req_2']],
        [{ terms: [exactly('client', 'curl')] }, []],
        [{ terms: [exactly('tag', 'job=7')] }, ['req_3', 'req_2']],
        [{ terms: [exactly('tag', 'job=*')] }, []],
        [{ terms: [without('tag', 'team=*')] }, []],
        [{ terms: [having('httpStatus', '4*')] }, ['req_3', 'req_2']],
        [{ terms: [without('httpStatus', '403')] }, []],
        [{ minTotalMs: 4 }, []],
        [{ requestIds: ['req_2', 'req_4'] }, ['req_2']],
        [{ since: morning + 3 }, ['req_3']],
        [{ until: morning + 3 }, ['req_2']],
        [{ limit: 1 }, ['req_3']],
        [{ after: 'req_3' }, ['req_2']],
        [{ after: 'req_1' }, []],
        [{ after: 'req_5' }, []],
      ];
      for (const [filter, expected] of lists)
        expect.soft(await list(filter), JSON.stringify(filter)).toEqual(expected);
    });

    test('are counted by their fields, with those that have no record of their own', async () => {
      const { traces, record } = await openWithRejections();
      await record(aRejection('req_6', { more: 35 }));
      const filter = { since: undefined, until: undefined, terms: [], minTotalMs: undefined };
      const counts = await traces.countRejections({ ...filter, workspaceIds: ['ws_1'] });
      const alike = {
        errorCode: 'limit_reached',
        client: 'curl/8.9',
        user: 'ann',
        conversation: null,
        endpoint: '/v1/responses',
        tags: ['team=a', 'job=7'],
      };
      expect(counts).toHaveLength(2);
      // One of its own, and one that stands for 36.
      expect(counts).toContainEqual({ ...alike, model: 'openai/gpt-5', keyId: 'key_1', calls: 37 });
      expect(counts).toContainEqual({ ...alike, model: null, keyId: 'key_2', calls: 1 });
    });

    test('are counted by time, with those that have no record of their own', async () => {
      const { traces, record } = await openWithRejections();
      await record(aRejection('req_6', { completedAt: morning + 20, more: 7 }));
      const buckets = [
        { start: morning, end: morning + 3 },
        { start: morning + 3, end: morning + 20 },
        { start: morning + 20, end: morning + 30 },
      ];
      const counted = (filter: { keyId?: string; model?: string }) =>
        traces.rejectedCalls({ workspaceId: 'ws_1', keyId: undefined, model: undefined, buckets, ...filter });
      expect(await counted({})).toEqual([1, 1, 8]);
      expect(await counted({ keyId: 'key_1' })).toEqual([1, 0, 8]);
      expect(await counted({ model: 'openai/gpt-5' })).toEqual([1, 0, 8]);
      expect(await counted({ model: 'none' })).toEqual([0, 0, 0]);
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

    describe('are in usage, also those whose records made room for newer ones', () => {
      const slotMs = 15 * 60_000;
      const start = Date.UTC(2026, 10, 20);
      /** Two days, 60 quarters apart each; nine in ten have no record any more. */
      const fill = async () => {
        const storage = await open();
        const rejected = Array.from({ length: 60 }, (_, at) =>
          aRejection(`req_${String(at).padStart(3, '0')}`, {
            completedAt: start + at * 3 * slotMs,
            keyId: `key_${at % 3}`,
            model: at % 4 === 0 ? null : `model_${at % 2}`,
            errorCode: at % 5 === 0 ? 'model_not_found' : 'limit_reached',
            more: at % 7,
          }),
        );
        for (const each of rejected) await storage.traces.recordRejection(each, eventOf(each), 6);
        const finished = ['model_1', 'model_2'].flatMap((model) =>
          ['key_0', 'key_9'].map((keyId) => ({ model, keyId })),
        );
        for (const [at, call] of finished.entries())
          await storage.metering.settle(aSettlement(`req_f${at}`, { ...call, completedAt: start + at }));
        return { ...storage, rejected, calls: rejected.reduce((sum, { more }) => sum + 1 + more, 0) };
      };
      const all = {
        workspaceId: 'ws_1',
        keyId: undefined,
        model: undefined,
        since: start,
        until: start + 3 * 24 * 60 * 60_000,
        timeZone: 'UTC',
      };

      test('by every group and two, with paging, and in total', async () => {
        const { metering, rejected, calls } = await fill();
        const named: Record<string, (of: Rejection) => string | null> = {
          day: ({ completedAt }) => new Date(completedAt).toISOString().slice(0, 10),
          model: ({ model }) => model,
          key: ({ keyId }) => keyId,
          error: ({ errorCode }) => errorCode,
          status: () => 'rejected',
          provider: () => null,
        };
        const groupings = [['day'], ['model'], ['key'], ['error'], ['status'], ['provider']].concat([
          ['day', 'model'],
          ['model', 'key'],
          ['key', 'model'],
          ['key', 'day'],
          ['status', 'key'],
          ['provider', 'model'],
        ]) as UsageGrouping[][];
        for (const groupBy of groupings) {
          const filter = { ...all, groupBy };
          const page = await metering.usagePage({ ...filter, after: undefined, limit: 1_000 });
          const expected = new Map<string, number>();
          for (const each of rejected) {
            const name = JSON.stringify(groupBy.map((group) => named[group]?.(each)));
            expected.set(name, (expected.get(name) ?? 0) + 1 + each.more);
          }
          const found = (page?.groups ?? []).filter((group) => group.rejected > 0);
          const counted = Object.fromEntries(
            found.map((group) => [JSON.stringify(group.groups), group.rejected]),
          );
          expect(counted, groupBy.join()).toEqual(Object.fromEntries(expected));
          expect(page?.total, groupBy.join()).toMatchObject({ requests: 4, rejected: calls });
          const paged: UsageGroup[] = [];
          for (;;) {
            const next = await metering.usagePage({ ...filter, after: paged.at(-1)?.groups, limit: 2 });
            paged.push(...(next?.groups ?? []));
            if (!next?.hasMore) break;
          }
          expect(paged, groupBy.join()).toEqual(page?.groups);
        }
      });

      test('of a key and of a model alone', async () => {
        const { metering, rejected } = await fill();
        const count = (isWanted: (of: Rejection) => boolean) =>
          rejected.filter(isWanted).reduce((sum, { more }) => sum + 1 + more, 0);
        const total = async (filter: { keyId?: string; model?: string }) =>
          (await metering.usagePage({ ...all, ...filter, groupBy: ['day'], after: undefined, limit: 10 }))
            ?.total.rejected;
        expect(await total({ keyId: 'key_1' })).toBe(count(({ keyId }) => keyId === 'key_1'));
        expect(await total({ model: 'model_1' })).toBe(count(({ model }) => model === 'model_1'));
      });

      test('over time, with a series for those that are among the first', async () => {
        const { metering, traces, calls } = await fill();
        const dayMs = 24 * 60 * 60_000;
        const buckets = [0, 1, 2].map((day) => ({
          start: start + day * dayMs,
          end: start + (day + 1) * dayMs,
        }));
        const filter = { ...all, provider: undefined, status: undefined, buckets };
        const sumOf = ({ points }: Series) => points.reduce((sum, { rejected }) => sum + rejected, 0);
        for (const groupBy of [undefined, 'model', 'key', 'error', 'status', 'provider'] as const)
          for (const top of [1, 10]) {
            const series = await metering.series({ ...filter, groupBy, top });
            const sums = series.reduce((sum, each) => sum + sumOf(each), 0);
            expect([groupBy, top, sums]).toEqual([groupBy, top, calls]);
          }
        const [whole] = await metering.series({ ...filter, groupBy: undefined, top: 1 });
        const counted = await traces.rejectedCalls({ ...all, buckets });
        expect(whole?.points.map(({ rejected }) => rejected)).toEqual(counted);
        const only = { ...filter, groupBy: undefined, top: 1, status: 'rejected' as const };
        expect((await metering.series(only)).map(sumOf)).toEqual([calls]);
        const alike = { terms: [], minTotalMs: undefined, since: undefined, until: undefined };
        const counts = await traces.countRejections({ ...alike, workspaceIds: ['ws_1'] });
        expect(counts.reduce((sum, each) => sum + each.calls, 0)).toBe(calls);
      });
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
