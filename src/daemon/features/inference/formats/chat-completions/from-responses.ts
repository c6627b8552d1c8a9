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
  if (sent.messages !== undefined) return sent as CreateChatCompletionBody;
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

function messagesOf(input: unknown): Json[] {
  if (typeof input === 'string') return [{ role: 'user', content: input }];
  if (!Array.isArray(input) || input.length === 0)
    throw invalid('input', 'This must be a string or a list of items, and not empty.');
  const messages: Json[] = [];
  for (const [index, item] of input.entries()) {
    if (!isObject(item)) throw invalid(`input[${index}]`, 'An input item must be an object.');
    const call = callOf(item);
    const last = messages.at(-1);
    if (call === undefined) messages.push(...messageOf(item, `input[${index}]`));
    else if (Array.isArray(last?.tool_calls)) last.tool_calls.push(call);
    else messages.push({ role: 'assistant', content: null, tool_calls: [call] });
  }
  return messages;
}

function callOf({ type, call_id: id, name, arguments: args, input }: Json): Json | undefined {
  if (type === 'function_call') return { id, type: 'function', function: { name, arguments: args } };
  return type === 'custom_tool_call' ? { id, type: 'custom', custom: { name, input } } : undefined;
}

function messageOf(item: Json, param: string): Json[] {
  const { type, id: _id, status: _status, ...message } = item;
  switch (type) {
    case undefined:
    case null:
    case 'message':
      return [message];
    case 'function_call_output':
    case 'custom_tool_call_output':
      return [{ role: 'tool', tool_call_id: item.call_id, content: item.output }];
    // Its model does not read it in this format.
    case 'reasoning':
      return [];
    default:
      throw invalid(`${param}.type`, 'Items of this type are not known to this endpoint: use /v1/responses.');
  }
}
