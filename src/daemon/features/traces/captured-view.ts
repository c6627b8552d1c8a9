import type { TraceView } from '../../../shared/contract/traces.ts';
import type { UsageRecord } from '../metering/index.ts';
import type { Rejection } from './store.ts';

export type CapturedView = NonNullable<TraceView['captured']>;

/** Says what is kept of the content of calls. */
export interface KeptContents {
  kept(
    workspaceId: string,
    requestIds: readonly string[],
  ): Promise<
    { requestId: string; state: CapturedView['state']; parts: readonly CapturedView['parts'][number][] }[]
  >;
}

/** What is kept of the content of each of these calls. Rejects if the store cannot be asked. */
export async function capturedViews(
  contents: KeptContents,
  workspaceId: string,
  records: readonly (UsageRecord | Rejection)[],
): Promise<Map<string, CapturedView>> {
  const ids = records.map(({ requestId }) => requestId);
  const kept = ids.length === 0 ? [] : await contents.kept(workspaceId, ids);
  const byId = new Map(kept.map(({ requestId, state, parts }) => [requestId, { state, parts: [...parts] }]));
  return new Map(
    records.map((record) => [record.requestId, byId.get(record.requestId) ?? withoutContent(record)]),
  );
}

function withoutContent(record: UsageRecord | Rejection): CapturedView {
  const wasCaptured = 'trace' in record && record.trace?.captured !== undefined;
  return { state: wasCaptured ? 'expired' : 'none', parts: [] };
}
