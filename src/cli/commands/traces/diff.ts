import { Command } from '@commander-js/extra-typings';
import type { Client } from '../../../shared/client.ts';
import type { TraceView } from '../../../shared/contract/traces.ts';
import { getTrace, listTraces } from '../../../shared/endpoints.ts';
import { exitCodes } from '../../../shared/errors.ts';
import { ReceivedError } from '../../../shared/faults/received-error.ts';
import { capturedContent } from '../../content/call-content.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../failures/cli-error.ts';
import { collectPages } from '../../hosts/pages.ts';
import { example } from '../../options.ts';
import type { CallWithContent } from './diff-text.ts';

export const diffTracesCommand = (context: Context) =>
  new Command('diff')
    .argument('<call>', 'the id of a call: req_…')
    .argument('[other]', 'the call to compare it with (default: the previous call of its conversation)')
    .option('--full', 'print the whole text of parts that were added or removed')
    .addHelpText('after', example('gateway calls diff req_01jd…'))
    .action(async (request, other, { full = false }) => {
      const [before, after] = await twoCalls(context, request, other);
      const { compareCalls } = await import('../../../shared/comparison/compare-calls.ts');
      const comparison = compareCalls(comparedCall(before), comparedCall(after));
      const { showComparison } = await import('./diff-text.ts');
      await showComparison(context, { before, after, comparison, isFull: full });
    });

async function twoCalls(
  context: Context,
  request: string,
  other: string | undefined,
): Promise<[before: CallWithContent, after: CallWithContent]> {
  const client = context.client();
  const trace = await client.call(getTrace, { params: { request_id: request } });
  const compared = other === undefined ? await previousCall(client, trace) : await read(client, other);
  return await inOrder(client, trace, compared);
}

/** Two calls with their content, the earlier one first. */
export async function inOrder(
  client: Client,
  one: TraceView,
  other: TraceView,
): Promise<[before: CallWithContent, after: CallWithContent]> {
  const calls = [one, other].sort(
    (first, second) => Date.parse(first.created_at) - Date.parse(second.created_at),
  );
  const [before, after] = await Promise.all(calls.map((call) => withContent(client, call)));
  return [before as CallWithContent, after as CallWithContent];
}

async function read(client: Client, request: string): Promise<TraceView> {
  return await client.call(getTrace, { params: { request_id: request } });
}

/** Of which the replays are left out. */
const candidatesMax = 20;

/** The call that a replay repeats, else the previous one of its conversation. */
export async function previousCall(client: Client, trace: TraceView): Promise<TraceView> {
  if (trace.replay_of != null) return await read(client, trace.replay_of);
  const { previousCallQueries } = await import('../../../shared/comparison/previous-call.ts');
  for (const query of previousCallQueries(trace)) {
    const found = await collectPages(candidatesMax, (page) =>
      client.call(listTraces, { query: { ...query, ...page } }),
    );
    // A replay is no part of the conversation that it repeats.
    const previous = found.find(({ replay_of: repeats }) => repeats === null);
    if (previous) return previous;
  }
  const what = trace.conversation === null ? 'call of its key and model' : 'call of its conversation';
  throw new CliError(`No earlier ${what} had ended when this one began.`, {
    exit: exitCodes.failed,
    next: `Name the other one: gateway calls diff ${trace.request_id} REQUEST`,
  });
}

async function withContent(client: Client, trace: TraceView): Promise<CallWithContent> {
  try {
    return { trace, content: await capturedContent(client, trace.request_id) };
  } catch (error) {
    const isExpected = error instanceof ReceivedError && error.code === 'not_found';
    if (!isExpected) throw error;
    return { trace, content: { reason: error.message } };
  }
}

/** What is compared of a call. */
export function comparedCall({ trace, content }: CallWithContent) {
  const { endpoint, model, provider } = trace;
  return { endpoint, model, provider, request: content.request, answer: content.answer };
}
