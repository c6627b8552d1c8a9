import { isObject, type Json } from '../../../../shared/faults/invalid-request.ts';
import { quoted } from '../../../../shared/faults/not-found.ts';
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
export function unparsedInputBytes({ wire, body, items }: Inference): number {
  let bytes = 0;
  for (const name in body) {
    const isCounted = countedMembers.has(name) || (wire === 'messages' && countedInMessagesCall.has(name));
    if (!isCounted) bytes += bytesOf(body[name]);
  }
  for (const item of items) {
    if (item.type !== 'opaque' && item.type !== 'reasoning' && item.json) bytes += passedInItem(item.json);
  }
  if (wire !== 'chat' || !Array.isArray(body.messages)) return bytes;
  for (const message of body.messages) if (isObject(message)) bytes += passedInMessage(message);
  return bytes;
}

const countedInItems = new Set([
  ...['type', 'id', 'role', 'status', 'phase', 'content', 'call_id', 'name', 'namespace'],
  ...['arguments', 'input', 'output'],
]);
const countedInParts = new Set([
  ...['type', 'text', 'refusal', 'image_url', 'file_data', 'file_url', 'file_id', 'filename', 'detail'],
  'input_audio',
]);

/** Bytes of an item of the Responses format that a provider with this format gets besides what is parsed. */
function passedInItem(item: Json): number {
  let bytes = 0;
  for (const name in item) if (!countedInItems.has(name)) bytes += bytesOf(item[name]);
  for (const parts of [item.content, item.output]) {
    if (!Array.isArray(parts)) continue;
    for (const part of parts)
      for (const name in part) if (!countedInParts.has(name)) bytes += bytesOf(part[name]);
  }
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

/** A tool that a provider with the caller's format gets as it is. */
function passedTool(tool: Tool): { json: Json; param: string } | undefined {
  const { json, param = 'tools' } = tool.type === 'custom' ? {} : tool;
  return json && { json, param };
}

/** The path of another model in a tool that the provider runs, such as an advisor or pictures; undefined if there is none. */
export function modelOfTool({ tools, items }: Inference): string | undefined {
  const own = tools.flatMap((tool) =>
    tool.type === 'opaque' ? { tool: tool.json, param: tool.param ?? 'tools' } : [],
  );
  for (const { tool, param } of [...own, ...addedTools(items)]) {
    // Schemas of functions may have such members, too.
    const path = isObject(tool) && !isFree(tool) ? modelIn(tool, param) : undefined;
    if (path) return path.length <= pathMax ? path : param;
  }
  return undefined;
}

/** Names of members may be as long as the request. */
const pathMax = 200;
const modelName = /(^|_)models?$/;

function modelIn(value: object, path: string): string | undefined {
  for (const [name, member] of Object.entries(value)) {
    const at = Array.isArray(value) ? `${path}[${name}]` : `${path}.${name}`;
    // Other values have the name of something else, such as the settings of a tool that lists models.
    if (modelName.test(name) && (typeof member === 'string' || Array.isArray(member))) return at;
    const found = typeof member === 'object' && member !== null ? modelIn(member, at) : undefined;
    if (found) return found;
  }
  return undefined;
}

/** A tool and its path in the request. */
interface AddedTool {
  /** It should be an object. */
  tool: unknown;
  param: string;
}

/** What items of the input add to the tools. */
function addedTools(items: Inference['items']): AddedTool[] {
  return items.flatMap((item) => (item.type === 'opaque' ? toolsIn(item.json, item.param ?? 'input') : []));
}

/** Source: OpenAI's and Anthropic's API references, `ResponseInputItem` and `BetaContentBlockParam`. */
function toolsIn({ type, tools, tool, tool_changes: changes }: Json, param: string): AddedTool[] {
  switch (type) {
    case 'additional_tools':
    case 'tool_search_output':
      return toolList(tools, `${param}.tools`);
    case 'tool_addition': {
      const { definition } = isObject(tool) ? tool : {};
      // Functions need no type.
      const typed = isObject(definition) && { ...definition, type: definition.type ?? 'custom' };
      return typed ? [{ tool: typed, param: `${param}.tool.definition` }] : [];
    }
    case 'compaction':
      return (Array.isArray(changes) ? changes : []).flatMap((change, index) =>
        isObject(change) ? toolsIn(change, `${param}.tool_changes[${index}]`) : [],
      );
    default:
      return [];
  }
}

function toolList(tools: unknown, param: string): AddedTool[] {
  if (!Array.isArray(tools)) return [{ tool: tools, param }];
  return tools.flatMap((tool, index) => {
    const at = `${param}[${index}]`;
    const isGroup = isObject(tool) && tool.type === 'namespace';
    return isGroup ? toolList(tool.tools, `${at}.tools`) : [{ tool, param: at }];
  });
}

/** The member of a request that chooses a service tier, and the tier. */
export interface RequestedTier {
  param: 'service_tier' | 'speed';
  tier: string;
}

/** The service tier that a request asks for. Fast mode, which is Anthropic's, is one. */
export function requestedTier({ body }: Pick<Inference, 'body'>): RequestedTier | undefined {
  const { service_tier: tier, speed } = body;
  if (speed !== undefined && speed !== null && speed !== 'standard')
    return { param: 'speed', tier: String(speed) };
  return tier === undefined || tier === null ? undefined : { param: 'service_tier', tier: String(tier) };
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
  if (wire === 'messages' && body.inference_geo) return { param: 'inference_geo', what: 'A region' };
  for (const tool of tools) {
    const passed = passedTool(tool);
    if (!passed || hasKnownFee(passed.json, wire)) continue;
    return { param: passed.param, what: `The tool ${quoted(String(passed.json.type))}` };
  }
  // The hold does not cover the uses of these.
  for (const { tool, param } of addedTools(items)) {
    if (isObject(tool) && isFree(tool)) continue;
    return { param, what: isObject(tool) ? `The tool ${quoted(String(tool.type))}` : 'This tool' };
  }
  return undefined;
}

function hasKnownFee(tool: Json, wire: Inference['wire']): boolean {
  if (isFree(tool)) return true;
  return (
    wire === 'responses' && Object.values(countedTools).some((counted) => counted.test(String(tool.type)))
  );
}

function isFree({ type, environment }: Json): boolean {
  if (type === 'shell') return isObject(environment) && environment.type === 'local';
  const name = String(type);
  return toolsWithoutFee.has(name) || anthropicTools.test(name);
}
