import { isObject, type Json } from '../../../../shared/faults/invalid-request.ts';
import { mapChanged } from '../../../../shared/json/json-object.ts';
import { isCallBlock, withOwnCalls } from './own-calls.ts';

/**
 * Tools, and choices among them, that a client wrote as another format has them: agents keep one form for all endpoints, and Cursor
 * mixes two in one request. Providers refuse or ignore them. Source: BerriAI/litellm#34029, icebear0828/codex-proxy#507.
 */

type Format = 'chat' | 'responses' | 'messages';

/** A body with its tools, and the parts of its messages, as its format has them. The same one if they are. */
export function withOwnSpelling<Body extends object>(body: Body, format: Format): Body {
  const { tools, tool_choice: choice, messages } = body as Json;
  const ownMessages = Array.isArray(messages)
    ? withOwnParts(format === 'chat' && messages.some(hasCalls) ? withOwnCalls(messages) : messages, format)
    : messages;
  const ownTools = Array.isArray(tools) ? mapChanged(tools, (tool) => ownTool(tool, format)) : tools;
  const ownChoice = format === 'messages' ? choice : choiceAs(choice, format);
  const schema = format === 'messages' ? undefined : ownSchema(body as Json, format);
  if (ownTools === tools && ownChoice === choice && ownMessages === messages && schema === undefined)
    return body;
  return {
    ...body,
    ...(ownTools !== tools && { tools: ownTools }),
    ...(ownChoice !== choice && { tool_choice: ownChoice }),
    ...(ownMessages !== messages && { messages: ownMessages }),
    ...schema,
  };
}

/** Whether a message has calls or outputs, in the form of any format. */
function hasCalls(message: unknown): boolean {
  if (!isObject(message)) return false;
  const { role, tool_calls: calls, content } = message;
  return role === 'tool' || Array.isArray(calls) || (Array.isArray(content) && content.some(isCallBlock));
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

/**
 * Parts of messages that a client wrote as another format has them: SDKs and agents that speak several formats mix them. Providers refuse
 * the whole request. Source: LuthienResearch/luthien-proxy#108, Xerxes-2/clewdr#121.
 */

type Written =
  | { is: 'text'; text: unknown }
  | { is: 'image'; url: string; detail?: unknown }
  | { is: 'file'; filename?: unknown; data: string };

const ownTypes: Readonly<Record<Format, ReadonlySet<unknown>>> = {
  chat: new Set(['text', 'image_url', 'file', 'input_audio', 'refusal', 'thinking', 'reasoning']),
  responses: new Set(['input_text', 'output_text', 'text', 'refusal', 'input_file', 'input_audio']),
  messages: new Set([
    'text',
    'image',
    'document',
    'tool_use',
    'tool_result',
    'thinking',
    'redacted_thinking',
  ]),
};

/** Messages with the parts of their format. The same list if they have no others. */
function withOwnParts(messages: readonly unknown[], format: Format): readonly unknown[] {
  return mapChanged(messages, (message) => {
    if (!isObject(message)) return message;
    const content = ownContent(message.content, format);
    return content === message.content ? message : { ...message, content };
  });
}

/** Content with the parts of a format. The same if it has no others. */
export function ownContent(content: unknown, format: Format): unknown {
  return Array.isArray(content) ? mapChanged(content, (part) => ownPart(part, format)) : content;
}

function ownPart(part: unknown, format: Format): unknown {
  if (!isObject(part)) return part;
  if (format === 'messages' && part.type === 'tool_result' && Array.isArray(part.content)) {
    const content = ownContent(part.content, format);
    return content === part.content ? part : { ...part, content };
  }
  if (format === 'messages' && (part.type === 'image' || part.type === 'document'))
    return withOwnSource(part);
  if (ownTypes[format].has(part.type)) return part;
  if (format === 'responses' && part.type === 'input_image' && !isObject(part.image_url)) return part;
  const written = readPart(part);
  if (written === undefined) return part;
  const { cache_control: mark } = part;
  return { ...writtenAs(written, format), ...(mark !== undefined && { cache_control: mark }) };
}

/** A picture or file whose `data:` URL is in the place of its base64 or address. Source: openclaw/openclaw#18219. */
function withOwnSource(part: Json): Json {
  const { source } = part;
  if (!isObject(source)) return part;
  const given = source.type === 'base64' ? source.data : source.type === 'url' ? source.url : undefined;
  if (typeof given !== 'string' || !/^data:[^,]*;base64,/i.test(given)) return part;
  const { url: _url, ...rest } = source;
  return { ...part, source: { ...rest, ...sourceOf(given) } };
}

/** What a part of any format says; undefined for other parts, and for files that were uploaded to a provider. */
function readPart(part: Json): Written | undefined {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
      return { is: 'text', text: part.text };
    case 'image_url':
    case 'input_image': {
      const { url, detail = part.detail } = isObject(part.image_url)
        ? part.image_url
        : { url: part.image_url };
      return typeof url === 'string'
        ? { is: 'image', url, ...(detail !== undefined && { detail }) }
        : undefined;
    }
    case 'file':
    case 'input_file': {
      const { filename, file_data: data, file_url: url } = isObject(part.file) ? part.file : part;
      const given = data ?? url;
      return typeof given === 'string' ? { is: 'file', filename, data: given } : undefined;
    }
    case 'image': {
      const url = sourceUrl(part.source);
      return url === undefined ? undefined : { is: 'image', url };
    }
    case 'document': {
      const url = sourceUrl(part.source);
      return url === undefined ? undefined : { is: 'file', filename: part.title, data: url };
    }
    default:
      return undefined;
  }
}

function sourceUrl(source: unknown): string | undefined {
  if (!isObject(source)) return undefined;
  const { type, media_type: mime, data, url } = source;
  if (type === 'url' && typeof url === 'string') return url;
  return type === 'base64' && typeof data === 'string' ? `data:${mime};base64,${data}` : undefined;
}

function writtenAs(written: Written, format: Format): Json {
  switch (written.is) {
    case 'text':
      return { type: 'text', text: written.text };
    case 'image': {
      const { is: _, url, ...detail } = written;
      if (format === 'chat') return { type: 'image_url', image_url: { url, ...detail } };
      if (format === 'responses') return { type: 'input_image', image_url: url, ...detail };
      return { type: 'image', source: sourceOf(url) };
    }
    case 'file': {
      const { filename, data } = written;
      const name = typeof filename === 'string' && filename !== '';
      const file = { ...(name && { filename }), file_data: data };
      if (format === 'chat') return { type: 'file', file };
      if (format === 'responses') return { type: 'input_file', ...file };
      return { type: 'document', source: sourceOf(data), ...(name && { title: filename }) };
    }
  }
}

function sourceOf(url: string): Json {
  const comma = url.startsWith('data:') ? url.indexOf(',') : -1;
  if (comma < 0)
    return /^https?:/i.test(url)
      ? { type: 'url', url }
      : { type: 'base64', media_type: 'application/pdf', data: url };
  const [mime = ''] = url.slice('data:'.length, comma).split(';');
  return { type: 'base64', media_type: mime || 'application/octet-stream', data: url.slice(comma + 1) };
}
