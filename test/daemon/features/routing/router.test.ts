import { describe, expect, test } from 'vitest';
import { Catalog, SpeedMeter } from '../../../../src/daemon/features/catalog/index.ts';
import {
  createRouter,
  Health,
  type RoutePreferences,
} from '../../../../src/daemon/features/routing/index.ts';
import type { UpstreamCall } from '../../../../src/daemon/features/upstreams/upstream.ts';
import { failureOf } from '../../../support/failure-of.ts';
import { fakeWorld } from '../../../support/fake-world.ts';
import { inferenceOf } from '../../../support/inference.ts';
import { scripted } from '../../../support/scripted-upstream.ts';

describe('the router', () => {
  test('plans from the catalog and opens what it planned', async () => {
    const world = fakeWorld();
    const calls: { provider: string; call: UpstreamCall }[] = [];
    const upstreams = new Map([['simulator', scripted('simulator', ['ok'], calls, world)]]);
    const catalog = new Catalog({
      world,
      providers: [
        {
          name: 'simulator',
          kind: 'simulator',
          available: true,
          reason: null,
          models: ['sim/assistant'],
          wires: undefined,
        },
      ],
      loadPrices: () => Promise.reject(new Error('not needed')),
    });
    const router = createRouter({
      catalog,
      upstreams,
      health: new Health(world),
      speed: new SpeedMeter(world),
      world,
      settings: { marginPpm: 0 },
      keyFor: () => undefined,
    });
    const inference = inferenceOf({ model: 'sim/assistant' });
    const plan = async (options: RoutePreferences) =>
      await router.plan({ inference, inputTokensMax: 100, options, workspaceId: 'ws_1' });
    const routes = await plan({});
    const tried: string[] = [];
    const opened = await router.open({
      routes,
      inference,
      outputTokensMaxFor: () => 5,
      signal: new AbortController().signal,
      attempts: [],
      onAttempt: (route) => tried.push(route.provider),
    });
    expect(opened.route.offer.model).toBe('sim/assistant');
    expect(tried).toEqual(['simulator']);
    expect(await failureOf(plan({ only: ['openai'] }))).toMatchObject({ code: 'no_route' });
  });
});
