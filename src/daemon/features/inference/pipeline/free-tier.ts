import type { FreeTierSettings } from '../../metering/index.ts';
import { matchesPattern, type Route } from '../../routing/index.ts';
import type { InputItem } from '../neutral.ts';
import type { ModelCall } from './call-observer.ts';

/** The plan of an agent's call. */
interface PlannedCall {
  routes: readonly Route[];
  /** Upper bound of the input. */
  inputTokensMax: number;
}

/** Why a call is not part of the agents' free tier, as a sentence; undefined if it is. */
export function outsideFreeTier(
  { inference }: Pick<ModelCall, 'inference'>,
  { routes, inputTokensMax }: PlannedCall,
  { models, inputTokens }: FreeTierSettings,
): string | undefined {
  const other = routes.find(({ offer }) => !models.some((pattern) => matchesPattern(pattern, offer.model)));
  if (other) return `The model ${other.offer.model} is not part of the free tier.`;
  if (inference.items.some(hasMedia)) return 'Images, audio and files are not part of the free tier.';
  if (inputTokensMax > inputTokens) {
    return `Requests of more than ${inputTokens} input tokens are not part of the free tier.`;
  }
  return undefined;
}

function hasMedia(item: InputItem): boolean {
  if (item.type === 'message') return item.content.some(({ type }) => type !== 'text' && type !== 'refusal');
  return item.type === 'function_call_output' && item.output.some(({ type }) => type !== 'text');
}
