import { describe, expect, test } from 'vitest';
import { matchesPattern } from '../../../../src/daemon/features/catalog/index.ts';
import type { ProviderKind } from '../../../../src/daemon/features/catalog/offer.ts';
import { type PlanRequest, requirementsOf } from '../../../../src/daemon/features/routing/judge-offer.ts';
import { UpstreamFailure } from '../../../../src/daemon/features/upstreams/upstream.ts';
import { inferenceOf } from '../../../support/inference.ts';
import {
  dollars,
  noRequirements,
  offerOf,
  planOf,
  resolutionOf,
  routeOf,
  routesIn,
  routing,
} from '../../../support/routing.ts';

describe('routes are ordered', () => {
  const cheap = offerOf('cheap', { prices: dollars(1) });
  const dear = offerOf('dear', { prices: dollars(5) });
  const unknown = offerOf('unknown', { prices: null });

  test('by price, unknown prices last', () => {
    const { providers } = routing();
    expect(providers(planOf([resolutionOf(unknown, dear, cheap)]))).toEqual(['cheap', 'dear', 'unknown']);
  });

  test('by the price tier of the input length', () => {
    const { providers } = routing();
    const tiered = offerOf('tiered', {
      prices: { ...dollars(1), tiers: [{ ...dollars(9), aboveInputTokens: 1_000 }] },
    });
    const models = [resolutionOf(tiered, dear)];
    expect(providers(planOf(models))).toEqual(['tiered', 'dear']);
    const requirements = { ...noRequirements, inputTokensMax: 40_000 };
    expect(providers(planOf(models, { requirements }))).toEqual(['dear', 'tiered']);
  });

  test('by the caller’s order first', () => {
    const { providers } = routing();
    const models = [resolutionOf(cheap, dear, unknown)];
    expect(providers(planOf(models, { preferences: { order: ['unknown', 'dear'] } }))).toEqual([
      'unknown',
      'dear',
      'cheap',
    ]);
    expect(providers(planOf(models, { preferences: { only: ['dear', 'nobody'] } }))).toEqual(['dear']);
    expect(providers(planOf(models, { preferences: { ignore: ['cheap'] } }))).toEqual(['dear', 'unknown']);
  });

  test('by measurements when the caller sorts by them, or when prices are equal', () => {
    const { speed, providers } = routing();
    const [first, second] = [offerOf('first'), offerOf('second')];
    const models = [resolutionOf(first, second)];
    expect(providers(planOf(models))).toEqual(['first', 'second']);
    for (let i = 0; i < 20; i += 1) {
      speed.attempted('first', first.model, { isOk: true, ttftMs: 2_000 });
      speed.attempted('second', second.model, { isOk: true, ttftMs: 300 });
    }
    speed.finished('first', first.model, 200);
    speed.finished('second', second.model, 50);
    expect(providers(planOf(models))).toEqual(['second', 'first']);
    expect(providers(planOf(models, { preferences: { sort: 'latency' } }))).toEqual(['second', 'first']);
    expect(providers(planOf(models, { preferences: { sort: 'throughput' } }))).toEqual(['first', 'second']);
    expect(providers(planOf(models, { preferences: { sort: 'price' } }))).toEqual(['first', 'second']);
  });

  test('with fallbacks after the requested model, and failing providers last', () => {
    const { health, plan } = routing();
    const other = offerOf('cheap', { model: 'x/other' });
    const models = [resolutionOf(cheap, dear), resolutionOf(other)];
    const named = () => routesIn(plan(planOf(models))).map(({ provider, offer }) => [provider, offer.model]);
    expect(named()).toEqual([
      ['cheap', 'openai/gpt-5'],
      ['dear', 'openai/gpt-5'],
      ['cheap', 'x/other'],
    ]);
    health.failed(routeOf(cheap), new UpstreamFailure('rate-limited', ''));
    expect(named()).toEqual([
      ['dear', 'openai/gpt-5'],
      ['cheap', 'x/other'],
      ['cheap', 'openai/gpt-5'],
    ]);
  });
});

