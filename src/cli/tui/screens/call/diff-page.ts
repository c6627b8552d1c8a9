import type { TraceView } from '../../../../shared/contract/traces.ts';
import { getTrace } from '../../../../shared/endpoints.ts';
import { comparedCall, inOrder, previousCall } from '../../../commands/traces/diff.ts';
import { comparisonText } from '../../../commands/traces/diff-text.ts';
import type { Services } from '../../services/services.ts';
import { untrustedLines } from '../../text/cells.ts';
import type { Page } from '../screen.ts';

/** What differs between two calls; without the second one, from the previous call of the conversation. */
export async function diffPage(ids: readonly string[], { client }: Services): Promise<Page> {
  const [one = '', other] = ids;
  const read = (id: string): Promise<TraceView> => client.call(getTrace, { params: { request_id: id } });
  const trace = await read(one);
  const [before, after] = await inOrder(
    client,
    trace,
    other === undefined ? await previousCall(client, trace) : await read(other),
  );
  const { compareCalls } = await import('../../../../shared/comparison/compare-calls.ts');
  const comparison = compareCalls(comparedCall(before), comparedCall(after));
  const reasons = [before, after].flatMap(({ trace: call, content }) =>
    'reason' in content ? [`${call.request_id}: ${content.reason}`] : [],
  );
  return {
    title: `${before.trace.request_id} → ${after.trace.request_id}`,
    lines: ({ width, paint, isUnfolded = false }) => [
      ...reasons.flatMap((reason) => untrustedLines(reason, width)).map((line) => paint('yellow', line)),
      ...comparisonText({ before, after, comparison, isFull: isUnfolded }, { columns: width, paint })
        .trimEnd()
        .split('\n'),
    ],
    copy: `gateway calls diff ${after.trace.request_id} ${before.trace.request_id}`,
  };
}
