import { shapeFault } from '../../shared/json-shape.ts';

/**
 * How deeply a provider's JSON may be nested: far more than any answer is, also one that repeats what its caller sent,
 * and far less than overflows the stack of what walks over it or writes it anew.
 */
export const nestingMax = 256;

/** Whether JSON text is nested more deeply than that. */
export function isTooDeep(text: string): boolean {
  // The events of a stream are mostly too short for it, and most others have too few brackets.
  if (text.length <= 2 * nestingMax || bracketsIn(text) <= nestingMax) return false;
  const bounds = { depthMax: nestingMax, membersMax: Number.POSITIVE_INFINITY };
  return shapeFault(Buffer.from(text), bounds) === 'deep';
}

/** How many brackets are opened, in strings or not; counts no further than past the limit. */
function bracketsIn(text: string): number {
  let count = 0;
  for (const bracket of '[{') {
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) {
      count += 1;
      if (count > nestingMax) return count;
    }
  }
  return count;
}
