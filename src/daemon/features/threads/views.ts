import type { Thread, ThreadEvent, ThreadMessage } from '../../../shared/contract/threads.ts';
import { ownValue } from '../../../shared/json/json-object.ts';
import { isoTime } from '../../../shared/time/time.ts';
import type { ShownThread } from './threads.ts';
import type { MessageRecord, RunEventRecord } from './threads-store.ts';

type Json = Record<string, unknown>;

export function toThread(thread: ShownThread): Thread {
  return {
    id: thread.id,
    title: thread.title,
    working: thread.isWorking,
    created_at: isoTime(thread.createdAt),
    updated_at: isoTime(thread.updatedAt),
  };
}

/** An item of a conversation, for display. */
export interface ReadItem {
  type: string;
  role: string;
  /** The parts of a message; for other types, the item itself. */
  content: Json[];
}

const roles: Record<string, string> = {
  function_call_output: 'tool',
  custom_tool_call_output: 'tool',
  message: 'user',
};

/** Reads an item of the Responses format (JSON text) without its sealed content. */
export function readItem(text: string): ReadItem {
  const { encrypted_content: _sealed, ...item } = JSON.parse(text) as Json;
  const type = typeof item.type === 'string' ? item.type : 'message';
  const role = typeof item.role === 'string' ? item.role : (ownValue(roles, type) ?? 'assistant');
  if (type !== 'message') return { type, role, content: [item] };
  const textType = role === 'assistant' ? 'output_text' : 'input_text';
  const { content } = item;
  if (typeof content === 'string') return { type, role, content: [{ type: textType, text: content }] };
  return { type, role, content: Array.isArray(content) ? (content as Json[]) : [] };
}

/** The text of an item. */
export function textOf({ type, content }: ReadItem): string {
  if (type === 'message')
    return content.map((part) => stringOf(part.text) || stringOf(part.refusal)).join('');
  const [item] = content;
  if (type === 'function_call') return `${stringOf(item?.name)}(${stringOf(item?.arguments)})`;
  if (type === 'custom_tool_call') return `${stringOf(item?.name)}(${stringOf(item?.input)})`;
  if (type === 'reasoning') {
    const summary = Array.isArray(item?.summary) ? (item.summary as Json[]) : [];
    return summary.map((part) => stringOf(part.text)).join('\n\n');
  }
  const output = item?.output;
  return typeof output === 'string' ? output : output === undefined ? '' : JSON.stringify(output);
}

const stringOf = (value: unknown) => (typeof value === 'string' ? value : '');

export function toMessage({ id, runId, item, createdAt }: MessageRecord): ThreadMessage {
  return { id, object: 'thread.message', run: runId, ...readItem(item), created_at: isoTime(createdAt) };
}

export function toEvent({ type, sequence, id, runId, at, payload }: RunEventRecord): ThreadEvent {
  return { type, sequence, id, run: runId, created_at: isoTime(at), data: payload };
}

/** The title of an untitled conversation, from its first message: one line of at most 80 characters. */
export function titleOf(text: string): string | null {
  // Cut first, as a message may be a whole file.
  const line = text
    .slice(0, 1000)
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  if (line === '') return null;
  const characters = [...line];
  return characters.length <= 80
    ? line.toWellFormed()
    : `${characters.slice(0, 79).join('').trimEnd().toWellFormed()}…`;
}
