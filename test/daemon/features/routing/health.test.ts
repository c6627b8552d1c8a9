import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Target } from '../../../../src/daemon/features/routing/health.ts';
import {
  accountKey,
  accountOf,
  accountOwner,
  type Bench,
  Health,
} from '../../../../src/daemon/features/routing/index.ts';
import {
  UpstreamFailure,
  type UpstreamFailureKind,
} from '../../../../src/daemon/features/upstreams/upstream.ts';
import { fakeWorld } from '../../../support/fake-world.ts';

const target: Target = { account: 'openai', provider: 'openai', providerModel: 'gpt-5' };
const sibling: Target = { ...target, providerModel: 'gpt-5-mini' };

function setUp() {
  const world = fakeWorld();
  const reported: Bench[] = [];
  const health = new Health(world, { onBench: (bench) => reported.push(bench) });
  const fail = (kind: UpstreamFailureKind, retryAfterSeconds?: number) =>
    health.failed(target, new UpstreamFailure(kind, '', { retryAfterSeconds }));
  const stateOf = (at: Target = target) => health.standing(at).state;
  return { world, health, reported, fail, stateOf };
}

describe('a provider is benched', () => {
  test.each(['authentication', 'billing'] as const)(
    '%s: the whole account, until a call succeeds of which there is one each 15 s',
    async (kind) => {
      const { world, health, fail, stateOf, reported } = setUp();
      fail(kind);
      expect(stateOf()).toBe('refused');
      expect(stateOf(sibling)).toBe('refused');
      expect(stateOf({ ...target, account: 'openai of ws_2' })).toBe('ready');
      const bench = { account: 'openai', provider: 'openai', providerModel: undefined, reason: kind };
      expect(reported).toEqual([{ ...bench, retryAfterMs: 15_000 }]);
      await world.advance(14_999);
      expect(stateOf()).toBe('refused');
      await world.advance(1);
      expect([stateOf(), stateOf(sibling)]).toEqual(['probe', 'probe']);
      expect([health.takeProbe(sibling), health.takeProbe(target)]).toEqual([true, false]);
      expect(stateOf()).toBe('refused');
      expect(health.benches()).toEqual([{ ...bench, retryAfterMs: 15_000 }]);
      await world.advance(15_000);
      expect(health.takeProbe(target)).toBe(true);
      fail(kind);
      expect(reported).toHaveLength(1);
      await world.advance(15_000);
      health.succeeded(sibling);
      expect([stateOf(), stateOf(sibling), health.benches().length]).toEqual(['ready', 'ready', 0]);
    },
  );

  test('forbidden: this model of the account, which is tried last for 5 minutes', async () => {
    const { world, fail, stateOf } = setUp();
    fail('forbidden');
    expect([stateOf(), stateOf(sibling)]).toEqual(['last-resort', 'ready']);
    expect(stateOf({ ...target, account: 'openai of ws_2' })).toBe('ready');
    await world.advance(300_000);
    expect(stateOf()).toBe('ready');
  });

  test('no failures take a model from other callers for longer than until the next probe', async () => {
    const kinds = [
      'caller',
      'unknown-model',
      'authentication',
      'forbidden',
      'billing',
      'rate-limited',
      'server',
    ] as const;
    const step = fc.record({
      kind: fc.constantFrom(...kinds),
      model: fc.constantFrom('gpt-5', 'gpt-5-mini', 'gpt-6'),
      retryAfterSeconds: fc.option(fc.double({ min: 0, max: 1e6 }), { nil: undefined }),
      ms: fc.integer({ min: 0, max: 20_000 }),
      does: fc.constantFrom('fail', 'fail', 'fail', 'probe', 'succeed', 'retry', 'retry-other', 'top-up'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const { world, health } = setUp();
        let refusedSince: number | undefined;
        for (const { kind, model, retryAfterSeconds, ms, does } of steps) {
          const failing = { ...target, providerModel: model };
          const fail = () => health.failed(failing, new UpstreamFailure(kind, '', { retryAfterSeconds }));
          if (does === 'probe') health.takeProbe(failing);
          else if (does === 'succeed') {
            health.succeeded(failing);
            expect([health.standing(failing), health.standing(sibling).state === 'refused']).toEqual([
              { state: 'ready' },
              false,
            ]);
          } else if (does === 'retry') {
            const benched = health.benches();
            expect(health.retry(target.provider)).toEqual(benched);
            // Nothing is left that could bench, or open a breaker early.
            for (let i = 0; i < 4; i += 1) health.failed(failing, new UpstreamFailure('server', ''));
            expect([health.standing(failing).state, health.benches()]).toEqual(['ready', []]);
            health.succeeded(failing);
          } else if (does === 'retry-other') {
            const before = health.benches();
            expect(health.retry('google')).toEqual([]);
            expect(health.benches()).toEqual(before);
          } else if (does === 'top-up') {
            // The account is out of credit until the probe that follows a top-up.
            fail();
            await world.advance(15_000);
            if (health.standing(failing).state === 'probe') health.takeProbe(failing);
            health.succeeded(failing);
            expect(health.standing(sibling).state).not.toBe('refused');
          } else fail();
          const periods = health.periods(world.now());
          for (const { provider, providerModel, reason } of health.benches())
            expect(
              periods.some(
                (one) =>
                  one.provider === provider && one.providerModel === providerModel && one.reason === reason,
              ),
            ).toBe(true);
          await world.advance(ms);
          const isRefused = health.standing(sibling).state === 'refused';
          // Each refusal of the provider itself starts the time until the next probe again.
          if (!isRefused) refusedSince = undefined;
          else if (refusedSince === undefined || /authentication|billing/.test(kind) || does === 'probe')
            refusedSince = world.elapsed() - ms;
          if (refusedSince !== undefined) expect(world.elapsed() - refusedSince).toBeLessThan(15_000);
        }
        await world.advance(15_000);
        expect(health.standing(sibling).state).not.toBe('refused');
      }),
    );
  });

  test.each([
    [undefined, 5_000],
    [12, 12_000],
    [0, 1_000],
    [1e9, 60_000],
    [Number.NaN, 5_000],
  ])('rate limited with Retry-After %s: this model, for %d ms', async (retryAfterSeconds, ms) => {
    const { world, fail, stateOf } = setUp();
    fail('rate-limited', retryAfterSeconds);
    expect(stateOf()).toBe('last-resort');
    expect(stateOf(sibling)).toBe('ready');
    await world.advance(ms - 1);
    expect(stateOf()).toBe('last-resort');
    await world.advance(1);
    expect(stateOf()).toBe('ready');
  });

  test('a changed key is tried immediately', () => {
    const { health, fail, stateOf } = setUp();
    fail('authentication');
    fail('rate-limited');
    health.forgive('openai');
    expect(stateOf()).toBe('ready');
    expect(health.benches()).toEqual([]);
  });

  test.each(['billing', 'server'] as const)(
    '%s: a probe with a request that was at fault itself lets the next one try',
    async (kind) => {
      const { world, health, fail, stateOf } = setUp();
      for (let failures = 0; failures < 5; failures += 1) fail(kind);
      // One that ran already was no probe.
      fail('caller');
      expect(stateOf()).not.toBe('probe');
      await world.advance(15_000);
      expect(health.takeProbe(target)).toBe(true);
      expect(stateOf()).not.toBe('probe');
      fail('caller');
      expect(stateOf()).toBe('probe');
    },
  );

  test('an invalid request benches no one', () => {
    const { fail, stateOf } = setUp();
    for (let i = 0; i < 20; i += 1) fail('caller');
    expect(stateOf()).toBe('ready');
  });
});

