import type { Route } from '../../routing/index.ts';
import { isForeign, notOurs } from '../compaction/compaction-item.ts';
import { invalid } from '../fault.ts';
import type { Inference } from '../neutral.ts';
import { choicesOf } from '../pricing/cost-bound.ts';

/** The routes that can do what the call asks for; fails with what the caller has to leave out when none can. */
export function ableRoutes(routes: Route[], inference: Inference): Route[] {
  const foreign = inference.items.find(isForeign);
  if (foreign) {
    // Others would be sent the conversation without a part of it.
    const sameWire = routes.filter((route) => route.offer.wires?.includes(inference.wire));
    if (sameWire.length === 0) throw notOurs(foreign.mustReach);
    return sameWire;
  }
  if (choicesOf(inference) === 1) return routes;
  const able = routes.filter((route) => route.offer.wires?.includes('chat'));
  if (able.length === 0) throw invalid('n', 'The providers of this model give one answer at a time.');
  return able;
}
