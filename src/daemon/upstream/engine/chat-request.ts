import { parseExactly } from '../../../shared/json/json-text.ts';
import type { ChatFunctions, ChatItem, FunctionCallItem } from './llama.ts';
import { RequestFault } from './reply.ts';

type Body = Record<string, unknown>;

interface Message {
  role: string;
  content?: unknown;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
}

/** The conversation of a chat completion as turns; the results of function calls become part of the calls. */
export function conversationOf({ messages }: Body): ChatItem[] {
  const items: ChatItem[] = [];
  const calls = new Map<string, FunctionCallItem>();
  for (const message of (messages ?? []) as Message[]) {
    const text = textIn(message.content);
    if (message.role === 'tool') {
      const call = calls.get(message.tool_call_id ?? '');
      if (call) call.result = text;
    } else if (message.role === 'assistant') {
      const last = items.at(-1);
      const response = last?.type === 'model' ? last.response : [];
      if (last?.type !== 'model') items.push({ type: 'model', response });
      if (text !== '') response.push(text);
      for (const [at, { id, function: called }] of (message.tool_calls ?? []).entries()) {
        const call: FunctionCallItem = {
          type: 'functionCall',
          name: called.name,
          params: parsed(called.arguments),
          result: '',
          startsNewChunk: at === 0,
        };
        calls.set(id, call);
        response.push(call);
      }
    } else {
      items.push({ type: message.role === 'user' ? 'user' : 'system', text });
    }
  }
  return items;
}

function textIn(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part: { type?: string; text?: string; refusal?: string }) => {
      if (part.text !== undefined || part.refusal !== undefined) return part.text ?? part.refusal;
      throw new RequestFault('unsupported_value', 'A local model reads text only.', 'messages');
    })
    .join('\n');
}

/** The arguments of a call, of which the library writes numbers again with all their digits. */
function parsed(text: string): unknown {
  try {
    return parseExactly(text);
  } catch {
    return text;
  }
}

/** The functions that the model may call; undefined for none. */
export function functionsIn({ tools, tool_choice: choice }: Body): ChatFunctions | undefined {
  if (choice === 'none' || !Array.isArray(tools) || tools.length === 0) return undefined;
  return Object.fromEntries(
    tools.map(({ type, function: offered }) => {
      if (type !== 'function') {
        throw new RequestFault('unsupported_value', 'A local model can call functions only.', 'tools');
      }
      const { name, description, parameters } = offered;
      return [name, { ...(description && { description }), ...(parameters && { params: parameters }) }];
    }),
  );
}

/** The schema of the only answers where a call is required, or a certain one; undefined where it is not. */
export function forcedCallIn(
  { tool_choice: choice }: Body,
  functions: ChatFunctions | undefined,
): object | undefined {
  if (functions === undefined) return undefined;
  const named = (choice as { function?: { name?: string } } | undefined)?.function?.name;
  if (choice !== 'required' && named === undefined) return undefined;
  const names = named === undefined ? Object.keys(functions) : [named];
  return {
    oneOf: names.map((name) => ({
      type: 'object',
      properties: {
        name: { const: name },
        arguments: functions[name]?.params ?? { type: 'object', properties: {} },
      },
      required: ['name', 'arguments'],
    })),
  };
}

/** Tells the model which functions there are, where the answer is a call by its grammar. */
export function noteOfForcedCall(functions: ChatFunctions): ChatItem {
  return {
    type: 'system',
    text: `Call a function: reply with a JSON object that has its name and arguments. The functions are:\n${JSON.stringify(functions)}`,
  };
}

/** The call in an answer that a grammar forced to be one; its arguments as they were written. Fails for a cut text. */
export function forcedCallOf(text: string): { name: string; arguments: string } {
  const { name, arguments: params } = JSON.parse(text) as { name: string; arguments: unknown };
  // The grammar puts the name first, and names of functions have no quotes.
  const key = /"arguments"\s*:/.exec(text);
  const from = key ? key.index + key[0].length : 0;
  return { name, arguments: argumentsText(text.slice(from, text.lastIndexOf('}')), params) };
}

/**
 * The arguments of a call as the model wrote them, as numbers lose digits when they are parsed. `written` was put together
 * from tokens, which can split a character: what says something else than `params` is not used.
 */
export function argumentsText(written: string, params: unknown): string {
  const exact = JSON.stringify(params ?? {});
  try {
    return JSON.stringify(JSON.parse(written)) === exact ? written.trim() : exact;
  } catch {
    return exact;
  }
}
