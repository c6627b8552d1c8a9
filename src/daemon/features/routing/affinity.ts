import { hash } from 'node:crypto';
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

/** Counts calls that belong to no conversation. */
let turn = 0;

/**
 * The keys of a provider in the order in which to try them. Spread calls stay on the key of their conversation, so that they find
 * their prompt cached, in every thread and daemon and while keys are added; those without a conversation take turns.
 */
export function inKeyOrder(
  { names, order }: { names: readonly string[]; order: 'spread' | 'first_free' },
  affinity: string,
): readonly string[] {
  if (order === 'first_free') return names;
  if (affinity === '') {
    turn = (turn + 1) % names.length;
    return [...names.slice(turn), ...names.slice(0, turn)];
  }
  // The highest score wins: a key that is added takes conversations from all others alike, and moves no other one.
  const scored = names.map((name) => ({ name, score: hash('sha256', `${name} ${affinity}`, 'hex') }));
  return scored.sort((one, other) => (one.score < other.score ? 1 : -1)).map(({ name }) => name);
}
