import { describe, expect, test } from 'vitest';
import { LiveSpeed } from '../../../src/daemon/features/catalog/index.ts';
import {
  type Upstream,
  type UpstreamCall,
  UpstreamFailure,
  type UpstreamFailureKind,
} from '../../../src/daemon/features/inference/index.ts';
import {
  type Attempt,
  Health,
  type OpenRequest,
  openRoute,
  RetryBudget,
  type Route,
} from '../../../src/daemon/features/routing/index.ts';
import { NetworkFailure } from '../../../src/daemon/world.ts';
import { ApiError } from '../../../src/shared/errors.ts';
import { failureOf } from '../../support/failure-of.ts';
import { fakeWorld } from '../../support/fake-world.ts';
import { inferenceOf } from '../../support/inference.ts';
import { offerOf, routeOf } from '../../support/routing.ts';
import { type Step, scripted } from '../../support/scripted-upstream.ts';

function fails(kind: UpstreamFailureKind, details?: UpstreamFailure['details']): UpstreamFailure {
  return new UpstreamFailure(kind, `secret detail of ${kind}`, details);
}

/** Providers that each do what their script says, call by call, and then again the last of it. */
function setUp(scripts: Record<string, Step[]>) {
  const world = fakeWorld();
  const health = new Health(world);
  const live = new LiveSpeed(world);
  const retries = new RetryBudget(world);
  const calls: { provider: string; call: UpstreamCall }[] = [];
  const upstreams = new Map<string, Upstream>(
    Object.entries(scripts).map(([name, script]) => [name, scripted(name, [...script], calls, world)]),
  );
  const routes = Object.keys(scripts).map((name) => routeOf(offerOf(name)));
  const open = (request: Partial<OpenRequest> = {}) =>
    openRoute(
      { upstreams, health, live, retries, world },
      {
        routes,
        inference: inferenceOf({ wire: 'chat' }),
        signal: new AbortController().signal,
        keyFor: (route) => `key of ${route.provider}`,
        ...request,
      },
    );
  return { world, health, live, calls, routes, open };
}

describe('a call goes on to the next provider', () => {
  test.each([
    ['unknown-model', 404, 'model_not_found'],
    ['authentication', 401, 'authentication'],
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
      { provider: 'a', model: 'openai/gpt-5', status: status ?? 0, error_code: errorCode, ms: 100 },
      { provider: 'b', model: 'openai/gpt-5', status: 200, error_code: null, ms: 100 },
    ]);
    expect(opened.ttftMs).toBe(100);
  });

  test('after a workspace’s own key that cannot be had, but not where only such keys are left', async () => {
    const { open, routes, calls } = setUp({ a: ['ok'], b: ['ok'] });
    const [own, hosts] = [{ ...(routes[0] as Route), ownKey: true }, routes[1] as Route];
    const keyFor = (route: Route) =>
      route.ownKey ? Promise.reject(new ApiError('unavailable', { message: 'sealed' })) : 'key';
    const opened = await open({ routes: [own, hosts], keyFor });
    expect(opened.route.provider).toBe('b');
    expect(opened.attempts.map((attempt) => attempt.error_code)).toEqual(['unavailable', null]);
    expect(calls).toHaveLength(1);
    expect(await failureOf(open({ routes: [own], keyFor }))).toMatchObject({
      code: 'unavailable',
      message: 'sealed',
    });
  });

  test('or back to the only one, once, when the connection broke before an answer', async () => {
    const reset = fails('network', { cause: new NetworkFailure('reset', 'a: the connection broke') });
    const once = setUp({ a: [reset, 'ok'] });
    expect((await once.open()).attempts.map((attempt) => attempt.error_code)).toEqual(['network', null]);
    const twice = setUp({ a: [reset, reset, 'ok'] });
    expect(await failureOf(twice.open())).toMatchObject({ code: 'upstream_failed' });
    expect(twice.calls).toHaveLength(2);
    const refused = fails('network', { cause: new NetworkFailure('refused', 'a: no connection') });
    const { open, calls } = setUp({ a: [refused, 'ok'] });
    expect(await failureOf(open())).toMatchObject({ code: 'upstream_failed' });
    expect(calls).toHaveLength(1);
  });

  test('but a provider that keeps breaking its connections is not asked twice as often', async () => {
    const reset = fails('network', { cause: new NetworkFailure('reset', 'a: the connection broke') });
    const { open, calls } = setUp({ a: [reset] });
    for (let made = 0; made < 10; made += 1) await failureOf(open());
    // The breaker opens at the fifth failure in a row.
    expect(calls).toHaveLength(2 + 2 + 8);
  });

  test('one that breaks under its load is sent a tenth more than it was asked, beside a reserve', async () => {
    const reset = fails('network', { cause: new NetworkFailure('reset', 'a: the connection broke') });
    const { open, calls, routes } = setUp({ a: [reset] });
    const [route] = routes as [Route];
    const ofModel = (at: number) => ({ ...route, providerModel: `m${at}` });
    const asked = 200;
    await Promise.all(Array.from({ length: asked }, (_, at) => failureOf(open({ routes: [ofModel(at)] }))));
    expect(calls.length).toBeGreaterThan(asked);
    expect(calls.length).toBeLessThanOrEqual(asked * 1.1 + 10);
  });

  test('three times at most', async () => {
    const down = fails('server', { status: 503 });
    const { open, calls } = setUp({ a: [down], b: [down], c: [down], d: ['ok'] });
    const error = await failureOf(open());
    expect(error).toMatchObject({ code: 'upstream_failed', status: 502 });
    expect(error.extra?.attempts).toHaveLength(3);
    expect(calls).toHaveLength(3);
  });

  test('not when the request is at fault', async () => {
    const fault = fails('caller', {
      status: 400,
      code: 'unsupported_value',
      param: 'temperature',
      publicMessage: 'Only 1.',
    });
    const { open, calls, health, live } = setUp({ a: [fault], b: ['ok'] });
    const error = await failureOf(open());
    expect(error).toMatchObject({
      code: 'unsupported_value',
      status: 400,
      param: 'temperature',
      message: 'Only 1.',
    });
    expect(calls).toHaveLength(1);
    expect(health.benches()).toEqual([]);
    expect(live.read('a', 'openai/gpt-5')).toBeNull();
  });

  test('not when our own code is at fault', async () => {
    const { open } = setUp({ b: ['ok'] });
    await expect(open({ routes: [routeOf(offerOf('nobody'))] })).rejects.toThrow(
      'no upstream is named nobody',
    );
  });
});

