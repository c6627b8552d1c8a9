import { describe, expect, test } from 'vitest';
import { NetworkFailure } from '../../../../src/daemon/base/world.ts';
import { SpeedMeter } from '../../../../src/daemon/features/catalog/index.ts';
import {
  type Attempt,
  Health,
  type ProviderRoute,
  type RouteOpenRequest,
} from '../../../../src/daemon/features/routing/index.ts';
import { type OpenDeps, openRoute, RetryLimit } from '../../../../src/daemon/features/routing/open-route.ts';
import {
  type Upstream,
  type UpstreamCall,
  UpstreamFailure,
  type UpstreamFailureKind,
} from '../../../../src/daemon/features/upstreams/upstream.ts';
import { ApiError } from '../../../../src/shared/errors.ts';
import { failureOf } from '../../../support/failure-of.ts';
import { fakeWorld } from '../../../support/fake-world.ts';
import { inferenceOf } from '../../../support/inference.ts';
import { offerOf, routeOf } from '../../../support/routing.ts';
import { type Step, scripted } from '../../../support/scripted-upstream.ts';

function fails(kind: UpstreamFailureKind, details?: UpstreamFailure['details']): UpstreamFailure {
  return new UpstreamFailure(kind, `secret detail of ${kind}`, details);
}

/** Providers that follow their scripts call by call, and repeat the last step. */
function setUp(scripts: Record<string, Step[]>) {
  const world = fakeWorld();
  const health = new Health(world);
  const speed = new SpeedMeter(world);
  const retries = new RetryLimit(world);
  const calls: { provider: string; call: UpstreamCall }[] = [];
  const upstreams = new Map<string, Upstream>(
    Object.entries(scripts).map(([name, script]) => [name, scripted(name, [...script], calls, world)]),
  );
  const routes = Object.keys(scripts).map((name) => routeOf(offerOf(name)));
  const open = async ({
    keyFor = (route) => `key of ${route.provider}`,
    attempts = [],
    ...request
  }: Partial<RouteOpenRequest<ProviderRoute> & Pick<OpenDeps, 'keyFor'>> = {}) => {
    const opened = await openRoute(
      { upstreams, health, speed, retries, world, keyFor },
      {
        routes,
        inference: inferenceOf({ wire: 'chat' }),
        outputTokensMaxFor: () => undefined,
        signal: new AbortController().signal,
        attempts,
        onAttempt: () => {},
        ...request,
      },
    );
    return { ...opened, attempts };
  };
  return { world, health, speed, calls, routes, open };
}

