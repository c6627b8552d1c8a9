import { hasRejections, rejected } from './find-calls.ts';
import { queryFault, selectionIn } from './selection.ts';
import type { TracesStore } from './store.ts';

/** Finds which of some requests of a workspace match a query. */
export type MatchingCalls = (
  workspaceId: string,
  q: string,
) => (requestIds: readonly string[]) => Promise<ReadonlySet<string>>;

/** Of running requests, none matches. Fails with `invalid_request` for a query that cannot be read, or has a text. */
export function matchingCalls(
  store: Pick<TracesStore, 'matching' | 'listRejections'>,
  now: () => number,
): MatchingCalls {
  return (workspaceId, q) => {
    const selection = selectionIn({ q }, now());
    const { since, until, text } = selection;
    if (text !== undefined) throw queryFault(`"${text}"`, 'A text is no part of this query.');
    return async (requestIds) => {
      const calls = await store.matching({ ...selection, workspaceId }, requestIds);
      const page = { since, until, after: undefined, limit: requestIds.length, requestIds };
      const rejections =
        requestIds.length > 0 && hasRejections(selection)
          ? await store.listRejections({ ...rejected(selection), ...page, workspaceIds: [workspaceId] })
          : [];
      return new Set([...calls, ...rejections].map(({ requestId }) => requestId));
    };
  };
}
