/** A piece of a message, as it is shown. */
export interface Block {
  kind: 'text' | 'reasoning' | 'call' | 'result' | 'image' | 'other';
  /** Of a tool that is called. */
  name?: string;
  text: string;
}

export interface Passage {
  role: string;
  blocks: Block[];
}

export interface Tool {
  name: string;
  description: string;
  /** Its definition as JSON. */
  text: string;
}

/** A request or an answer as a conversation, whatever its format. */
export interface Conversation {
  tools: Tool[];
  passages: Passage[];
  /** Members that are neither messages nor tools. */
  parameters: [name: string, value: unknown][];
}

type Json = Record<string, unknown>;

const conversationMembers = new Set([
  'messages',
  'input',
  'instructions',
  'system',
  'tools',
  'choices',
  'output',
  'content',
]);

export function conversationOf(body: unknown): Conversation {
  if (!isObject(body))
    return { tools: [], passages: [{ role: 'body', blocks: blocksOf(body) }], parameters: [] };
  // A response repeats the instructions and tools of its request.
  const isResponse = Array.isArray(body.output);
  const passages = [
    ...(isResponse ? [] : passageIf('system', body.instructions)),
    ...passageIf('system', body.system),
    ...messagesIn(body.messages),
    ...messagesIn(typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : body.input),
    ...listOf(body.choices).flatMap((choice) => messagesIn([isObject(choice) ? choice.message : choice])),
    ...messagesIn(body.output),
    ...(isObject(body.error)
      ? [
          {
            role: 'error',
            blocks: [{ kind: 'text' as const, text: textOf(body.error.message ?? body.error) }],
          },
        ]
      : []),
    // An answer in the Messages format is itself a message.
    ...(body.messages === undefined && body.content !== undefined ? messagesIn([body]) : []),
  ];
  const parameters = Object.entries(body).filter(([name]) => !conversationMembers.has(name));
  return { tools: isResponse ? [] : listOf(body.tools).map(toolOf), passages: joined(passages), parameters };
}

function passageIf(role: string, content: unknown): Passage[] {
  const blocks = content === undefined || content === null ? [] : blocksOf(content);
  return blocks.length > 0 ? [{ role, blocks }] : [];
}

function messagesIn(list: unknown): Passage[] {
  return listOf(list).map((item) => {
    if (!isObject(item)) return { role: 'item', blocks: blocksOf(item) };
    const { role, content } = item;
    const type = typeof item.type === 'string' ? item.type : 'message';
    if (type !== 'message' && role === undefined) return { role: roleOfItem(type), blocks: [blockOf(item)] };
    const calls = listOf(item.tool_calls).map(blockOf);
    const thoughts = [item.reasoning, item.reasoning_content].flatMap((text) =>
      typeof text === 'string' && text !== '' ? [{ kind: 'reasoning' as const, text }] : [],
    );
    const isResult = role === 'tool' || role === 'function';
    const blocks = isResult
      ? [{ kind: 'result' as const, text: textOf(content) }]
      : content === undefined || content === null
        ? []
        : blocksOf(content);
    const refusal = typeof item.refusal === 'string' ? [{ kind: 'text' as const, text: item.refusal }] : [];
    return { role: String(role ?? 'message'), blocks: [...thoughts, ...blocks, ...refusal, ...calls] };
  });
}

function roleOfItem(type: string): string {
  if (type.endsWith('_output')) return 'tool';
  return type === 'item_reference' ? 'reference' : 'assistant';
}

/** Neighbours of the same role are one passage. */
function joined(passages: readonly Passage[]): Passage[] {
  const all: Passage[] = [];
  for (const passage of passages) {
    const last = all.at(-1);
    if (last?.role === passage.role && passage.role === 'assistant') last.blocks.push(...passage.blocks);
    else all.push({ ...passage });
  }
  return all;
}

function blocksOf(content: unknown): Block[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content }];
  if (Array.isArray(content)) return content.map(blockOf);
  return [blockOf(content)];
}

function blockOf(part: unknown): Block {
  if (typeof part === 'string') return { kind: 'text', text: part };
  if (!isObject(part)) return { kind: 'other', text: jsonText(part) };
  const type = String(part.type ?? '');
  if (/(^|_)text$/.test(type)) return { kind: 'text', text: textOf(part.text) };
  if (type === 'refusal') return { kind: 'text', text: textOf(part.refusal) };
  if (type === 'thinking') return { kind: 'reasoning', text: textOf(part.thinking) };
  if (type === 'reasoning') return { kind: 'reasoning', text: textOf(part.summary) || textOf(part.content) };
  if (type.includes('image')) return { kind: 'image', text: imageOf(part) };
  if (type === 'tool_use') return { kind: 'call', name: textOf(part.name), text: jsonText(part.input) };
  if (type === 'tool_result') return { kind: 'result', text: textOf(part.content) };
  if (type.endsWith('_call_output')) return { kind: 'result', text: textOf(part.output) };
  if (type.endsWith('_call')) return callOf(part);
  if (isObject(part.function)) return callOf(part.function);
  return { kind: 'other', name: type, text: jsonText(part) };
}

function callOf(part: Json): Block {
  const input = part.arguments ?? part.input ?? part.action;
  return {
    kind: 'call',
    name: textOf(part.name ?? part.type),
    text: typeof input === 'string' ? prettyJson(input) : jsonText(input),
  };
}

/** A data URL, or the address of an image elsewhere. */
function imageOf({ image_url: url, source, result }: Json): string {
  if (typeof url === 'string') return url;
  if (isObject(url)) return textOf(url.url);
  if (isObject(source))
    return source.type === 'base64'
      ? `data:${textOf(source.media_type)};base64,${textOf(source.data)}`
      : textOf(source.url);
  return typeof result === 'string' ? `data:image/png;base64,${result}` : '';
}

function toolOf(tool: unknown): Tool {
  const inner = isObject(tool) && isObject(tool.function) ? tool.function : tool;
  const { name, type, description } = isObject(inner) ? inner : {};
  return { name: textOf(name ?? type), description: textOf(description), text: jsonText(tool) };
}

/** Any content as one text. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (content === undefined || content === null) return '';
  if (Array.isArray(content)) return content.map((part) => blockOf(part).text).join('\n');
  return jsonText(content);
}

function prettyJson(text: string): string {
  try {
    return jsonText(JSON.parse(text));
  } catch {
    return text;
  }
}

export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value, null, 2) ?? '';
  } catch {
    // Too deep.
    return '…';
  }
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The text that an answer says, without reasoning and calls. */
export function answerText(conversation: Conversation): string {
  const blocks = conversation.passages.flatMap(({ blocks }) => blocks);
  return blocks
    .filter(({ kind }) => kind === 'text')
    .map(({ text }) => text)
    .join('');
}
