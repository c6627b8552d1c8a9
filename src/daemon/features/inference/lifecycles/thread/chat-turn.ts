import type { ThreadRun } from '../../../threads/index.ts';
import { isObject, type Json } from '../../fault.ts';
import { parseMessages } from '../../formats/chat-completions/messages.ts';
import { showInputItems } from '../../formats/responses/show-items.ts';
import type { ContentPart, Inference, InputItem } from '../../neutral.ts';
import { showOutput } from '../../pipeline/output.ts';
import type { InferenceDeps, StartedCall } from '../../pipeline/start-call.ts';
import { parseEarlier, withIds } from '../../stored/history.ts';

/** A chat call as the turn of a thread. */
export interface ChatTurn {
  /** The call with what the thread holds before it. */
  inference: Inference;
  /** Adds what was sent and what came of it to the thread. */
  keep: (started: StartedCall) => Promise<void>;
}

/** Puts what a thread holds before the messages that were sent. */
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
  const messages = [...asMessages(before), ...sent];
  const input = withIds(
    showInputItems(parsed.items, (origin) => sealer.seal(workspaceId, origin)),
    makeId,
  );
  return {
    inference: { ...parsed, items: [...before, ...parsed.items], body: { ...parsed.body, messages } },
    keep: (started) => run.complete({ input, output: withIds(outputOf(started), makeId) }),
  };
}

/** The answer's first choice as items of the Responses format. */
function outputOf({ answer, output, meter }: StartedCall): Json[] {
  if (answer.kind !== 'json') {
    return showOutput(output.items, { sealed: true, isCut: meter.finish !== 'stop' });
  }
  const [choice] = Array.isArray(answer.json.choices) ? answer.json.choices : [];
  const message =
    isObject(choice) && isObject(choice.message) ? { ...choice.message, role: 'assistant' } : {};
  if (!('role' in message)) return [];
  try {
    // What a provider sealed for itself is not kept here.
    return showInputItems(
      parseMessages([message], () => undefined),
      () => '',
    );
  } catch {
    // The answer goes to its caller all the same.
    return [];
  }
}

/** Neutral items as messages of the chat format. Thoughts and what only other formats know are left out. */
export function asMessages(items: readonly InputItem[]): Json[] {
  const messages: Json[] = [];
  for (const item of items) {
    if (item.type === 'message') messages.push({ role: item.role, content: contentOf(item.content) });
    else if (item.type === 'function_call_output')
      messages.push({ role: 'tool', tool_call_id: item.callId, content: contentOf(item.output) });
    else if (item.type === 'function_call') {
      const call = {
        id: item.callId,
        type: 'function',
        function: { name: item.name, arguments: item.arguments },
      };
      const last = messages.at(-1);
      const calls = last?.role === 'assistant' ? (last.tool_calls ?? []) : undefined;
      if (last && Array.isArray(calls)) last.tool_calls = [...calls, call];
      else messages.push({ role: 'assistant', content: null, tool_calls: [call] });
    }
  }
  return messages;
}

function contentOf(parts: readonly ContentPart[]): string | Json[] {
  if (parts.every((part) => part.type === 'text')) return parts.map(({ text }) => text).join('');
  return parts.map(partOf);
}

function partOf(part: ContentPart): Json {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'refusal':
      return { type: 'refusal', refusal: part.refusal };
    case 'image':
      return { type: 'image_url', image_url: { url: part.url, ...(part.detail && { detail: part.detail }) } };
    case 'audio':
      return { type: 'input_audio', input_audio: { data: part.data, format: part.format } };
    case 'file':
      return { type: 'file', file: { filename: part.filename, file_data: part.data ?? part.url } };
  }
}
