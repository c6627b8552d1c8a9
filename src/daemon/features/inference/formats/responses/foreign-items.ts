import { ifValid, isObject, type Json } from '../../../../../shared/faults/invalid-request.ts';
import type { BuiltinTool, ContentPart, InputItem, OtherFormats, Tool } from '../../../upstreams/neutral.ts';
import { namespaceDescriptions, parseTools, searchToolName } from './parse.ts';

type ParseParts = (content: unknown) => ContentPart[];

/**
 * An item of a type that only the Responses format has, as messages, calls and tools of other formats. Undefined if they have
 * nothing like it, or if it is not as expected. Source: OpenAI's API reference, `ResponseInputItem`; openai/codex.
 */
export function inOtherFormats(item: Json, param: string, parseParts: ParseParts): OtherFormats | undefined {
  // A provider with the caller's format may accept what is not valid here.
  return ifValid(() => convert(item, param, parseParts));
}

function convert(item: Json, param: string, parseParts: ParseParts): OtherFormats | undefined {
  switch (item.type) {
    case 'additional_tools':
      return { items: [], ...toolsOf(item, param) };
    case 'tool_search_call':
      return { items: searchCall(item) };
    case 'tool_search_output': {
      const declared = toolsOf(item, param);
      return { items: outputOf(item, foundText(declared.tools)), ...declared };
    }
    case 'agent_message':
      return { items: [agentMessage(item, parseParts)] };
    case 'local_shell_call':
      return { items: callOf(item, 'local_shell', item.action) };
    case 'shell_call':
      return { items: callOf(item, 'shell', item.action) };
    case 'apply_patch_call':
      return { items: callOf(item, 'apply_patch', item.operation) };
    case 'local_shell_call_output':
    case 'apply_patch_call_output':
      return { items: outputOf(item, textOf(item.output ?? item.status)) };
    case 'shell_call_output':
      return { items: outputOf(item, shellText(item.output)) };
    case 'function_call_output':
    case 'custom_tool_call_output':
      // One that answers no call.
      return { items: [messageOf(`Output of the tool ${textOf(item.name)}:`, parseParts(item.output))] };
    default:
      return undefined;
  }
}

function toolsOf({ tools }: Json, param: string): { tools: Tool[]; namespaces?: Record<string, string> } {
  const namespaces = namespaceDescriptions(tools);
  return {
    tools: parseTools(tools, `${param}.tools`).map((tool): Tool => ({ ...tool, isInItem: true })),
    ...(namespaces && { namespaces }),
  };
}

/** The id by which an output refers to its call; undefined for a call that the provider answered itself. */
function callIdOf({ call_id: callId, id }: Json): string | undefined {
  return typeof callId === 'string' ? callId : typeof id === 'string' ? id : undefined;
}

function callOf(item: Json, builtin: BuiltinTool, input: unknown): InputItem[] {
  const callId = callIdOf(item);
  if (callId === undefined) return [];
  const text = JSON.stringify(isObject(input) ? input : {});
  return [{ type: 'function_call', callId, name: builtin, builtin, arguments: text }];
}

function outputOf(item: Json, text: string): InputItem[] {
  const callId = callIdOf(item);
  if (callId === undefined) return [];
  return [{ type: 'function_call_output', callId, output: [{ type: 'text', text }] }];
}

/** A search that the provider ran has no id. */
function searchCall(item: Json): InputItem[] {
  const { call_id: callId, arguments: given } = item;
  if (typeof callId !== 'string') return [];
  const text = typeof given === 'string' ? given : JSON.stringify(given ?? {});
  return [{ type: 'function_call', callId, name: searchToolName, builtin: 'tool_search', arguments: text }];
}

function foundText(tools: readonly Tool[]): string {
  const names = tools.flatMap((tool) => {
    if (tool.type === 'opaque') return [];
    return tool.namespace === undefined ? tool.name : `${tool.namespace}: ${tool.name}`;
  });
  return names.length === 0 ? 'No tools were found.' : `These tools are available now:\n${names.join('\n')}`;
}

/** Agents whose provider does not encrypt put their text where it would be encrypted. */
function agentMessage({ author, recipient, content }: Json, parseParts: ParseParts): InputItem {
  const parts = typeof content === 'string' ? content : partsOf(content).map(readable);
  return messageOf(`Message from ${textOf(author)} to ${textOf(recipient)}:`, parseParts(parts));
}

function readable(part: Json): Json {
  return part.type === 'encrypted_content' ? { type: 'input_text', text: part.encrypted_content } : part;
}

/** The index of the first part that is encrypted; -1 if there is none. */
export function encryptedPart({ type, content }: Json): number {
  if (type !== 'agent_message') return -1;
  return partsOf(content).findIndex(
    ({ encrypted_content: text }) => typeof text === 'string' && ciphertext.test(text),
  );
}

/** A Fernet token: base64 of the version 0x80 and the time. */
const ciphertext = /^gAAAA[\w-]{40,}={0,2}$/;

function messageOf(heading: string, content: ContentPart[]): InputItem {
  return { type: 'message', role: 'user', content: [{ type: 'text', text: heading }, ...content] };
}

function shellText(output: unknown): string {
  if (!Array.isArray(output)) return textOf(output);
  const texts = partsOf(output).map(({ stdout, stderr, outcome }) => {
    const { type, exit_code: code } = isObject(outcome) ? outcome : {};
    const end =
      type === 'timeout' ? 'The command timed out.' : code === undefined ? '' : `Exit code: ${code}`;
    return [stdout, stderr, end].filter((text) => typeof text === 'string' && text !== '').join('\n');
  });
  return texts.join('\n\n');
}

function partsOf(content: unknown): Json[] {
  return Array.isArray(content) ? content.filter(isObject) : [];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