describe('the breaker', () => {
  test.each(['server', 'timeout', 'network', 'broken'] as const)(
    '%s: opens at the fifth failure within 10 s and allows one call each 15 s',
    async (kind) => {
      const { world, health, reported, fail, stateOf } = setUp();
      for (let i = 0; i < 4; i += 1) {
        fail(kind);
        await world.advance(2_500);
      }
      expect(stateOf()).toBe('ready');
      fail(kind);
      expect(stateOf()).toBe('last-resort');
      expect(reported.map(({ reason }) => reason)).toEqual(['failing']);
      await world.advance(15_000);
      expect(stateOf()).toBe('probe');
      expect([health.takeProbe(target), health.takeProbe(target)]).toEqual([true, false]);
      fail(kind);
      await world.advance(14_999);
      expect(stateOf()).toBe('last-resort');
      await world.advance(1);
      expect(health.takeProbe(target)).toBe(true);
      health.succeeded(target);
      expect(stateOf()).toBe('ready');
      expect(reported).toHaveLength(1);
    },
  );

  test('stays closed when failures are rare or a success is among them', async () => {
    const { world, health, fail, stateOf } = setUp();
    for (let i = 0; i < 10; i += 1) {
      fail('server');
      await world.advance(2_501);
    }
    expect(stateOf()).toBe('ready');
    for (let i = 0; i < 10; i += 1) {
      fail('server');
      if (i % 4 === 3) health.succeeded(target);
    }
    expect(stateOf()).toBe('ready');
  });
});