describe('a call continues with the next provider', () => {
  test.each([
    ['unknown-model', 404, 'model_not_found'],
    ['authentication', 401, 'authentication'],
    ['forbidden', 403, 'forbidden'],
    ['billing', 402, 'billing'],
    ['rate-limited', 429, 'rate_limited'],
    ['server', 500, 'server_error'],
    ['timeout', undefined, 'timeout'],
    ['network', undefined, 'network'],
    ['broken', 200, 'broken_answer'],
  ] as const)('after %s', async (kind, status, errorCode) => {
    const { open } = setUp({ a: [fails(kind, { status })], b: ['ok'] });
    const opened = await open();
    expect(opened.route.provider).toBe('b');
    expect(opened.attempts).toEqual([
      {
        provider: 'a',
        model: 'openai/gpt-5',
        status: status ?? 0,
        errorCode,
        message: expect.stringMatching(/./),
        ms: 100,
        providerModel: 'a:openai/gpt-5',
      },
      {
        provider: 'b',
        model: 'openai/gpt-5',
        status: 200,
        errorCode: null,
        ms: 100,
        providerModel: 'b:openai/gpt-5',
      },
    ]);
  });

  describe('after an input that is too long', () => {
    const tooLong = () =>
      fails('caller', { status: 400, code: 'context_length_exceeded', publicMessage: 'Too long.' });
    const lengths = (...all: (number | null)[]) =>
      all.map((contextLength, at) => routeOf({ ...offerOf(`p${at}`), contextLength }));

    test.each([
      [[8_000, 128_000], 'p1'],
      [[8_000, 4_000, null, 200_000], 'p3'],
      [[null, 128_000], 'p1'],
    ])('with contexts of %j, at the first longer one', async (contexts, provider) => {
      const { open } = setUp({ p0: [tooLong()], p1: ['ok'], p2: ['ok'], p3: ['ok'] });
      const opened = await open({ routes: lengths(...contexts) });
      expect(opened.route.provider).toBe(provider);
      expect(opened.attempts.map(({ errorCode }) => errorCode)).toEqual(['invalid_request', null]);
    });

    test('each longer than the last, and else the caller is told', async () => {
      const { open, calls } = setUp({ p0: [tooLong()], p1: [tooLong()], p2: ['ok'] });
      const error = await failureOf(open({ routes: lengths(8_000, 128_000, 32_000) }));
      expect(error).toMatchObject({ code: 'context_length_exceeded', status: 400, message: 'Too long.' });
      expect(calls.map(({ provider }) => provider)).toEqual(['p0', 'p1']);
    });

    test('no other invalid request goes on', async () => {
      const { open, calls } = setUp({
        p0: [fails('caller', { status: 400, code: 'invalid_request' })],
        p1: ['ok'],
      });
      expect(await failureOf(open({ routes: lengths(8_000, 128_000) }))).toMatchObject({
        code: 'invalid_request',
      });
      expect(calls).toHaveLength(1);
    });
  });

  test('after an answer that breaks off while it is read ahead, if another route is left', async () => {
    const { open, health } = setUp({ a: ['ok'], b: ['ok'], c: ['ok'], d: ['ok'] });
    const read: string[] = [];
    const readAhead: RouteOpenRequest<ProviderRoute>['readAhead'] = (_answer, { provider }) => {
      read.push(provider);
      return Promise.reject(fails('broken'));
    };
    const opened = await open({ readAhead });
    // The third attempt is the last one, whose answer is left to the caller.
    expect([read, opened.route.provider]).toEqual([['a', 'b'], 'c']);
    expect(opened.attempts.map(({ status, errorCode }) => [status, errorCode])).toEqual([
      [200, 'broken_answer'],
      [200, 'broken_answer'],
      [200, null],
    ]);
    expect(health.standing(opened.route).state).toBe('ready');
  });

  test('but not once the client has left', async () => {
    const { open } = setUp({ a: ['ok'], b: ['ok'] });
    const leaving = new AbortController();
    const attempts: Attempt[] = [];
    const readAhead = () => {
      leaving.abort('left');
      return Promise.reject(fails('network'));
    };
    await expect(open({ readAhead, signal: leaving.signal, attempts })).rejects.toBe('left');
    expect(attempts.map(({ provider }) => provider)).toEqual(['a']);
  });

  test('after a workspace’s key that is not available, unless only such keys are left', async () => {
    const { open, routes, calls } = setUp({ a: ['ok'], b: ['ok'] });
    const [own, hosts] = [{ ...(routes[0] as ProviderRoute), ownKey: true }, routes[1] as ProviderRoute];
    const keyFor = (route: ProviderRoute) =>
      route.ownKey ? Promise.reject(new ApiError('unavailable', { message: 'sealed' })) : 'key';
    const opened = await open({ routes: [own, hosts], keyFor });
    expect(opened.route.provider).toBe('b');
    expect(opened.attempts.map((attempt) => attempt.errorCode)).toEqual(['unavailable', null]);
    expect(calls).toHaveLength(1);
    expect(await failureOf(open({ routes: [own], keyFor }))).toMatchObject({
      code: 'unavailable',
      message: 'sealed',
    });
  });

  test('or retries the only one, once, when the connection broke before an answer', async () => {
    const reset = fails('network', { cause: new NetworkFailure('reset', 'a: the connection broke') });
    const once = setUp({ a: [reset, 'ok'] });
    expect((await once.open()).attempts.map((attempt) => attempt.errorCode)).toEqual(['network', null]);
    const twice = setUp({ a: [reset, reset, 'ok'] });
    expect(await failureOf(twice.open())).toMatchObject({ code: 'upstream_failed' });
    expect(twice.calls).toHaveLength(2);
    const refused = fails('network', { cause: new NetworkFailure('refused', 'a: no connection') });
    const { open, calls } = setUp({ a: [refused, 'ok'] });
    expect(await failureOf(open())).toMatchObject({ code: 'upstream_failed' });
    expect(calls).toHaveLength(1);
  });

  test('but a provider that keeps breaking connections is not called twice as often', async () => {
    const reset = fails('network', { cause: new NetworkFailure('reset', 'a: the connection broke') });
    const { open, calls } = setUp({ a: [reset] });
    for (let i = 0; i < 10; i += 1) await failureOf(open());
    // The breaker opens at the fifth failure in a row.
    expect(calls).toHaveLength(2 + 2 + 8);
  });

  test('retries add a tenth of the load at most, and a reserve', async () => {
    const reset = fails('network', { cause: new NetworkFailure('reset', 'a: the connection broke') });
    const { open, calls, routes } = setUp({ a: [reset] });
    const [route] = routes as [ProviderRoute];
    const ofModel = (at: number) => ({ ...route, providerModel: `m${at}` });
    const asked = 200;
    await Promise.all(Array.from({ length: asked }, (_, at) => failureOf(open({ routes: [ofModel(at)] }))));
    expect(calls.length).toBeGreaterThan(asked);
    expect(calls.length).toBeLessThanOrEqual(asked * 1.1 + 10);
  });

  test('three attempts at most', async () => {
    const down = fails('server', { status: 503 });
    const { open, calls } = setUp({ a: [down], b: [down], c: [down], d: ['ok'] });
    const error = await failureOf(open());
    expect(error).toMatchObject({ code: 'upstream_failed', status: 502 });
    expect(error.extra?.attempts).toHaveLength(3);
    expect(calls).toHaveLength(3);
  });

  test('not when the request is invalid', async () => {
    const fault = fails('caller', {
      status: 400,
      code: 'unsupported_value',
      param: 'temperature',
      publicMessage: 'Only 1.',
    });
    const { open, calls, health, speed } = setUp({ a: [fault], b: ['ok'] });
    const error = await failureOf(open());
    expect(error).toMatchObject({
      code: 'unsupported_value',
      status: 400,
      param: 'temperature',
      message: 'Only 1.',
    });
    expect(calls).toHaveLength(1);
    expect(health.benches()).toEqual([]);
    expect(speed.read('a', 'openai/gpt-5')).toBeNull();
  });

  test('not after a bug of our own', async () => {
    const { open } = setUp({ b: ['ok'] });
    await expect(open({ routes: [routeOf(offerOf('nobody'))] })).rejects.toThrow(
      'no upstream is named nobody',
    );
  });
});

