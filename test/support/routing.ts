import { type Offer, type Resolution, SpeedMeter } from '../../src/daemon/features/catalog/index.ts';
import { unknownCapabilities } from '../../src/daemon/features/catalog/model-traits.ts';
import { Health, type ProviderRoute } from '../../src/daemon/features/routing/index.ts';
import type { PlanRequest, Requirements } from '../../src/daemon/features/routing/judge-offer.ts';
import { planRoutes } from '../../src/daemon/features/routing/router.ts';
import { ApiError } from '../../src/shared/errors.ts';
import type { Prices } from '../../src/shared/money/money.ts';
import { fakeWorld } from './fake-world.ts';

/** Prices in dollars per million tokens. */
export function dollars(input: number, output = input): Prices {
  const nano = input * 1_000_000_000;
  return { input: nano, cachedInput: nano, cacheWrite: nano, output: output * 1_000_000_000 };
}

export function offerOf(provider: string, details: Partial<Offer> = {}): Offer {
  const model = details.model ?? 'openai/gpt-5';
  return {
    model,
    provider,
    kind: 'compatible',
    providerModel: `${provider}:${model}`,
    prices: dollars(1),
    contextLength: null,
    outputTokensMax: null,
    createdAt: null,
    capabilities: unknownCapabilities,
    wires: ['chat'],
    available: true,
    reason: null,
    title: model,
    description: null,
    ...details,
  };
}

export function resolutionOf(...offers: Offer[]): Resolution {
  return { id: offers[0]?.model ?? 'none', offers };
}

export const noRequirements: Requirements = {
  embeddings: false,
  tools: false,
  images: false,
  files: false,
  audio: false,
  structuredOutput: false,
  reasoning: false,
  inputTokensMax: 100,
  outputTokensMax: undefined,
  paramOf: (need) => `path of ${need}`,
};

export function planOf(candidates: Resolution[], details: Partial<PlanRequest> = {}): PlanRequest {
  return {
    candidates,
    requirements: noRequirements,
    preferences: {},
    caps: {},
    isPrepaid: false,
    workspaceId: 'ws_1',
    marginPpm: 0,
    ...details,
  };
}

export function routeOf(offer: Offer, details: Partial<ProviderRoute> = {}): ProviderRoute {
  const { provider, providerModel } = offer;
  return {
    kind: 'provider',
    offer,
    provider,
    providerModel,
    account: provider,
    workspaceId: 'ws_1',
    ownKey: false,
    isLastResort: false,
    ...details,
  };
}

/** A planner with its own health and measurements. */
export function routing() {
  const world = fakeWorld();
  const health = new Health(world);
  const speed = new SpeedMeter(world);
  const plan = (request: PlanRequest) => planRoutes(request, health, speed);
  const providers = (request: PlanRequest) => routesIn(plan(request)).map((route) => route.provider);
  const rejection = (request: PlanRequest) => {
    const outcome = plan(request);
    if (!(outcome instanceof ApiError)) throw new Error('there are routes');
    return outcome;
  };
  return { world, health, speed, plan, providers, rejection };
}

export function routesIn(outcome: ProviderRoute[] | ApiError): ProviderRoute[] {
  if (outcome instanceof ApiError) throw outcome;
  return outcome;
}
