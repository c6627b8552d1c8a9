import { createHash } from 'node:crypto';
import type {
  CacheMark,
  ContentPart,
  FunctionOutputItem,
  ReasoningItem,
} from '../../../features/upstreams/neutral.ts';
import { type Json, objectOf } from '../../json.ts';
import { type AssistantTurn, argumentsObject, isBlank, type Turn, type UserTurn } from '../conversation.ts';
import { type InlineData, inlineFile, inlineText, parseDataUrl } from '../inline-data.ts';
import { unsupported } from '../provider-failures.ts';

export interface Message {
  role: 'user' | 'assistant';
  content: Json[];
}

/** Converts turns to messages of alternating roles. `isOwn`: whether thoughts are from the model of this call. */
export function messagesOf(turns: readonly Turn[], isOwn: (item: ReasoningItem) => boolean): Message[] {
  const ids = new ToolUseIds();
  const messages: Message[] = [];
  for (const turn of turns) {
    const content = turn.role === 'user' ? userBlocks(turn, ids) : assistantBlocks(turn, { ids, isOwn });
    if (content.length === 0) continue;
    const last = messages.at(-1);
    // Not `push(...content)`: there may be more blocks than a function accepts arguments.
    if (last?.role === turn.role) for (const block of content) last.content.push(block);
    else messages.push({ role: turn.role, content });
  }
  return messages;
}

interface AssistantContext {
  ids: ToolUseIds;
  isOwn: (item: ReasoningItem) => boolean;
}

function assistantBlocks(turn: AssistantTurn, { ids, isOwn }: AssistantContext): Json[] {
  const blocks: Json[] = [];
  for (const item of turn.items) {
    if (item.type === 'function_call') {
      const input = argumentsObject(item.arguments);
      const id = ids.forCall(item.callId);
      blocks.push(marked({ type: 'tool_use', id, name: item.name, input }, item));
    } else if (item.type === 'message') {
      for (const part of item.content) {
        const text = part.type === 'text' ? part.text : part.type === 'refusal' ? part.refusal : undefined;
        if (text !== undefined && !isBlank(text)) blocks.push(marked({ type: 'text', text }, part));
      }
      markLast(blocks, item);
    } else if (isOwn(item)) {
      const block = thoughtBlock(item);
      if (block) blocks.push(block);
    }
  }
  // The API refuses turns that end in thoughts, as an answer does that was cut off while thinking.
  while (isThought(blocks.at(-1))) blocks.pop();
  return blocks;
}

/** The original block: it is signed and must be sent back unchanged. */
export function thoughtBlock(item: ReasoningItem): Json | undefined {
  const payload = objectOf(item.origin?.payload);
  if (typeof payload?.data === 'string') return { type: 'redacted_thinking', data: payload.data };
  if (typeof payload?.thinking !== 'string' || typeof payload.signature !== 'string') return undefined;
  return { type: 'thinking', thinking: payload.thinking, signature: payload.signature };
}

export function isThought(block: Json | undefined): boolean {
  return block?.type === 'thinking' || block?.type === 'redacted_thinking';
}

/** Results must precede the user's messages. */
function userBlocks(turn: UserTurn, ids: ToolUseIds): Json[] {
  const results = turn.results.map((result) => toolResult(result, ids));
  const messages = turn.messages.flatMap((message) => {
    const blocks = message.content.flatMap(contentBlocks);
    markLast(blocks, message);
    return blocks;
  });
  return [...results, ...messages];
}

/** A block with the mark of what it was made from. */
export function marked(block: Json, { cacheControl }: CacheMark): Json {
  if (cacheControl) block.cache_control = { ...cacheControl };
  return block;
}

/** Gives the mark of a message to the last of its blocks. */
function markLast(blocks: readonly Json[], { cacheControl }: CacheMark): void {
  const last = cacheControl && blocks.at(-1);
  if (last && !isThought(last)) last.cache_control = { ...cacheControl };
}

function toolResult(item: FunctionOutputItem, ids: ToolUseIds): Json {
  const content = item.output.flatMap(contentBlocks);
  const result = {
    type: 'tool_result',
    tool_use_id: ids.forResult(item.callId),
    content: content.length > 0 ? content : undefined,
    is_error: item.isError,
  };
  return marked(result, item);
}

/** Blank texts are dropped, since the API refuses them. */
function contentBlocks(part: ContentPart): Json[] {
  return plainBlocks(part).map((block) => marked(block, part));
}

function plainBlocks(part: ContentPart): Json[] {
  switch (part.type) {
    case 'text':
      return isBlank(part.text) ? [] : [{ type: 'text', text: part.text }];
    case 'refusal':
      return isBlank(part.refusal) ? [] : [{ type: 'text', text: part.refusal }];
    case 'image': {
      const inline = parseDataUrl(part.url);
      return [{ type: 'image', source: inline ? base64Source(inline) : { type: 'url', url: part.url } }];
    }
    case 'file':
      return [fileBlock(part)];
    case 'audio':
      throw unsupported('This model does not accept audio.', 'input', part);
  }
}

function fileBlock(part: Extract<ContentPart, { type: 'file' }>): Json {
  const { data, url, filename } = part;
  if (data === undefined) return document({ type: 'url', url }, filename);
  const inline = inlineFile(data, filename);
  if (inline.mimeType === 'application/pdf') return document(base64Source(inline), filename);
  if (inline.mimeType.startsWith('image/')) return { type: 'image', source: base64Source(inline) };
  const text = inlineText(inline);
  if (text === undefined)
    throw unsupported('This model only accepts PDF, text and image files.', 'input', part);
  return document({ type: 'text', media_type: 'text/plain', data: text }, filename);
}

function document(source: Json, title: string | undefined): Json {
  return { type: 'document', source, title };
}

function base64Source({ mimeType, data }: InlineData): Json {
  return { type: 'base64', media_type: mimeType, data };
}

/**
 * Call ids that the API accepts: letters, digits, `_` and `-`, unique in a conversation. They depend only on the
 * conversation so far, so that a prompt is the same each time it is sent.
 */
export class ToolUseIds {
  readonly #used = new Set<string>();
  /** How many calls had the same id. */
  readonly #copies = new Map<string, number>();
  readonly #latest = new Map<string, string>();

  forCall(callId: string): string {
    const base = /^[a-zA-Z0-9_-]{1,64}$/.test(callId) ? callId : `call_${digest(callId)}`;
    let copy = this.#copies.get(base) ?? 1;
    let id = base;
    for (; this.#used.has(id); id = `${base}_${copy}`) copy += 1;
    this.#copies.set(base, copy);
    this.#used.add(id);
    this.#latest.set(callId, id);
    return id;
  }

  forResult(callId: string): string {
    return this.#latest.get(callId) ?? callId;
  }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 24);
}
