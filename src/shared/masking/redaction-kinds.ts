/** What can be removed from the content of calls, besides credentials. */
export const redactionKinds = ['email', 'card', 'phone'] as const;

export type RedactionKind = (typeof redactionKinds)[number];

/** What was removed: also `credential`, which always is, `pattern` of the operator, and a text that took too long to check. */
export type RemovedKind = RedactionKind | 'credential' | 'pattern' | 'unchecked';

/** What stands in the place of what was removed. */
export function removedMark(kind: RemovedKind): string {
  return `[${kind} removed]`;
}
