import type {
  CreateChatCompletionBody,
  CreateChatCompletionRequest,
} from '../../../../../shared/contract/chat-completions.ts';
import { invalid, isObject, type Json } from '../../../../../shared/faults/invalid-request.ts';

/** Members of the Responses format that become others here, or have no effect on an answer. */
const replaced = new Set([
  'input',
  'instructions',
  'reasoning',
  'text',
  'max_output_tokens',
  'include',
  'truncation',
]);

/**
 * A body of the chat format. In its agent mode, Cursor sends bodies of the Responses format to this endpoint, and expects an answer of the
 * chat format. Source: BerriAI/litellm#34029, router-for-me/CLIProxyAPI#658.
 */
export function chatBody(sent: CreateChatCompletionRequest): CreateChatCompletionBody {
  const {
    instructions,
    reasoning,
    text,
    max_output_tokens: limit,
    previous_response_id: previous,
  } = sent as Json;
  if (typeof previous === 'string')
    throw invalid('previous_response_id', 'This is a member of the Responses format: use /v1/responses.');
  const own = Object.fromEntries(Object.entries(sent).filter(([name]) => !replaced.has(name)));
  const { effort } = isObject(reasoning) ? reasoning : {};
  const { format, verbosity } = isObject(text) ? text : {};
  const system = typeof instructions === 'string' ? [{ role: 'system', content: instructions }] : [];
  return {
    ...(typeof effort === 'string' && { reasoning_effort: effort }),
    ...(typeof verbosity === 'string' && { verbosity }),
    ...(isObject(format) && { response_format: responseFormat(format) }),
    ...(typeof limit === 'number' && { max_completion_tokens: limit }),
    ...own,
    messages: [...system, ...messagesOf(sent.input)],
  } as CreateChatCompletionBody;
}

function responseFormat({ type, ...schema }: Json): Json {
  return type === 'json_schema' ? { type, json_schema: schema } : { type };
}

function messagesOf(input: CreateChatCompletionRequest['input'] = ''): Json[] {
  if (typeof input === 'string') return [{ role: 'user', content: input }];
  const messages: Json[] = [];
  for (const item of input) {
    const call = callOf(item);
    const last = messages.at(-1);
    if (call === undefined) messages.push(...messageOf(item));
    else if (Array.isArray(last?.tool_calls)) last.tool_calls.push(call);
    else messages.push({ role: 'assistant', content: null, tool_calls: [call] });
  }
  return messages;
}

function callOf({ type, call_id: id, name, arguments: args, input }: Json): Json | undefined {
  if (type === 'function_call') return { id, type: 'function', function: { name, arguments: args } };
  return type === 'custom_tool_call' ? { id, type: 'custom', custom: { name, input } } : undefined;
}

function messageOf(item: Json): Json[] {
  const { type, id: _id, status: _status, ...message } = item;
  // Its model does not read it in this format.
  if (type === 'reasoning') return [];
  const isOutput = type === 'function_call_output' || type === 'custom_tool_call_output';
  return [isOutput ? { role: 'tool', tool_call_id: item.call_id, content: item.output } : message];
}