describe('no route', () => {
  test('lists a remedy for each provider', () => {
    const { rejection } = routing();
    const offer = offerOf('openai', {
      kind: 'openai',
      available: false,
      reason: 'no key: set OPENAI_API_KEY',
    });
    const error = rejection(planOf([resolutionOf(offer)]));
    expect(error).toMatchObject({ code: 'no_route', status: 503, param: null });
    expect(error.message).toContain('set OPENAI_API_KEY');
    expect(error.extra?.considered).toEqual([
      {
        provider: 'openai',
        model: 'openai/gpt-5',
        reason:
          'no key: set OPENAI_API_KEY, or set a key for the workspace: gateway provider-keys set openai',
      },
    ]);
  });

  test.each([
    ['tools', { tools: false }],
    ['images', { inputModalities: ['text'] as const }],
    ['files', { inputModalities: ['text', 'image'] as const }],
    ['audio', { inputModalities: ['text', 'image'] as const }],
  ])(
    '%s: a model known to lack what an answer depends on is refused, an unknown one is tried',
    (need, lacking) => {
      const { providers, rejection } = routing();
      const unable = offerOf('a');
      unable.capabilities = { ...unable.capabilities, ...lacking };
      const requirements = { ...noRequirements, [need]: true };
      expect(rejection(planOf([resolutionOf(unable)], { requirements }))).toMatchObject({
        code: 'unsupported_value',
        status: 400,
        param: `path of ${need}`,
        message: expect.stringContaining(`openai/gpt-5 does not`),
      });
      expect(providers(planOf([resolutionOf(unable)]))).toEqual(['a']);
      const able = offerOf('b', { model: 'x/able' });
      const models = [resolutionOf(unable), resolutionOf(able)];
      expect(providers(planOf(models, { requirements }))).toEqual(['b']);
      // One that could answer, but not now: waiting may help.
      const closed = resolutionOf(offerOf('b', { model: 'x/able', available: false, reason: 'no key' }));
      expect(rejection(planOf([resolutionOf(unable), closed], { requirements })).code).toBe('no_route');
    },
  );

  test.each([
    ['structuredOutput', { structuredOutput: false }],
    ['reasoning', { reasoning: false }],
  ])('%s: a model known to lack an option is tried after those that have it', (option, lacking) => {
    const { health, providers } = routing();
    const unable = offerOf('a');
    unable.capabilities = { ...unable.capabilities, ...lacking };
    const able = offerOf('b', { model: 'x/able' });
    const models = [resolutionOf(unable), resolutionOf(able)];
    const requirements = { ...noRequirements, [option]: true };
    expect(providers(planOf([resolutionOf(unable)], { requirements }))).toEqual(['a']);
    expect(providers(planOf(models, { requirements }))).toEqual(['b', 'a']);
    expect(providers(planOf(models))).toEqual(['a', 'b']);
    health.failed(routeOf(able), new UpstreamFailure('rate-limited', ''));
    expect(providers(planOf(models, { requirements }))).toEqual(['a', 'b']);
  });

  test('names the price cap, which includes the margin', () => {
    const { providers, rejection } = routing();
    const models = [resolutionOf(offerOf('a', { prices: dollars(2) }))];
    const caps = { maxPrice: { input: 2_000_000_000 } };
    expect(providers(planOf(models, { caps }))).toEqual(['a']);
    expect(rejection(planOf(models, { caps, marginPpm: 1 })).param).toBe('limits.max_price');
    const preferences = { maxPrice: { output: 1_999_999_999 } };
    expect(rejection(planOf(models, { preferences })).param).toBe('service.max_price');
  });

  test('price caps apply to generated images, and to audio where there is some', () => {
    const { rejection, providers } = routing();
    const media = { audioInput: 5_000_000_000, imageOutput: 30_000_000_000 };
    const models = [resolutionOf(offerOf('draws', { prices: { ...dollars(2), media } }))];
    const caps = (maxPrice: { input?: number; output?: number }) => ({ caps: { maxPrice } });
    expect(rejection(planOf(models, caps({ output: 29_000_000_000 }))).param).toBe('limits.max_price');
    const input = caps({ input: 4_000_000_000 });
    expect(providers(planOf(models, input))).toEqual(['draws']);
    const requirements = { ...noRequirements, audio: true };
    expect(rejection(planOf(models, { ...input, requirements })).param).toBe('limits.max_price');
  });

  test('an unknown price is rejected for prepaid callers and capped keys, not for own keys', () => {
    const { providers, rejection } = routing();
    const models = [resolutionOf(offerOf('a', { prices: null }))];
    expect(providers(planOf(models))).toEqual(['a']);
    expect(rejection(planOf(models, { isPrepaid: true })).message).toContain('price is unknown');
    expect(rejection(planOf(models, { caps: { isSpendCapped: true } })).code).toBe('no_route');
    expect(rejection(planOf(models, { caps: { maxPrice: { input: 1 } } })).param).toBe('limits.max_price');
    const own = { ownKeys: new Set(['a']), preferences: { pay: 'mine' as const } };
    expect(providers(planOf(models, { ...own, isPrepaid: true }))).toEqual(['a']);
  });

  test('a model that the key may not use is 403; such a fallback is skipped', () => {
    const { providers, rejection } = routing();
    const caps = (param: 'limits.models' | 'scopes.models') => ({
      models: [{ param, allowed: ['openai/*'] }],
    });
    const other = resolutionOf(offerOf('b', { model: 'x/other' }));
    const asked = resolutionOf(offerOf('a'));
    const error = rejection(planOf([other, asked], { caps: caps('scopes.models') }));
    expect(error).toMatchObject({ code: 'limit_reached', status: 403, param: 'scopes.models' });
    expect(providers(planOf([asked, other], { caps: caps('limits.models') }))).toEqual(['a']);
  });
});

