import { describe, expect, test } from 'vitest';
import { Catalog, LiveSpeed } from '../../../src/daemon/features/catalog/index.ts';
import type { Router, ServiceOptions, UpstreamCall } from '../../../src/daemon/features/inference/index.ts';
import { createRouter, Health } from '../../../src/daemon/features/routing/index.ts';
import { failureOf } from '../../support/failure-of.ts';
import { fakeWorld } from '../../support/fake-world.ts';
import { inferenceOf } from '../../support/inference.ts';
import { scripted } from '../../support/scripted-upstream.ts';

describe('the router', () => {
  const options: ServiceOptions = {
    pay: undefined,
    maxPrice: undefined,
    fallbacks: [],
    order: [],
    only: undefined,
    ignore: [],
    sort: undefined,
    events: true,
  };

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
    const router: Router = createRouter({
      catalog,
      upstreams,
      health: new Health(world),
      live: new LiveSpeed(world),
      world,
      marginPpm: 0,
      keyFor: () => undefined,
    });
    const inference = inferenceOf({ model: 'sim/assistant' });
    const routes = await router.plan({ inference, options, workspaceId: 'ws_1' });
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
    const planNothing = router.plan({
      inference,
      options: { ...options, only: ['openai'] },
      workspaceId: 'ws_1',
    });
    expect(await failureOf(planNothing)).toMatchObject({ code: 'no_route' });
  });
});
