import type { FinishReason } from '../../../features/upstreams/neutral.ts';
import { isObject, type Json } from '../../json.ts';

/**
 * Corrects what a provider leaves out around the content of its answer, and clients validate: `object` and the role. The
 * id, time and model are the gateway's own, and set later. An answer without such a fault is not changed.
 */
export class Envelope {
  readonly #object: 'chat.completion' | 'chat.completion.chunk';
  /** The choices that have a role. */
  readonly #withRole = new Set<unknown>();

  constructor(object: 'chat.completion' | 'chat.completion.chunk') {
    this.#object = object;
  }

  /** Returns whether anything was changed. */
  repair(json: Json): boolean {
    if (json.object === this.#object) return false;
    json.object = this.#object;
    return true;
  }

  /** Adds the role to the first piece of a choice, or to its whole message. */
  repairRole(index: unknown, message: unknown): boolean {
    if (this.#withRole.has(index) || !isObject(message)) return false;
    this.#withRole.add(index);
    if (isText(message.role)) return false;
    message.role = 'assistant';
    return true;
  }
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

/** Clients require a delta, index and role in each choice, which some servers omit or leave empty. */
export function repairChoice(choice: Json): boolean {
  let isChanged = false;
  if (!isObject(choice.delta)) {
    choice.delta = {};
    isChanged = true;
  }
  if (typeof choice.index !== 'number') {
    choice.index = 0;
    isChanged = true;
  }
  const delta = choice.delta as Json;
  if (delta.role === '') {
    delta.role = undefined;
    isChanged = true;
  }
  return isChanged;
}

/** Removes content that is no text, which clients would join to the text. Returns whether there was any. */
export function withoutUnreadable(delta: Json): boolean {
  const { content, refusal } = delta;
  if (isReadable(content) && isReadable(refusal)) return false;
  if (!isReadable(content)) delta.content = undefined;
  if (!isReadable(refusal)) delta.refusal = undefined;
  return true;
}

function isReadable(value: unknown): boolean {
  return typeof value === 'string' || value === undefined || value === null;
}

/**
 * Sets the finish reason of a choice to one of OpenAI's five words: some servers send `stop` after tool calls, at which
 * clients would end their tool loop, `tool_calls` without any, or words of their own. `hasCalls` is undefined where that is
 * not known. Returns whether it was another.
 */
export function repairFinish(
  choice: Json,
  { finish, hasCalls }: { finish: FinishReason; hasCalls: boolean | undefined },
): boolean {
  const { finish_reason: reason } = choice;
  const right = rightFinish(reason, finish, hasCalls);
  if (right === reason) return false;
  choice.finish_reason = right;
  return true;
}

function rightFinish(reason: unknown, finish: FinishReason, hasCalls: boolean | undefined): string {
  if (finish === 'max_output_tokens') return 'length';
  if (finish === 'content_filter') return 'content_filter';
  if (hasCalls === undefined) return reason === 'tool_calls' || reason === 'function_call' ? reason : 'stop';
  return hasCalls ? 'tool_calls' : 'stop';
}
