import type { AskedContent, KeptContent, KeptPart } from '../../features/capture/index.ts';
import type { Captured } from './content-messages.ts';
import type { ContentRecord } from './content-record.ts';
import type { ContentShelves } from './content-shelves.ts';

type Parts = Pick<KeptContent, 'parts'> & { level?: AskedContent['level'] };

/** What is kept of calls, and what of them is waiting to be stored. */
export function keptOf(
  shelves: ContentShelves,
  { workspaceId, requestIds }: { workspaceId: string; requestIds: readonly string[] },
  waiting: readonly Captured[],
): KeptContent[] {
  const found = waitingParts(waiting, requestIds);
  return requestIds.flatMap((requestId) => {
    const record = shelves.find(requestId)?.record;
    const stored = record?.workspaceId === workspaceId ? partsOf(record) : undefined;
    const state = stored?.level ?? found.get(requestId)?.level;
    const parts = [...(stored?.parts ?? []), ...(found.get(requestId)?.parts ?? [])];
    if (state !== undefined) return { requestId, state, parts: [...new Set(parts)] };
    const isDeleted = shelves.all().some((shelf) => shelf.wasDeleted(requestId));
    return isDeleted ? { requestId, state: 'deleted', parts: [] } : [];
  });
}

/** Adds what is not handed over yet to what is known of calls. */
export function withWaiting(
  kept: readonly KeptContent[],
  waiting: readonly Captured[],
  requestIds: readonly string[],
): KeptContent[] {
  const byId = new Map(kept.map((one) => [one.requestId, one]));
  for (const [requestId, { level, parts }] of waitingParts(waiting, requestIds)) {
    const known = byId.get(requestId);
    const state = level ?? known?.state;
    if (state === undefined || state === 'deleted') continue;
    byId.set(requestId, { requestId, state, parts: [...new Set([...(known?.parts ?? []), ...parts])] });
  }
  return [...byId.values()];
}

function waitingParts(waiting: readonly Captured[], requestIds: readonly string[]): Map<string, Parts> {
  const wanted = new Set(requestIds);
  const found = new Map<string, Parts>();
  for (const captured of waiting) {
    const { requestId, ...more } = partsIn(captured);
    if (!wanted.has(requestId)) continue;
    const before = found.get(requestId);
    found.set(requestId, { ...before, ...more, parts: [...(before?.parts ?? []), ...more.parts] });
  }
  return found;
}

function partsIn(captured: Captured): Parts & { requestId: string } {
  if ('asked' in captured) {
    const { requestId, level, attempts } = captured.asked;
    return { requestId, level, parts: given({ request: true, attempts: attempts.length > 0 }) };
  }
  if ('streamed' in captured) return { requestId: captured.streamed.requestId, parts: [] };
  const { requestId, answer, isStream, wire } = captured.answered;
  return {
    requestId,
    parts: given({ answer: answer !== undefined, timing: isStream, wire: wire !== undefined }),
  };
}

function partsOf({ level, attempts, answer, reads, wire }: ContentRecord): Parts {
  return {
    level,
    parts: given({
      request: true,
      attempts: attempts.length > 0,
      answer: answer !== null,
      timing: reads !== null,
      wire: wire !== undefined,
    }),
  };
}

function given(parts: Partial<Record<KeptPart, boolean>>): KeptPart[] {
  return Object.entries(parts).flatMap(([part, isGiven]) => (isGiven ? [part as KeptPart] : []));
}
