import type { PartKind } from '../constants/part-kinds.ts';
import { isObject, type JsonObject } from '../json/json-object.ts';

/** A tool, an instruction, a message or another item of a request. */
export interface RequestItem {
  /** `messages[3]`. */
  path: string;
  /** The member that it is in. */
  list: ContentMember;
  kind: PartKind;
  role: string | null;
  /** Of a tool, or of the function that is called. */
  name: string | null;
  value: unknown;
}

/** The members with the content of requests of all formats, in the order in which providers read and cache them. */
export const contentMembers = ['tools', 'functions', 'instructions', 'system', 'input', 'messages'] as const;

type ContentMember = (typeof contentMembers)[number];

const mediaKinds: Readonly<Record<string, PartKind>> = {
  image: 'image',
  image_url: 'image',
  input_image: 'image',
  input_audio: 'audio',
  audio: 'audio',
  document: 'file',
  file: 'file',
  input_file: 'file',
};
const itemKinds: Readonly<Record<string, PartKind>> = {
  function_call: 'tool_call',
  custom_tool_call: 'tool_call',
  tool_use: 'tool_call',
  function_call_output: 'tool_result',
  custom_tool_call_output: 'tool_result',
  tool_result: 'tool_result',
  reasoning: 'reasoning',
  thinking: 'reasoning',
  redacted_thinking: 'reasoning',
};
/** Content within content, such as images in the result of a tool. */
const contentDepthMax = 3;

/** The items of a request in any format, in the order in which providers read them: tools, instructions, messages. */
export function requestItems(body: JsonObject): RequestItem[] {
  return contentMembers.flatMap((list) => {
    const content = body[list];
    if (content === undefined || content === null) return [];
    if (!Array.isArray(content)) return [itemOf(content, list, list)];
    return content.map((value, at) => itemOf(value, list, `${list}[${at}]`));
  });
}

/** Images, audio and files in an item, or the item if it is one. */
export function mediaIn({ path, role, value, list }: RequestItem): RequestItem[] {
  if (isToolList(list)) return [];
  return mediaOf(value, path, 0).map((media) => ({ ...media, list, role, name: null }));
}

export function isToolList(list: ContentMember): boolean {
  return list === 'tools' || list === 'functions';
}

/** What an item or block of this type is. */
export function kindOfType(type: string): PartKind {
  if (Object.hasOwn(itemKinds, type)) return itemKinds[type] as PartKind;
  if (Object.hasOwn(mediaKinds, type)) return mediaKinds[type] as PartKind;
  return type.endsWith('_call') ? 'tool_call' : type.endsWith('_output') ? 'tool_result' : 'message';
}

function itemOf(value: unknown, list: ContentMember, path: string): RequestItem {
  return { path, list, value, ...describe(isObject(value) ? value : {}, list) };
}

function describe(item: JsonObject, list: ContentMember): Pick<RequestItem, 'kind' | 'role' | 'name'> {
  const { role, type, name } = item;
  if (isToolList(list)) {
    const { name: inner } = isObject(item.function) ? item.function : {};
    return { kind: 'tool', role: null, name: textOrNull(name ?? inner ?? type) };
  }
  if (list === 'instructions' || list === 'system') return { kind: 'system', role: 'system', name: null };
  const said = textOrNull(role);
  if (said === 'system' || said === 'developer') return { kind: 'system', role: said, name: null };
  if (said === 'tool' || said === 'function')
    return { kind: 'tool_result', role: said, name: textOrNull(name) };
  if (said === null && typeof type === 'string' && type !== 'message')
    return { kind: kindOfType(type), role: null, name: textOrNull(name) };
  return { kind: kindOfMessage(item), role: said ?? 'user', name: textOrNull(name ?? calledIn(item)) };
}

/** A message that consists of calls or results is of their kind. */
function kindOfMessage({ content, tool_calls: calls }: JsonObject): PartKind {
  const hasText = typeof content === 'string' && content !== '';
  if (Array.isArray(calls) && calls.length > 0 && !hasText) return 'tool_call';
  if (!Array.isArray(content)) return 'message';
  const kinds = new Set(content.map((block) => kindOfType(String(isObject(block) ? block.type : ''))));
  const [only] = kinds;
  return kinds.size === 1 && (only === 'tool_call' || only === 'tool_result') ? only : 'message';
}

function calledIn({ content, tool_calls: calls }: JsonObject): unknown {
  const [call] = Array.isArray(calls) ? calls : [];
  if (isObject(call)) return isObject(call.function) ? call.function.name : undefined;
  const used = Array.isArray(content)
    ? content.find((block) => isObject(block) && block.type === 'tool_use')
    : undefined;
  return isObject(used) ? used.name : undefined;
}

function mediaOf(
  value: unknown,
  path: string,
  depth: number,
): Pick<RequestItem, 'path' | 'kind' | 'value'>[] {
  if (!isObject(value)) return [];
  const { type, content, output } = value;
  const kind = typeof type === 'string' && Object.hasOwn(mediaKinds, type) ? mediaKinds[type] : undefined;
  if (kind !== undefined) return [{ path, kind, value }];
  const list = Array.isArray(content) ? content : output;
  if (!Array.isArray(list) || depth >= contentDepthMax) return [];
  const name = list === content ? 'content' : 'output';
  return list.flatMap((inner, at) => mediaOf(inner, `${path}.${name}[${at}]`, depth + 1));
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
