import { isObject, type Json } from '../../../../../shared/faults/invalid-request.ts';
import { secretsOfServers } from '../../../../../shared/masking/mask-json.ts';
import type { AnsweredCall } from '../../../calls/index.ts';
import type { ThreadRun } from '../../../threads/index.ts';
import type { Inference } from '../../../upstreams/neutral.ts';
import { parseMessages } from '../../formats/chat-completions/parse.ts';
import { renderMessages } from '../../formats/chat-completions/render.ts';
import { showInputItems, showOutput } from '../../formats/responses/render.ts';
import { parseEarlier, withIds } from '../../stored/history.ts';
import type { InferenceDeps } from '../inference-deps.ts';

/** A chat call as a turn of a thread. */
export interface ChatTurn {
  /** The call with the thread's earlier items before its own. */
  inference: Inference;
  /** Adds the request and its answer to the thread. */
  keep: (answered: AnsweredCall) => Promise<void>;
}

export async function chatTurn(
  deps: InferenceDeps,
  { run, parsed, workspaceId }: { run: ThreadRun; parsed: Inference; workspaceId: string },
): Promise<ChatTurn> {
  const { sealer, makeId } = deps;
  const before = parseEarlier(await run.earlier(), {
    open: (sealed) => sealer.open(workspaceId, sealed),
    openSummary: (sealed) => sealer.openSummary(workspaceId, sealed),
  });
  const sent = Array.isArray(parsed.body.messages) ? parsed.body.messages : [];
  const earlier = renderMessages(before);
  const input = withIds(
    showInputItems(parsed.items, (origin) => sealer.seal(workspaceId, origin)),
    makeId,
  );
  return {
    inference: {
      ...parsed,
      items: [...before, ...parsed.items],
      body: { ...parsed.body, messages: [...earlier, ...sent] },
      earlierMessages: earlier.length,
    },
    keep: (answered) =>
      run.complete({ input, output: withIds(outputOf(answered), makeId) }, secretsOfServers(parsed.body)),
  };
}

/** The first choice of the answer as items of the Responses format. */
function outputOf({ document, output, finish }: AnsweredCall): Json[] {
  if (!document) return showOutput(output.items, { sealed: true, isCut: finish !== 'stop' });
  const [choice] = Array.isArray(document.choices) ? document.choices : [];
  if (!isObject(choice) || !isObject(choice.message)) return [];
  try {
    // Reasoning that the provider sealed is not stored.
    return showInputItems(
      parseMessages([{ ...choice.message, role: 'assistant' }], () => undefined),
      () => '',
    );
  } catch {
    // A message that cannot be parsed still goes to the caller.
    return [];
  }
}
