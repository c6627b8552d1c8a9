import type { InputItem, ReasoningItem } from '../../../features/inference/neutral.ts';
import { objectOf, textOf } from '../json-value.ts';

/**
 * The thought signatures of one reasoning item: what its origin's payload holds. A signature belongs to one part and
 * must come back on that part: a function call, found by its call id, the last text of a message, or the last picture.
 */
export interface Signatures {
  calls?: Record<string, string>;
  text?: string;
  picture?: string;
}

/** Documented for histories whose calls were made elsewhere: it passes the check of signatures. */
export const skipSignature = 'skip_thought_signature_validator';

/** The signatures that a reasoning item brings back; none if it is not one of the model that is asked now. */
export function signaturesOf(item: ReasoningItem, isOwn: (item: ReasoningItem) => boolean): Signatures {
  const payload = isOwn(item) ? objectOf(item.origin?.payload) : undefined;
  const calls = Object.entries(objectOf(payload?.calls) ?? {}).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return { calls: Object.fromEntries(calls), text: textOf(payload?.text), picture: textOf(payload?.picture) };
}

/** The signatures of all calls in a history, wherever the client has put the reasoning items. */
export function callSignatures(
  items: readonly InputItem[],
  isOwn: (item: ReasoningItem) => boolean,
): Map<string, string> {
  const found = new Map<string, string>();
  for (const item of items) {
    if (item.type !== 'reasoning') continue;
    for (const [callId, signature] of Object.entries(signaturesOf(item, isOwn).calls ?? {}))
      found.set(callId, signature);
  }
  return found;
}
