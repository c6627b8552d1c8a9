import { isToolList, requestItems } from '../comparison/request-items.ts';
import { readable } from '../comparison/request-parts.ts';
import { isObject, type JsonObject, jsonOrText, listOf } from '../json/json-object.ts';

/*
 * Requests and answers of all formats in the form of OpenTelemetry's conventions. Source: the JSON schemas of
 * `gen_ai.input.messages`, `gen_ai.output.messages`, `gen_ai.system_instructions` and `gen_ai.tool.definitions`.
 */

type Part =
  | { type: 'text' | 'reasoning'; content: string }
  | { type: 'tool_call'; id: string | null; name: string; arguments: unknown }
  | { type: 'tool_call_response'; id: string | null; response: unknown }
  /** Others, which the schemas allow: their type, and what people read of them. */
  | { type: string; content: string };

export interface ConventionMessage {
  role: string;
  parts: Part[];
  finish_reason?: string;
}

export interface ConventionRequest {
  instructions: Part[];
  tools: object[];
  messages: ConventionMessage[];
}

/** A request in any format; a text for one that is not JSON. */
export function conventionRequest(body: unknown): ConventionRequest {
  if (!isObject(body)) {
    const messages = body === undefined ? [] : [{ role: 'user', parts: [textPart(body)] }];
    return { instructions: [], tools: [], messages };
  }
  const items = requestItems(body);
  const inLists = (...lists: string[]) =>
    items.flatMap(({ list, value }) => (lists.includes(list) ? [value] : []));
  return {
    instructions: inLists('instructions', 'system').map(partOf),
    tools: items.flatMap(({ list, value }) => (isToolList(list) ? [toolOf(value)] : [])),
    messages: joined(inLists('input', 'messages').map(messageOf)),
  };
}

/** The messages of a whole answer in any format, of which each choice is one. An error has none. */
export function conventionAnswer(body: unknown, finishReason: string | null): ConventionMessage[] {
  if (!isObject(body)) return typeof body === 'string' ? [assistant([textPart(body)], finishReason)] : [];
  const { output, choices, content } = body;
  const choiceMessages = listOf(choices).map((choice) =>
    messageOf(isObject(choice) ? choice.message : choice),
  );
  const said = [
    ...choiceMessages.map(({ parts }) => parts),
    listOf(output).flatMap((item) => messageOf(item).parts),
    Array.isArray(content) ? content.map(partOf) : [],
  ];
  return said.filter((parts) => parts.length > 0).map((parts) => assistant(parts, finishReason));
}

const finishReasons: Readonly<Record<string, string>> = { max_output_tokens: 'length' };

function assistant(parts: Part[], finishReason: string | null): ConventionMessage {
  const reason = finishReason === null ? 'error' : (finishReasons[finishReason] ?? finishReason);
  const isCall = reason === 'stop' && parts.some(({ type }) => type === 'tool_call');
  return { role: 'assistant', parts, finish_reason: isCall ? 'tool_call' : reason };
}

/** Items of the same role in a row are one message. */
function joined(messages: readonly ConventionMessage[]): ConventionMessage[] {
  const result: ConventionMessage[] = [];
  for (const { role, parts } of messages) {
    const last = result.at(-1);
    if (last?.role === role) last.parts.push(...parts);
    else result.push({ role, parts: [...parts] });
  }
  return result;
}

