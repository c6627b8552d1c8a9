import type { KnownProvider } from '../../../shared/known-providers.ts';
import type { World } from '../../base/world.ts';
import type { AskNative } from '../../features/decisions/index.ts';
import { type DecisionEndpoint, decisionEndpoints } from './decision-endpoint.ts';
import { openAiDecisions, systemOne } from './decision-format.ts';
import { systemOneUrl } from './system-one-engine.ts';

interface DecidingProvider {
  name: string;
  kind: KnownProvider | 'compatible' | 'local';
  /** Without a trailing slash; ends with the version, as `…/v1`. */
  baseUrl: string;
}

/** How to ask a provider's decision endpoints, if it may have some. */
export function providerDecisions(
  world: Pick<World, 'send' | 'elapsed'>,
  provider: DecidingProvider,
): AskNative {
  return decisionEndpoints(world, endpointsOf(provider));
}

function endpointsOf({ name, kind, baseUrl }: DecidingProvider): DecisionEndpoint[] {
  const decisions = { name, url: `${baseUrl}/decisions`, format: openAiDecisions };
  const server = { name, url: systemOneUrl(baseUrl), format: systemOne };
  // Its decision API is under another path than its versioned one.
  if (kind === 'openrouter') {
    return [{ name, url: `${baseUrl.replace(/\/v1$/, '')}/alpha/decisions`, format: systemOne }];
  }
  if (kind === 'local') return [server];
  return kind === 'compatible' ? [decisions, server] : [decisions];
}