describe('whose key pays', () => {
  const hosted = offerOf('hosted');
  const closed = offerOf('closed', { available: false, reason: 'no key' });
  const ownKeys = new Set(['closed', 'hosted']);
  const models = [resolutionOf(hosted, closed)];
  const paid = (request: PlanRequest) =>
    routesIn(routing().plan(request)).map(({ provider, ownKey, account }) => [provider, ownKey, account]);

  test('the host’s where it has one, else the workspace’s', () => {
    expect(paid(planOf(models, { ownKeys }))).toEqual([
      ['hosted', false, 'hosted'],
      ['closed', true, 'closed of ws_1'],
    ]);
  });

  test('the one that the caller chooses', () => {
    expect(paid(planOf(models, { ownKeys, preferences: { pay: 'ours' } }))).toEqual([
      ['hosted', false, 'hosted'],
    ]);
    expect(paid(planOf(models, { ownKeys, preferences: { pay: 'mine' } }))).toEqual([
      ['hosted', true, 'hosted of ws_1'],
      ['closed', true, 'closed of ws_1'],
    ]);
  });

  test('how to set a key is shown only for providers that accept own keys', () => {
    const { rejection } = routing();
    const message = (provider: string, kind: ProviderKind) =>
      rejection(planOf([resolutionOf(offerOf(provider, { kind }))], { preferences: { pay: 'mine' } }))
        .message;
    expect(message('anthropic', 'anthropic')).toContain('gateway provider-keys set anthropic');
    expect(message('acme', 'compatible')).not.toContain('provider-keys');
    expect(message('anthropic', 'compatible')).not.toContain('provider-keys');
  });

  test('a workspace’s rejected key benches neither the host’s account nor another workspace', () => {
    const { health, plan } = routing();
    const request = planOf(models, { ownKeys, preferences: { pay: 'mine' } });
    for (const route of routesIn(plan(request)))
      health.failed(route, new UpstreamFailure('authentication', ''));
    const error = plan(request);
    expect(error).toMatchObject({ code: 'no_route', retryAfterSeconds: 15 });
    expect(routesIn(plan(planOf(models)))).toHaveLength(1);
    expect(routesIn(plan({ ...request, workspaceId: 'ws_2' }))).toHaveLength(2);
  });
});

describe('requirements', () => {
  test('are derived from the request', () => {
    const requirements = requirementsOf(
      inferenceOf({
        items: [
          {
            type: 'function_call_output',
            callId: 'c',
            output: [{ type: 'image', url: 'data:image/png;base64,AA' }],
          },
        ],
        tools: [
          { type: 'function', name: 'f', description: undefined, parameters: undefined, strict: undefined },
        ],
        reasoning: { effort: 'high', summary: undefined },
        format: { type: 'json_object' },
        outputTokensMax: 7,
      }),
      100,
    );
    expect(requirements).toMatchObject({
      tools: true,
      images: true,
      files: false,
      reasoning: true,
      structuredOutput: false,
      outputTokensMax: 7,
    });
    const inference = inferenceOf({ reasoning: { effort: 'none', summary: undefined } });
    expect(requirementsOf(inference, 100).reasoning).toBe(false);
  });
});

test.each([
  ['openai/gpt-5', 'openai/gpt-5', true],
  ['openai/gpt-5', 'openai/gpt-5-mini', false],
  ['openai/*', 'openai/gpt-5', true],
  ['*', 'anything/at/all', true],
  ['*/gpt-*-mini', 'openai/gpt-5-mini', true],
  ['*/gpt-*-mini', 'openai/gpt-mini', false],
  ['a*a', 'a', false],
  ['a*b*a', 'aba', true],
  ['a*b*ba', 'aba', false],
  ['openai/gpt.5', 'openai/gpt-5', false],
])('pattern %s on %s', (pattern, id, isMatch) => {
  expect(matchesPattern(pattern, id)).toBe(isMatch);
});