describe('when no provider answers', () => {
  test('all are rate limited: 429 with the soonest Retry-After, at most a minute', async () => {
    const slow = (retryAfterSeconds?: number) => fails('rate-limited', { status: 429, retryAfterSeconds });
    const errorAfter = async (...waits: (number | undefined)[]) => {
      const { open } = setUp(Object.fromEntries(waits.map((wait, at) => [`p${at}`, [slow(wait)]])));
      return await failureOf(open());
    };
    expect(await errorAfter(30, 7)).toMatchObject({
      code: 'rate_limited',
      status: 429,
      retryAfterSeconds: 7,
    });
    expect(await errorAfter(1e9)).toMatchObject({ retryAfterSeconds: 60 });
    expect(await errorAfter(0)).toMatchObject({ retryAfterSeconds: 1 });
    expect(await errorAfter(undefined)).toMatchObject({ retryAfterSeconds: 5 });
  });

  test('all failed and said when to ask again: 502 with the soonest Retry-After', async () => {
    const failing = (retryAfterSeconds?: number) => fails('server', { status: 500, retryAfterSeconds });
    const { open } = setUp({ a: [failing(30)], b: [failing(12)] });
    expect(await failureOf(open())).toMatchObject({ code: 'upstream_failed', retryAfterSeconds: 12 });
    // NVIDIA-NeMo/nemo-platform#1343: also if one of them is rate limited.
    const limited = fails('rate-limited', { status: 429, retryAfterSeconds: 9 });
    const mixed = setUp({ a: [failing(30)], b: [limited] });
    expect(await failureOf(mixed.open())).toMatchObject({ code: 'upstream_failed', retryAfterSeconds: 9 });
    const one = setUp({ a: [failing(30)], b: [failing()] });
    expect((await failureOf(one.open())).retryAfterSeconds).toBeUndefined();
  });

  test('none knows the model: 404', async () => {
    const { open } = setUp({ a: [fails('unknown-model', { status: 404 })] });
    expect(await failureOf(open())).toMatchObject({ code: 'model_not_found', status: 404, param: 'model' });
  });

  test('else 502 with the attempts and remedies, and nothing that a provider said', async () => {
    const { open } = setUp({
      a: [fails('authentication', { status: 401 })],
      b: [fails('rate-limited', { status: 429 })],
    });
    const attempts: Attempt[] = [];
    const error = await failureOf(open({ attempts }));
    expect(error).toMatchObject({
      code: 'upstream_failed',
      extra: { attempts: [{ error_code: 'authentication' }, { error_code: 'rate_limited' }] },
    });
    expect(attempts.map(({ status }) => status)).toEqual([401, 429]);
    expect(error.message).toContain('a rejected the API key');
    expect(JSON.stringify([error.message, error.extra])).not.toContain('secret');
  });

  test('a wrong address: the message says what to check', async () => {
    const { open } = setUp({ a: [fails('server', { status: 404 })] });
    const { message } = await failureOf(open());
    expect(message).toContain('check its base_url (404)');
  });

  test('the client has left: nothing more is tried, no provider is blamed', async () => {
    const { open, calls, health, speed } = setUp({ a: [fails('network')], b: ['ok'] });
    const abort = new AbortController();
    const attempts: Attempt[] = [];
    const onAttempt = () => abort.abort(new Error('left'));
    await expect(open({ signal: abort.signal, attempts, onAttempt })).rejects.toThrow('left');
    expect(calls).toHaveLength(0);
    expect(attempts).toMatchObject([{ provider: 'a', status: 0, errorCode: 'canceled' }]);
    expect(health.benches()).toEqual([]);
    expect(speed.read('a', 'openai/gpt-5')).toBeNull();
  });
});

