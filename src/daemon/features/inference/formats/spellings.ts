import { isObject, type Json } from '../../../../shared/faults/invalid-request.ts';
import { withOwnParts } from './part-spellings.ts';

/**
 * Tools, and choices among them, that a client wrote as another format has them: agents keep one form for all endpoints, and Cursor
 * mixes two in one request. Providers refuse or ignore them. Source: BerriAI/litellm#34029, icebear0828/codex-proxy#507.
 */

type Format = 'chat' | 'responses' | 'messages';

/** A body with its tools, and the parts of its messages, as its format has them. The same one if they are. */
export function withOwnSpelling<Body extends object>(body: Body, format: Format): Body {
  const { tools, tool_choice: choice, messages } = body as Json;
  const ownMessages = Array.isArray(messages) ? withOwnParts(messages, format) : messages;
  const own = Array.isArray(tools) ? tools.map((tool) => ownTool(tool, format)) : [];
  const isSame = own.every((tool, at) => tool === (tools as unknown[])[at]);
  const ownChoice = format === 'messages' ? choice : choiceAs(choice, format);
  const schema = format === 'messages' ? undefined : ownSchema(body as Json, format);
  if (isSame && ownChoice === choice && ownMessages === messages && schema === undefined) return body;
  return {
    ...body,
    ...(!isSame && { tools: own }),
    ...(ownChoice !== choice && { tool_choice: ownChoice }),
    ...(ownMessages !== messages && { messages: ownMessages }),
    ...schema,
  };
}

function ownTool(tool: unknown, format: Format): unknown {
  if (!isObject(tool) || isOwn(tool, format)) return tool;
  const { type, members } = definitionOf(tool) ?? {};
  if (type === undefined) return tool;
  // Functions are strict by default in this format only.
  if (format === 'responses') return { type, ...(type === 'function' && { strict: false }), ...members };
  if (format === 'chat') return { type, [type]: type === 'custom' ? nestedCustom(members) : members };
  if (type === 'custom') return tool;
  const { parameters, ...rest } = members ?? {};
  return { ...rest, input_schema: parameters ?? { type: 'object', properties: {} } };
}

function isOwn({ type, name, ...tool }: Json, format: Format): boolean {
  if (format === 'messages') return type !== 'function';
  if (type !== 'function' && type !== 'custom') return typeof type === 'string';
  return format === 'chat' ? isObject(tool[type]) : name !== undefined;
}

/** The members of a tool, without those of its form; undefined if it is of no known one. */
function definitionOf(tool: Json): { type: 'function' | 'custom'; members: Json } | undefined {
  const { type, input_schema: schema, ...members } = tool;
  if ((type === undefined || type === null) && isObject(schema))
    return { type: 'function', members: { ...members, parameters: schema } };
  if (type !== 'function' && type !== 'custom') return undefined;
  const { [type]: nested, ...flat } = members;
  if (isObject(nested)) return { type, members: type === 'custom' ? flatCustom(nested) : nested };
  return typeof flat.name === 'string' ? { type, members: flat } : undefined;
}

/** The chat format has the grammar of a custom tool one level deeper. */
function nestedCustom({ format, ...members }: Json = {}): Json {
  if (!isObject(format) || format.type !== 'grammar')
    return { ...members, ...(isObject(format) && { format }) };
  const { type, ...grammar } = format;
  return { ...members, format: { type, grammar } };
}

function flatCustom({ format, ...members }: Json): Json {
  if (!isObject(format)) return members;
  const { grammar, ...rest } = format;
  return { ...members, format: { ...rest, ...(isObject(grammar) && grammar) } };
}

const modes: Readonly<Record<string, string>> = {
  auto: 'auto',
  none: 'none',
  any: 'required',
  required: 'required',
};

function choiceAs(choice: unknown, format: 'chat' | 'responses'): unknown {
  if (choice === 'any') return 'required';
  if (!isObject(choice) || typeof choice.type !== 'string') return choice;
  const mode = Object.hasOwn(modes, choice.type) ? modes[choice.type] : undefined;
  if (mode !== undefined) return mode;
  const type = choice.type === 'tool' ? 'function' : choice.type;
  if (type !== 'function' && type !== 'custom') return choice;
  const nested = choice[type];
  const isOwnChoice = choice.type === type && (format === 'chat') === isObject(nested);
  const named = isObject(nested) ? nested : { name: choice.name };
  if (isOwnChoice || typeof named.name !== 'string') return choice;
  return format === 'chat' ? { type, [type]: { name: named.name } } : { type, name: named.name };
}

/**
 * The member with the schema of answers, where it is written as the other format or llama.cpp has it, or has no name, which only OpenAI
 * demands. Undefined if it is as the format has it.
 */
function ownSchema({ response_format: chats, text }: Json, format: 'chat' | 'responses'): Json | undefined {
  const given = format === 'chat' ? chats : isObject(text) ? text.format : undefined;
  if (!isObject(given) || given.type !== 'json_schema') return undefined;
  const { json_schema: nested, type, ...flat } = given;
  const schema = isObject(nested) ? nested : flat;
  if (!isObject(schema.schema)) return undefined;
  const isOwn = (format === 'chat') === isObject(nested);
  if (isOwn && typeof schema.name === 'string') return undefined;
  const named = { ...schema, name: schema.name ?? 'answer' };
  if (format === 'chat') return { response_format: { type, json_schema: named } };
  return { text: { ...(text as Json), format: { type, ...named } } };
}
