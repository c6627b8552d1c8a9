import { isObject, type JsonObject } from '../json/json-object.ts';
import { answerPieces, type CallPiece, piecesOfItem, requestPieces } from './call-pieces.ts';
import { contentMembers, type RequestItem } from './request-items.ts';

/** A piece of a request or an answer. */
export interface CallPart extends Omit<CallPiece, 'value'> {
  /** `text`, or the type of a block or an item of another kind. */
  type: string;
  /** For people: a text, or JSON with line breaks. Pictures and the like are one line with a fingerprint. */
  text: string;
  /** The same for parts that a provider cannot tell apart. */
  key: string;
  /** Without marks for the cache; a text for a block that has nothing else. */
  value: unknown;
}

/** A setting of a request: `reasoning.effort`, as JSON. */
export interface CallParameter {
  name: string;
  value: string;
}

/** A longer text without spaces is data, such as a picture in base64. */
const dataCharactersMin = 200;
const dataForm = /^(?:data:([\w/+.-]+)(?:;[\w=-]+)*,)?[\w+/=-]+$/;

const contentNames: ReadonlySet<string> = new Set(contentMembers);

/** The parts of a request in any format, in the order in which providers read them, and cache them. */
export function requestParts(body: unknown): CallPart[] {
  return requestPieces(body).map(partOf);
}

/** A message by its blocks; any other item is one part. */
export function partsOfItem(item: RequestItem): CallPart[] {
  return piecesOfItem(item).map(partOf);
}

/** The parts of a whole answer in any format, or of an error. */
export function answerParts(body: unknown): CallPart[] {
  return answerPieces(body).map(partOf);
}

/** The settings of a request: all that is not its content, objects by their members. */
export function requestParameters(body: unknown): CallParameter[] {
  if (!isObject(body)) return [];
  return Object.entries(body)
    .filter(([name]) => !contentNames.has(name))
    .flatMap(([name, value]) => parametersIn(name, value));
}

function parametersIn(name: string, value: unknown): CallParameter[] {
  if (!isObject(value) || Object.keys(value).length === 0) return [{ name, value: JSON.stringify(value) }];
  return Object.entries(value).flatMap(([member, inner]) => parametersIn(`${name}.${member}`, inner));
}

function partOf({ path, kind, role, value }: CallPiece): CallPart {
  const bare = withoutMarks(value);
  const plain = plainText(bare);
  const type = plain !== undefined ? 'text' : String((isObject(bare) && bare.type) || kind);
  const text = kind === 'tool' ? toolText(bare) : readable(bare);
  return {
    path,
    kind,
    role,
    type,
    text,
    key: `${kind} ${role} ${JSON.stringify(plain ?? bare)}`,
    value: plain ?? bare,
  };
}

/** Marks where a cache ends do not change what is cached, and move with each turn of a conversation. */
function withoutMarks(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutMarks);
  if (!isObject(value)) return value;
  const { cache_control: _mark, ...rest } = value;
  return Object.fromEntries(Object.entries(rest).map(([name, member]) => [name, withoutMarks(member)]));
}

/** The text of a block that has nothing else. */
function plainText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (!isObject(value)) return undefined;
  const { type, text, annotations: _annotations, logprobs: _logprobs, ...others } = value;
  const isText = typeof text === 'string' && typeof type === 'string' && /(^|_)text$/.test(type);
  return isText && Object.keys(others).length === 0 ? text : undefined;
}

/** The description as text, as it often has many lines; then all else. */
function toolText(tool: unknown): string {
  if (!isObject(tool)) return json(tool);
  const { description, ...others } = isObject(tool.function) ? tool.function : tool;
  return typeof description === 'string' ? `${description}\n${json(others)}` : json(others);
}

/** What people read of a block: its text, or JSON in which data is one line. */
export function readable(value: unknown): string {
  const text = plainText(value);
  if (text !== undefined) return shortened(text);
  return (isObject(value) && blockText(value)) || json(value);
}

/** Blocks and items that are mostly a text, or a call of a tool. */
function blockText({ type, function: called, ...block }: JsonObject): string | undefined {
  if (type === 'tool_result') return resultText(block.content);
  if (type === 'function_call_output' || type === 'custom_tool_call_output') return resultText(block.output);
  if (type === 'thinking' && typeof block.thinking === 'string') return block.thinking;
  if (type === 'tool_use') return callText(block.name, block.input);
  if (type === 'function_call' || type === 'custom_tool_call')
    return callText(block.name, block.arguments ?? block.input);
  if (isObject(called)) return callText(called.name, called.arguments);
  return undefined;
}

function resultText(content: unknown): string | undefined {
  const blocks = Array.isArray(content) ? content : [content];
  return blocks.map(readable).join('\n');
}

function callText(name: unknown, given: unknown): string {
  return `${String(name)} ${typeof given === 'string' ? (parsed(given) ?? given) : json(given)}`;
}

/** Arguments of tools are JSON in a string: with line breaks, they can be compared. */
function parsed(text: string): string | undefined {
  try {
    return json(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function json(value: unknown): string {
  const shown = (_name: string, member: unknown) => (typeof member === 'string' ? shortened(member) : member);
  return JSON.stringify(value, shown, 2) ?? '';
}

function shortened(text: string): string {
  const found = text.length >= dataCharactersMin ? dataForm.exec(text) : null;
  if (!found) return text;
  const [, mediaType = 'data'] = found;
  return `[${mediaType}, ${Math.ceil((text.length * 3) / 4000)} kB, ${fingerprint(text)}]`;
}

/** Tells two pictures apart. FNV-1a; not for secrets. */
function fingerprint(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}
