import { pictureInChat, pictureItem } from '../../../../../shared/pictures.ts';
import { invalid, isObject, type Json, optionalText, requiredText } from '../../fault.ts';
import type { InputItem, ReasoningOrigin } from '../../neutral.ts';
import { looksSealed } from '../../pipeline/sealing.ts';
import { parseChatContent } from './parts.ts';

/** The `format` of the entries of `reasoning_details` that were sealed here. */
export const sealedFormat = 'gateway-sealed-v1';

/** Opens a sealed reasoning text; undefined when it is not one of this workspace's. */
export type OpenSealed = (sealed: string) => ReasoningOrigin | undefined;

/** Chat messages → neutral items. A tool's message becomes an output, an assistant's calls become items of their own. */
export function parseMessages(messages: readonly Json[], open: OpenSealed): InputItem[] {
  const items: InputItem[] = [];
  const opaqueCalls = new Set<unknown>();
  let legacyCalls = 0;
  messages.forEach((message, index) => {
    const param = `messages[${index}]`;
    switch (message.role) {
      case 'user':
      case 'system':
      case 'developer':
        items.push({
          type: 'message',
          role: message.role,
          content: parseChatContent(message.content, `${param}.content`),
        });
        break;
      case 'assistant':
        items.push(
          ...parseAssistant(message, param, { open, opaqueCalls, legacyCallId: `legacy_${legacyCalls}` }),
        );
        if (isObject(message.function_call)) legacyCalls += 1;
        break;
      case 'tool': {
        const callId = requiredText(message.tool_call_id, `${param}.tool_call_id`);
        items.push(
          opaqueCalls.has(callId) ? { type: 'opaque', json: message } : toolOutput(callId, message, param),
        );
        break;
      }
      case 'function':
        items.push(toolOutput(`legacy_${legacyCalls - 1}`, message, param));
        break;
      default:
        throw invalid(`${param}.role`, 'This must be system, developer, user, assistant or tool.');
    }
  });
  return items;
}

function toolOutput(callId: string, message: Json, param: string): InputItem {
  return {
    type: 'function_call_output',
    callId,
    output: parseChatContent(message.content, `${param}.content`),
  };
}

interface AssistantOptions {
  open: OpenSealed;
  /** Filled with the ids of calls of tools that are no functions: only a provider of this format knows them. */
  opaqueCalls: Set<unknown>;
  legacyCallId: string;
}

function parseAssistant(message: Json, param: string, options: AssistantOptions): InputItem[] {
  const { open, opaqueCalls, legacyCallId } = options;
  const items = parseReasoning(message, param, open);
  const content = parseChatContent(message.content, `${param}.content`);
  const refusal = optionalText(message.refusal, `${param}.refusal`);
  if (refusal !== undefined) content.push({ type: 'refusal', refusal });
  if (content.length > 0) items.push({ type: 'message', role: 'assistant', content });
  for (const image of Array.isArray(message.images) ? message.images : []) {
    const picture = pictureInChat(image);
    if (picture) items.push({ type: 'opaque', json: pictureItem(picture) });
  }
  const calls = message.tool_calls ?? [];
  if (!Array.isArray(calls)) throw invalid(`${param}.tool_calls`, 'This must be a list.');
  calls.forEach((call, index) => {
    const at = `${param}.tool_calls[${index}]`;
    if (!isObject(call)) throw invalid(at, 'This must be an object.');
    const callId = requiredText(call.id, `${at}.id`);
    if (typeof call.type === 'string' && call.type !== 'function') {
      opaqueCalls.add(callId);
      items.push({ type: 'opaque', json: call });
    } else items.push(functionCall(callId, call.function, `${at}.function`));
  });
  if (isObject(message.function_call))
    items.push(functionCall(legacyCallId, message.function_call, `${param}.function_call`));
  return items;
}

function functionCall(callId: string, called: unknown, param: string): InputItem {
  if (!isObject(called)) throw invalid(param, 'This must be an object.');
  return {
    type: 'function_call',
    callId,
    name: requiredText(called.name, `${param}.name`),
    arguments: optionalText(called.arguments, `${param}.arguments`) || '{}',
  };
}

/**
 * Thoughts that a client sends back. Only what was sealed here has an origin; details of other makers are worth
 * nothing to the provider that will be asked, unless the whole message is passed on to the provider it came from.
 */
function parseReasoning(message: Json, param: string, open: OpenSealed): InputItem[] {
  const items: InputItem[] = [];
  const details = Array.isArray(message.reasoning_details) ? message.reasoning_details : [];
  details.forEach((detail, index) => {
    if (!isObject(detail) || typeof detail.data !== 'string' || !looksSealed(detail.data)) return;
    const origin = open(detail.data);
    if (!origin) {
      const at = `${param}.reasoning_details[${index}].data`;
      throw invalid(at, 'This was not sealed here for this workspace, or was damaged.');
    }
    items.push({ type: 'reasoning', summary: [], origin });
  });
  const text = message.reasoning_content ?? message.reasoning;
  if (items.length === 0 && typeof text === 'string' && text !== '')
    items.push({ type: 'reasoning', summary: [text], origin: undefined });
  return items;
}

/** The caller's messages without what was sealed here, which no provider understands. */
export function withoutSealed(messages: readonly Json[]): readonly Json[] {
  if (!messages.some((message) => Array.isArray(message.reasoning_details))) return messages;
  return messages.map((message) => {
    if (!Array.isArray(message.reasoning_details)) return message;
    const { reasoning_details: details, ...rest } = message;
    const foreign = details.filter((detail) => !isObject(detail) || detail.format !== sealedFormat);
    return foreign.length > 0 ? { ...rest, reasoning_details: foreign } : rest;
  });
}
