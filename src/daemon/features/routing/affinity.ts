import type { Inference } from '../upstreams/neutral.ts';

/** Characters of a message that are enough to tell conversations apart. */
const charsMax = 4_096;

/**
 * A text that stays the same for a whole conversation, so that all its calls go to the same model of a weighted alias and
 * find their prompt cached: the caller's `prompt_cache_key`, else the beginning of the first user message.
 */
export function affinityOf({ body, items, embedding }: Inference): string {
  if (embedding) return String(embedding.inputs[0]).slice(0, charsMax);
  if (typeof body.prompt_cache_key === 'string') return body.prompt_cache_key;
  const message = items.find((item) => item.type === 'message' && item.role === 'user');
  if (message?.type !== 'message') return '';
  let text = '';
  for (const part of message.content) {
    if (text.length >= charsMax) break;
    if (part.type === 'text') text += part.text;
  }
  return text.slice(0, charsMax);
}
