import { isObject, type Json } from '../../../../shared/invalid-request.ts';
import { quoted } from '../../../../shared/not-found.ts';
import type { Inference, Tool } from '../../upstreams/neutral.ts';

/** Members whose text is counted in the parsed call, or that are never sent to a provider. */
const countedMembers = new Set([
  ...['model', 'messages', 'input', 'instructions', 'tools', 'functions', 'response_format', 'text'],
  ...['metadata', 'function_call', 'tool_choice', 'stream_options', 'include'],
]);
/** The same for calls in the Messages format. */
const countedInMessagesCall = new Set(['system', 'output_config', 'thinking', 'stop_sequences']);
const countedInMessages = new Set([
  ...['role', 'content', 'refusal', 'tool_calls', 'function_call', 'tool_call_id'],
  ...['reasoning', 'reasoning_content', 'images'],
]);
/** Tools that the caller executes. */
const callerTools: ReadonlySet<string> = new Set([
  ...['custom', 'namespace', 'tool_search', 'local_shell', 'apply_patch'],
  ...['computer', 'computer_use_preview'],
]);

/** Anthropic's tools that the caller executes, and its search for tools. Source: Anthropic's documentation, "Tool use". */
const anthropicTools = /^(bash|text_editor|computer|memory|tool_search_tool_(regex|bm25))(_\d{8})?$/;

function isCallerTool(type: string): boolean {
  return callerTools.has(type) || anthropicTools.test(type);
}

/** Bytes of the body that are passed to a provider with the same format without being parsed: it may charge for them. */
export function unparsedInputBytes({ wire, body }: Inference): number {
  let bytes = 0;
  for (const name in body) {
    const isCounted = countedMembers.has(name) || (wire === 'messages' && countedInMessagesCall.has(name));
    if (!isCounted) bytes += bytesOf(body[name]);
  }
  if (wire !== 'chat' || !Array.isArray(body.messages)) return bytes;
  for (const message of body.messages) if (isObject(message)) bytes += passedInMessage(message);
  return bytes;
}

function passedInMessage(message: Json): number {
  let bytes = 0;
  for (const name in message) if (!countedInMessages.has(name)) bytes += bytesOf(message[name]);
  if (!Array.isArray(message.content)) return bytes;
  for (const part of message.content) {
    if (isObject(part) && (part.type === 'thinking' || part.type === 'reasoning')) bytes += bytesOf(part);
  }
  return bytes;
}

function bytesOf(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  return typeof value === 'object' && value !== null ? Buffer.byteLength(JSON.stringify(value)) : 0;
}

/** Whether the provider may read more than the request: search results, uploaded files or stored prompts. */
export function readsBeyondRequest({ body, tools }: Inference): boolean {
  return (
    isObject(body.prompt) ||
    isObject(body.web_search_options) ||
    Array.isArray(body.mcp_servers) ||
    tools.some(isProviderTool)
  );
}

function isProviderTool(tool: Tool): boolean {
  return tool.type === 'opaque' && !isCallerTool(String(tool.json.type));
}

/** The path of a tool that the provider runs with a model which the caller names, such as an advisor; undefined if there is none. */
export function toolWithModel({ tools, items }: Inference): string | undefined {
  const hasModel = (tool: unknown) => isObject(tool) && typeof tool.model === 'string';
  for (const tool of tools) {
    if (tool.type === 'opaque' && hasModel(tool.json)) return `${tool.param ?? 'tools'}.model`;
  }
  const isAdded = addedTools(items).some((more) => Array.isArray(more) && more.some(hasModel));
  return isAdded ? 'input' : undefined;
}

/** What items of the input add to the tools; each should be a list. */
function addedTools(items: Inference['items']): unknown[] {
  return items.flatMap((item) =>
    item.type === 'opaque' && item.json.type === 'additional_tools' ? [item.json.tools] : [],
  );
}

/** Tools without a fee beyond their tokens: executed by the caller, or by a server of the caller. */
const toolsWithoutFee = new Set([...callerTools, 'function', 'mcp']);
/** Tools of the Responses format with a listed fee, whose uses the answer reports. */
export const countedTools = { webSearch: /^web_search/, fileSearch: /^file_search$/ } as const;

/**
 * A part of the call with a fee that answers do not report, and its path in the body; undefined when there is none. A
 * container, for example, is charged by memory and time.
 */
export function uncountedFee({
  wire,
  tools,
  items,
  body,
}: Inference): { param: string; what: string } | undefined {
  if (wire === 'chat' && isObject(body.web_search_options)) {
    return { param: 'web_search_options', what: 'A web search' };
  }
  if (wire === 'messages') {
    if (body.speed === 'fast') return { param: 'speed', what: 'Fast mode' };
    if (body.inference_geo) return { param: 'inference_geo', what: 'A region' };
  }
  for (const tool of tools) {
    if (tool.type !== 'opaque' || hasKnownFee(tool.json, wire)) continue;
    return { param: tool.param ?? 'tools', what: `The tool ${quoted(String(tool.json.type))}` };
  }
  // These items add tools too, which the hold does not cover.
  for (const more of addedTools(items)) {
    const isFree =
      Array.isArray(more) && more.every((tool) => isObject(tool) && toolsWithoutFee.has(String(tool.type)));
    if (!isFree) return { param: 'input', what: 'A tool in additional_tools' };
  }
  return undefined;
}

function hasKnownFee({ type, environment }: Json, wire: Inference['wire']): boolean {
  if (type === 'shell') return isObject(environment) && environment.type === 'local';
  const name = String(type);
  if (toolsWithoutFee.has(name) || anthropicTools.test(name)) return true;
  return wire === 'responses' && Object.values(countedTools).some((counted) => counted.test(name));
}
