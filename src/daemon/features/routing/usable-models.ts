import type { Resolution } from '../catalog/index.ts';
import type { Standing } from './health.ts';
import { judgeOffer, type PlanRequest, type Requirements } from './judge-offer.ts';
import { limitAgainst } from './router.ts';

/** What every request needs at least. */
const least: Requirements = {
  embeddings: false,
  tools: false,
  images: false,
  files: false,
  audio: false,
  structuredOutput: false,
  reasoning: false,
  inputTokensMax: 0,
  outputTokensMax: undefined,
  paramOf: () => '',
};
/** A bench is over in seconds, and a list of models is kept for longer. */
const unbenched = { standing: (): Standing => ({ state: 'ready' }) };

/** Whether a caller can use a model: its key may, and a provider can be called at a price that its limits allow. */
export function isUsable(
  model: Resolution,
  request: Omit<PlanRequest, 'candidates' | 'requirements' | 'preferences'>,
): boolean {
  if (limitAgainst(model, request.caps) !== undefined) return false;
  return model.offers.some((offer) => {
    const requirements = { ...least, embeddings: offer.capabilities.kind === 'embedding' };
    const asked = { ...request, candidates: [model], requirements, preferences: {} };
    return 'account' in judgeOffer(offer, asked, unbenched);
  });
}