/** A message or an item of a conversation, in any format. */
function messageOf(value: unknown): ConventionMessage {
  if (!isObject(value)) return { role: 'user', parts: [textPart(value)] };
  const { type = 'message', role, content } = value;
  if (type !== 'message') {
    const part = partOf(value);
    return { role: part.type === 'tool_call_response' ? 'tool' : 'assistant', parts: [part] };
  }
  if (role === 'tool' || role === 'function') {
    const id = textOrNull(value.tool_call_id ?? value.name);
    return { role: 'tool', parts: [{ type: 'tool_call_response', id, response: responseOf(content) }] };
  }
  const blocks = Array.isArray(content) ? content.map(partOf) : content ? [textPart(content)] : [];
  const thoughts = value.reasoning_content ?? value.reasoning;
  const parts: Part[] = [
    ...(typeof thoughts === 'string' ? [{ type: 'reasoning' as const, content: thoughts }] : []),
    ...blocks,
    ...(typeof value.refusal === 'string' ? [{ type: 'refusal', content: value.refusal }] : []),
    ...listOf(value.tool_calls).map(partOf),
    ...(isObject(value.function_call) ? [partOf({ function: value.function_call })] : []),
  ];
  const isResult = parts.length > 0 && parts.every(({ type: kind }) => kind === 'tool_call_response');
  return { role: isResult ? 'tool' : String(role ?? 'assistant'), parts };
}

/** A block of a message, a call of a tool, or an item. */
function partOf(value: unknown): Part {
  if (!isObject(value)) return textPart(value);
  const { type, text, id, call_id: callId, name, arguments: given, input } = value;
  const called = isObject(value.function)
    ? value.function
    : isObject(value.custom)
      ? value.custom
      : undefined;
  if (called && type !== 'message') return callPart(id, called.name, called.arguments ?? called.input);
  switch (type) {
    case 'tool_use':
      return callPart(id, name, input);
    case 'function_call':
    case 'custom_tool_call':
      return callPart(callId ?? id, name, given ?? input);
    case 'tool_result':
      return {
        type: 'tool_call_response',
        id: textOrNull(value.tool_use_id),
        response: responseOf(value.content),
      };
    case 'function_call_output':
    case 'custom_tool_call_output':
      return { type: 'tool_call_response', id: textOrNull(callId), response: responseOf(value.output) };
    case 'thinking':
      return { type: 'reasoning', content: String(value.thinking ?? '') };
    case 'reasoning':
      return { type: 'reasoning', content: [value.summary, value.content].flatMap(textsIn).join('\n') };
    case 'message':
      return { type: 'text', content: textsIn(value.content).join('') };
    case 'refusal':
      return { type: 'refusal', content: String(value.refusal ?? '') };
    default:
      return typeof text === 'string'
        ? textPart(text)
        : { type: String(type ?? 'data'), content: readable(value) };
  }
}

/** Arguments of functions are JSON in a text; the input of a custom tool is any text. */
function callPart(id: unknown, name: unknown, given: unknown): Part {
  return {
    type: 'tool_call',
    id: textOrNull(id),
    name: String(name),
    arguments: typeof given === 'string' ? jsonOrText(given) : (given ?? {}),
  };
}

function responseOf(content: unknown): unknown {
  if (!Array.isArray(content)) return content ?? '';
  return content
    .map((block) => (isObject(block) && typeof block.text === 'string' ? block.text : readable(block)))
    .join('\n');
}

function textsIn(blocks: unknown): string[] {
  if (typeof blocks === 'string') return [blocks];
  return listOf(blocks).flatMap((block) =>
    isObject(block) && typeof block.text === 'string' ? [block.text] : [],
  );
}

function textPart(value: unknown): Part {
  return { type: 'text', content: typeof value === 'string' ? value : readable(value) };
}

/** The definition of a function in any format; other tools as they were sent. */
function toolOf(tool: unknown): object {
  if (!isObject(tool)) return { type: 'tool', name: String(tool) };
  const { function: nested, ...flat } = tool;
  const {
    type,
    name,
    description,
    parameters,
    input_schema: schema,
  }: JsonObject = isObject(nested) ? { type: 'function', ...nested } : flat;
  const isFunction = type === undefined || type === 'function' || (type === 'custom' && schema !== undefined);
  if (!isFunction || typeof name !== 'string') return tool;
  return {
    type: 'function',
    name,
    ...(typeof description === 'string' && { description }),
    ...((parameters ?? schema) ? { parameters: parameters ?? schema } : {}),
  };
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