test('the number of tracked accounts is limited', () => {
  const { health } = setUp();
  for (let i = 0; i < 6_000; i += 1) {
    health.failed({ ...target, account: `openai of ws_${i}` }, new UpstreamFailure('authentication', ''));
  }
  expect(health.benches().length).toBeLessThanOrEqual(5_000);
  expect(health.standing({ ...target, account: 'openai of ws_5999' }).state).toBe('refused');
});

test('a provider is tried again with one account, or with all', () => {
  const { health, fail, stateOf } = setUp();
  const own = { ...target, account: accountOf(target.provider, { workspaceId: 'ws_2' }) };
  const benchAll = () => {
    for (let i = 0; i < 5; i += 1) fail('server');
    fail('billing');
    health.failed(own, new UpstreamFailure('authentication', ''));
    health.failed({ ...target, account: 'google', provider: 'google' }, new UpstreamFailure('billing', ''));
  };
  benchAll();
  expect(health.retry('openai', 'openai').map(({ reason }) => reason)).toEqual(['billing', 'failing']);
  expect([stateOf(), stateOf(own)]).toEqual(['ready', 'refused']);
  benchAll();
  expect(health.retry('openai')).toHaveLength(3);
  expect([stateOf(), stateOf(own)]).toEqual(['ready', 'ready']);
  expect(health.benches()).toMatchObject([{ provider: 'google' }]);
  expect(health.retry('openai')).toEqual([]);
});

test('the rejected key of a workspace is not a bench of the host', () => {
  const { health, fail } = setUp();
  const ofWorkspace = { ...target, account: accountOf(target.provider, { workspaceId: 'ws_2' }) };
  health.failed(ofWorkspace, new UpstreamFailure('authentication', ''));
  expect(health.benches()).toHaveLength(1);
  expect(health.hostBenches()).toEqual([]);
  fail('authentication');
  expect(health.hostBenches()).toMatchObject([{ account: target.account, reason: 'authentication' }]);
});

test('the times of benches are remembered, until they end or a call succeeds', async () => {
  const { world, health, fail } = setUp();
  const start = world.now();
  fail('rate-limited', 10);
  await world.advance(2_000);
  fail('rate-limited', 10);
  const own = { account: 'openai', provider: 'openai', providerModel: 'gpt-5', model: 'gpt-5' };
  expect(health.periods(world.now())).toEqual([
    { ...own, reason: 'rate-limited', since: start, until: start + 12_000 },
  ]);
  await world.advance(1_000);
  health.succeeded(sibling);
  expect(health.periods(world.now())).toMatchObject([{ until: start + 12_000 }]);
  health.succeeded(target);
  await world.advance(1_000);
  expect(health.periods(world.now())).toMatchObject([{ since: start, until: start + 3_000 }]);
  fail('billing');
  health.forgive('openai');
  expect(health.periods(world.now())).toMatchObject([
    { reason: 'rate-limited' },
    { reason: 'billing', providerModel: undefined, since: start + 4_000, until: start + 4_000 },
  ]);
});

test('accounts are told apart by their owner and key', () => {
  const parts = (given: { workspaceId?: string; key?: string }) => {
    const account = { provider: 'openai', account: accountOf('openai', given) };
    return [accountOwner(account), accountKey(account)];
  };
  expect(accountOf('openai', {})).toBe('openai');
  expect(parts({})).toEqual([undefined, undefined]);
  expect(parts({ key: 'A of B' })).toEqual([undefined, 'A of B']);
  expect(parts({ workspaceId: 'ws_1' })).toEqual(['ws_1', undefined]);
  expect(parts({ workspaceId: 'ws_1', key: 'second key of all' })).toEqual(['ws_1', 'second key of all']);
});

test('one of several keys says nothing about the host until all are benched', () => {
  const { health } = setUp();
  const keys = ['A', 'B'];
  const failedWith = (key: string) =>
    health.failed(
      { ...target, account: accountOf(target.provider, { key }) },
      new UpstreamFailure('authentication', ''),
    );
  failedWith('A');
  expect(health.hostBenches(() => keys)).toEqual([]);
  failedWith('B');
  expect(health.hostBenches(() => keys)).toHaveLength(2);
});