describe('the upstream call has', () => {
  test('the provider’s name for the model, its key, the budget, and the caller’s format where supported', async () => {
    const { open, calls } = setUp({ a: ['ok'] });
    const wires = { both: ['chat', 'responses'], other: ['chat'], own: undefined } as const;
    for (const spoken of Object.values(wires)) {
      await open({
        routes: [routeOf(offerOf('a', { wires: spoken }))],
        inference: inferenceOf({ wire: 'responses' }),
        outputTokensMaxFor: () => 42,
      });
    }
    expect(calls.map(({ call }) => call.wire)).toEqual(['responses', 'chat', undefined]);
    expect(calls[0]?.call).toMatchObject({ model: 'a:openai/gpt-5', key: 'key of a', outputTokensMax: 42 });
  });
});

describe('health and measurements', () => {
  test('a failing provider is skipped, probed each 15 s, and used again', async () => {
    const down = fails('server', { status: 500 });
    const { open, calls, world, routes } = setUp({
      a: [down, down, down, down, down, down, 'ok'],
      b: ['ok'],
    });
    for (let i = 0; i < 5; i += 1) await open();
    const asked = () => calls.splice(0).map(({ provider }) => provider);
    asked();
    // A plan made before the breaker opened still has the failing provider first.
    await open({ routes });
    expect(asked()).toEqual(['b']);
    await world.advance(15_000);
    await open();
    await open();
    expect(asked()).toEqual(['a', 'b', 'b']);
    await world.advance(15_000);
    await open();
    await open();
    expect(asked()).toEqual(['a', 'a']);
  });

  test('a rate-limited provider is tried when no other is left', async () => {
    const { open } = setUp({ a: [fails('rate-limited', { status: 429 }), 'ok'] });
    await failureOf(open());
    expect((await open()).route.provider).toBe('a');
  });

  test('the end of an answer counts once, for speed or against uptime', async () => {
    const { open, speed, world } = setUp({ a: ['ok'] });
    const good = await open();
    await world.advance(1_000);
    good.ended({ outputTokens: 50 });
    good.ended({ failure: fails('broken') });
    const numbers = speed.read('a', 'openai/gpt-5');
    expect(numbers).toMatchObject({ attempts: 1, uptime: 1 });
    expect(Math.abs((numbers?.tokensPerSecondP50 ?? 0) - 50)).toBeLessThan(3);
    const bad = await open();
    bad.ended({ failure: fails('broken'), outputTokens: 3 });
    expect(speed.read('a', 'openai/gpt-5')).toMatchObject({ attempts: 2, uptime: 0.5 });
  });

  test('failures of the simulator do not affect later calls', async () => {
    const { open, health } = setUp({ simulator: [fails('authentication', { status: 401 })] });
    const routes = [routeOf(offerOf('simulator', { kind: 'simulator' }))];
    for (let i = 0; i < 6; i += 1) expect((await failureOf(open({ routes }))).code).toBe('upstream_failed');
    expect(health.benches()).toEqual([]);
  });
});