describe('when nobody answers', () => {
  test('everybody limits the rate: 429, and the soonest Retry-After, a minute at most', async () => {
    const slow = (retryAfterSeconds?: number) => fails('rate-limited', { status: 429, retryAfterSeconds });
    const told = async (...waits: (number | undefined)[]) => {
      const { open } = setUp(Object.fromEntries(waits.map((wait, place) => [`p${place}`, [slow(wait)]])));
      return await failureOf(open());
    };
    expect(await told(30, 7)).toMatchObject({ code: 'rate_limited', status: 429, retryAfterSeconds: 7 });
    expect(await told(1e9)).toMatchObject({ retryAfterSeconds: 60 });
    expect(await told(0)).toMatchObject({ retryAfterSeconds: 1 });
    expect(await told(undefined)).toMatchObject({ retryAfterSeconds: 5 });
  });

  test('nobody knows the model: 404', async () => {
    const { open } = setUp({ a: [fails('unknown-model', { status: 404 })] });
    expect(await failureOf(open())).toMatchObject({ code: 'model_not_found', status: 404, param: 'model' });
  });

  test('else 502 with the attempts, what would help, and nothing that a provider said', async () => {
    const { open } = setUp({
      a: [fails('authentication', { status: 401 })],
      b: [fails('rate-limited', { status: 429 })],
    });
    const attempts: Attempt[] = [];
    const error = await failureOf(open({ attempts }));
    expect(error).toMatchObject({ code: 'upstream_failed', extra: { attempts } });
    expect(attempts.map(({ status }) => status)).toEqual([401, 429]);
    expect(error.message).toContain('a did not accept the key');
    expect(JSON.stringify([error.message, error.extra])).not.toContain('secret');
  });

  test('a provider that is called at a wrong address: what to check', async () => {
    const { open } = setUp({ a: [fails('server', { status: 404 })] });
    const { message } = await failureOf(open());
    expect(message).toContain('check its base_url (404)');
  });

  test('the client has left: nothing more is tried, nobody is blamed', async () => {
    const { open, calls, health, live } = setUp({ a: [fails('network')], b: ['ok'] });
    const abort = new AbortController();
    const attempts: Attempt[] = [];
    const onAttempt = () => abort.abort(new Error('left'));
    await expect(open({ signal: abort.signal, attempts, onAttempt })).rejects.toThrow('left');
    expect(calls).toHaveLength(0);
    expect(attempts).toMatchObject([{ provider: 'a', status: 0, error_code: 'canceled' }]);
    expect(health.benches()).toEqual([]);
    expect(live.read('a', 'openai/gpt-5')).toBeNull();
  });
});

describe('what is sent', () => {
  test('the provider’s name for the model, its key, the budget, and the caller’s format where it is spoken', async () => {
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
  test('a failing provider is left alone, tried once each 15 s, and taken back', async () => {
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

  test('a rate-limited provider is tried when nobody else is left', async () => {
    const { open } = setUp({ a: [fails('rate-limited', { status: 429 }), 'ok'] });
    await failureOf(open());
    expect((await open()).route.provider).toBe('a');
  });

  test('the end of an answer counts once, for speed or against uptime', async () => {
    const { open, live, world } = setUp({ a: ['ok'] });
    const good = await open();
    await world.advance(1_000);
    good.ended({ outputTokens: 50 });
    good.ended({ failure: fails('broken') });
    const numbers = live.read('a', 'openai/gpt-5');
    expect(numbers).toMatchObject({ attempts: 1, uptime: 1 });
    expect(Math.abs((numbers?.tokensPerSecondP50 ?? 0) - 50)).toBeLessThan(3);
    const bad = await open();
    bad.ended({ failure: fails('broken'), outputTokens: 3 });
    expect(live.read('a', 'openai/gpt-5')).toMatchObject({ attempts: 2, uptime: 0.5 });
  });

  test('what the simulator is told to do to one call changes nothing for the next', async () => {
    const { open, health } = setUp({ simulator: [fails('authentication', { status: 401 })] });
    const routes = [routeOf(offerOf('simulator', { kind: 'simulator' }))];
    for (let i = 0; i < 6; i += 1) expect((await failureOf(open({ routes }))).code).toBe('upstream_failed');
    expect(health.benches()).toEqual([]);
  });
});
