import { isObject, type Json } from '../fault.ts';
import type { Inference, Tool } from '../neutral.ts';

/** Members that `Inference` knows by other names, so that their text is counted there, or that no provider is sent. */
const countedMembers = new Set([
  ...['model', 'messages', 'input', 'instructions', 'tools', 'functions', 'response_format', 'text'],
  ...['metadata', 'function_call', 'tool_choice', 'stream_options', 'include'],
]);
const countedInMessages = new Set([
  ...['role', 'content', 'refusal', 'tool_calls', 'function_call', 'tool_call_id'],
  ...['reasoning', 'reasoning_content', 'images'],
]);
/** Tools whose work is done by the caller. */
export const callersTools: ReadonlySet<string> = new Set([
  ...['custom', 'namespace', 'tool_search', 'local_shell', 'apply_patch'],
  ...['computer', 'computer_use_preview'],
]);

/**
 * The bytes of what only a provider of the caller's own format understands: it is passed on as it came, and what is
 * read is paid for.
 */
export function unparsedInputBytes({ wire, body }: Inference): number {
  let bytes = 0;
  for (const name in body) if (!countedMembers.has(name)) bytes += bytesOf(body[name]);
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

/** Whether the provider reads more than it is sent: pages that it finds, files that it keeps, prompts stored there. */
export function readsElsewhere({ body, tools }: Inference): boolean {
  return isObject(body.prompt) || isObject(body.web_search_options) || tools.some(isProvidersTool);
}

function isProvidersTool(tool: Tool): boolean {
  return tool.type === 'opaque' && !callersTools.has(String(tool.json.type));
}
