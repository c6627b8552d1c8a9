import { answerPieces, type CallPiece, requestPieces } from '../shared/comparison/call-pieces.ts';
import { contentMembers } from '../shared/comparison/request-items.ts';
import { isObject, type JsonObject } from '../shared/json/json-object.ts';
import { sizeText } from '../shared/text/size-text.ts';

/** A piece of a message, as it is shown. */
export interface Block {
  kind: 'text' | 'reasoning' | 'call' | 'result' | 'image' | 'file' | 'other';
  /** Of a tool that is called, a file, or what else it is. */
  name?: string;
  /** Of an image, its address or data URL; of a file, its size or address. */
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

/** What a request says, as a conversation. */
export function requestConversation(body: unknown): Conversation {
  const pieces = requestPieces(body);
  return {
    tools: pieces.filter(({ kind }) => kind === 'tool').map(({ role, value }) => toolOf(role, value)),
    passages: passagesOf(pieces.filter(({ kind }) => kind !== 'tool')),
    parameters: parametersOf(body),
  };
}

/** What an answer or an error says. A response repeats the instructions and tools of its request, which are left out. */
export function answerConversation(body: unknown): Conversation {
  return { tools: [], passages: passagesOf(answerPieces(body)), parameters: parametersOf(body) };
}

/** The text that an answer says, without reasoning and calls. */
export function answerText({ passages }: Conversation): string {
  const blocks = passages.flatMap((passage) => passage.blocks).filter(({ kind }) => kind === 'text');
  return blocks.map(({ text }) => text).join('');
}

const contentNames: ReadonlySet<string> = new Set([...contentMembers, 'choices', 'output', 'content']);

function parametersOf(body: unknown): [string, unknown][] {
  return isObject(body) ? Object.entries(body).filter(([name]) => !contentNames.has(name)) : [];
}

/** Neighbours of the same role are one passage. */
function passagesOf(pieces: readonly CallPiece[]): Passage[] {
  const passages: Passage[] = [];
  for (const piece of inReadingOrder(pieces)) {
    const blocks = blocksOf(piece);
    if (blocks.length === 0) continue;
    const role = roleOf(piece);
    const last = passages.at(-1);
    if (last?.role === role) last.blocks.push(...blocks);
    else passages.push({ role, blocks });
  }
  return passages;
}

function roleOf({ role, value }: CallPiece): string {
  if (isObject(value) && value.type === 'item_reference') return 'earlier';
  return role === 'reasoning' ? 'assistant' : role;
}

const isThought = ({ path }: CallPiece) => /\.reasoning(_content)?$/.test(path);

/** Members of a message have no order: its reasoning was before what it says. */
function inReadingOrder(pieces: readonly CallPiece[]): CallPiece[] {
  const ordered: CallPiece[] = [];
  for (const piece of pieces) {
    const message = piece.path.slice(0, piece.path.lastIndexOf('.') + 1);
    let at = ordered.length;
    while (isThought(piece) && ordered[at - 1]?.path.startsWith(message)) at -= 1;
    ordered.splice(at, 0, piece);
  }
  return ordered;
}

function blocksOf(piece: CallPiece): Block[] {
  const { role, value } = piece;
  const isOfTool = role === 'tool' || role === 'function';
  return (Array.isArray(value) ? value : [value]).map(blockOf).flatMap((block) => {
    if (block.kind !== 'text') return [block];
    if (isThought(piece)) return block.text === '' ? [] : [{ ...block, kind: 'reasoning' as const }];
    if (isOfTool) return [{ ...block, kind: 'result' as const }];
    return block.text === '' ? [] : [block];
  });
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
  if (type === 'file' || type === 'input_file' || type === 'document') return fileOf(part);
  if (type === 'tool_use') return { kind: 'call', name: textOf(part.name), text: jsonText(part.input) };
  if (type === 'tool_result') return { kind: 'result', text: textOf(part.content) };
  if (type.endsWith('_call_output')) return { kind: 'result', text: textOf(part.output) };
  if (type === 'item_reference') return { kind: 'other', name: `item ${textOf(part.id)}`, text: '' };
  const called = part.function ?? part.custom ?? part;
  if (isObject(called) && (called !== part || (part.name ?? part.arguments) !== undefined))
    return callOf(called);
  const name = type.replaceAll('_', ' ') || 'part';
  return { kind: 'other', name, text: jsonText(type.endsWith('_call') ? part.action : part) };
}

function callOf({ name, arguments: given, input }: JsonObject): Block {
  const text = given ?? input;
  return {
    kind: 'call',
    name: textOf(name),
    text: typeof text === 'string' ? prettyJson(text) : jsonText(text),
  };
}

/** A data URL, or where an image is. */
function imageOf({ image_url: url, file_id: id, source, result }: JsonObject): string {
  const address = isObject(url) ? url.url : url;
  if (address !== undefined || id !== undefined) return textOf(address ?? id);
  if (isObject(source)) return addressOf(source);
  return typeof result === 'string' ? `data:image/png;base64,${result}` : '';
}

function addressOf({ type, media_type, data, url, file_id: id }: JsonObject): string {
  return type === 'base64' ? `data:${textOf(media_type)};base64,${textOf(data)}` : textOf(url ?? id);
}

function fileOf({ type, title, source, file = {}, ...part }: JsonObject): Block {
  const { filename, file_url: url, file_id: id, file_data: data } = { ...part, ...(isObject(file) && file) };
  const address = isObject(source) ? addressOf(source) : textOf(data ?? url ?? id);
  const bytes = dataSize(address, { isData: data !== undefined });
  return {
    kind: 'file',
    name: textOf(filename ?? title ?? (bytes === undefined ? address : '')) || textOf(type),
    text: bytes === undefined ? address : sizeText(bytes),
  };
}

const dataUrl = /^data:([\w/+.-]+);base64,/;

/** The type and the size of a data URL. */
function embedded(url: string): { mediaType: string; bytes: number } | undefined {
  const [, mediaType] = dataUrl.exec(url) ?? [];
  return mediaType === undefined ? undefined : { mediaType, bytes: dataSize(url, { isData: true }) ?? 0 };
}

/** Of base64, with or without the start of a data URL. */
function dataSize(text: string, { isData }: { isData: boolean }): number | undefined {
  if (!isData && !dataUrl.test(text)) return undefined;
  return Math.floor(((text.length - text.indexOf(',') - 1) * 3) / 4);
}

function toolOf(role: string, tool: unknown): Tool {
  const inner = isObject(tool) && isObject(tool.function) ? tool.function : tool;
  return {
    name: role,
    description: textOf(isObject(inner) ? inner.description : undefined),
    text: jsonText(tool),
  };
}

const lineMax = 200;

/** A block as text: what is no text is one line in brackets. */
export function blockText({ kind, name, text }: Block): string {
  if (kind === 'text') return text;
  if (kind === 'reasoning') return text === '' ? '[no summary]' : text;
  if (kind === 'result') return inBrackets(`result ${text}`);
  if (kind === 'call') return inBrackets(`call ${name}(${compactJson(text)})`);
  if (kind === 'other') return inBrackets(name ?? text);
  const found = embedded(text);
  const parts = found ? [found.mediaType, sizeText(found.bytes)] : [text];
  const shown = parts.filter((part) => part !== '' && part !== name).join(', ');
  const title = kind === name ? kind : [kind, name].filter(Boolean).join(' ');
  return inBrackets(`${title}${shown && `${kind === 'image' ? ' ' : ', '}${shown}`}`);
}

function inBrackets(text: string): string {
  const line = text
    .slice(0, 10 * lineMax)
    .replace(/\s+/g, ' ')
    .trim();
  return `[${line.length > lineMax ? `${line.slice(0, lineMax)}…` : line}]`;
}

/** Any content as one text. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (content === undefined || content === null) return '';
  if (Array.isArray(content)) return content.map((part) => blockText(blockOf(part))).join('\n');
  return jsonText(content);
}

function compactJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}

function prettyJson(text: string): string {
  try {
    return jsonText(JSON.parse(text));
  } catch {
    return text;
  }
}

function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value, null, 2) ?? '';
  } catch {
    // Too deep.
    return '…';
  }
}

/** Passages that are shown, or, with a title, folded under it. */
export interface PassageGroup {
  title: string | undefined;
  passages: Passage[];
}

/** Of a turn with more passages than this, the middle is folded. */
const turnPassagesMax = 6;
const turnEndPassages = 3;

/** A conversation as it is read from its end: instructions, earlier turns and the middle of a long one are folded. */
export function foldedPassages(passages: readonly Passage[]): PassageGroup[] {
  const last = passages.findLastIndex(
    ({ role, blocks }) => role === 'user' && blocks.some(({ kind }) => kind !== 'result'),
  );
  const turn = Math.max(0, last);
  const before = passages.slice(0, turn);
  const isSetting = ({ role }: Passage) => role === 'system' || role === 'developer';
  const settings = before.filter(isSetting);
  const earlier = before.filter((passage) => !isSetting(passage));
  const said = passages.slice(turn);
  const middle = said.length > turnPassagesMax ? said.slice(1, -turnEndPassages) : [];
  const groups = [
    ...(settings.length > 0 ? [{ title: `Instructions, ${sizeOf(settings)}`, passages: settings }] : []),
    ...(earlier.length > 0 ? [{ title: `${counted(earlier)} before`, passages: earlier }] : []),
  ];
  return middle.length === 0
    ? [...groups, { title: undefined, passages: said }]
    : [
        ...groups,
        { title: undefined, passages: said.slice(0, 1) },
        { title: `${counted(middle)} more of this turn`, passages: middle },
        { title: undefined, passages: said.slice(-turnEndPassages) },
      ];
}

function counted(passages: readonly Passage[]): string {
  return passages.length === 1 ? '1 message' : `${passages.length} messages`;
}

function sizeOf(passages: readonly Passage[]): string {
  const texts = passages.flatMap(({ blocks }) => blocks.map(({ text }) => text.length));
  return sizeText(texts.reduce((sum, length) => sum + length, 0));
}
