import { hasRejections, rejected } from './find-calls.ts';
import { queryFault, selectionIn } from './selection.ts';
import type { TracesStore } from './store.ts';

/** What calls have to be; all of them without any. */
export interface MatchedBy {
  q?: string | undefined;
  keyId?: string | undefined;
  /** The end user for whom they were made. */
  user?: string | undefined;
  /** When they had begun, in milliseconds since 1970. */
  before?: number | undefined;
}

/** Finds which of some requests of a workspace match. */
export type MatchingCalls = (
  workspaceId: string,
  matched: MatchedBy,
) => (requestIds: readonly string[]) => Promise<ReadonlySet<string>>;

/** Of running requests, none matches. Fails with `invalid_request` for a query that cannot be read, or has a text. */
export function matchingCalls(
  store: Pick<TracesStore, 'matching' | 'listRejections'>,
  now: () => number,
): MatchingCalls {
  return (workspaceId, { q, keyId, user, before }) => {
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
      const found = [...calls, ...rejections].filter(
        (call) =>
          (keyId === undefined || call.keyId === keyId) &&
          (user === undefined || call.labels.user === user) &&
          (before === undefined || call.createdAt < before),
      );
      return new Set(found.map(({ requestId }) => requestId));
    };
  };
}
