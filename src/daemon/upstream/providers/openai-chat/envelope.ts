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
    // Of an answer, it is empty, which not every client checks.
    const hasError = json.error !== undefined && json.error !== null;
    if (json.object === this.#object && !hasError) return false;
    json.object = this.#object;
    json.error = undefined;
    return true;
  }

  /** Adds the role to the first piece of a choice, or to its whole message. */
  repairRole(index: unknown, message: unknown): boolean {
    if (this.#withRole.has(index) || !isObject(message)) return false;
    this.#withRole.add(index);
    if (message.role === 'assistant') return false;
    message.role = 'assistant';
    return true;
  }
}

/** Whether a text is what some servers write for one that is absent. */
export function isNoText(value: unknown): boolean {
  return value === '' || value === 'null' || value === 'None';
}

/** Removes a finish reason that is none, at which clients would fail or end. Returns whether there was one. */
export function withoutNoReason(choice: Json): boolean {
  if (!isNoText(choice.finish_reason)) return false;
  choice.finish_reason = null;
  return true;
}

/** Clients require a delta and an index in each choice, which some servers omit, and know one role only. */
export function repairChoice(choice: Json): boolean {
  let isChanged = false;
  if (!isObject(choice.delta)) {
    // In OpenAI's older format, a choice has its text.
    choice.delta = typeof choice.text === 'string' ? { content: choice.text } : {};
    isChanged = true;
  }
  if (typeof choice.index !== 'number') {
    choice.index = 0;
    isChanged = true;
  }
  const delta = choice.delta as Json;
  if (delta.role !== undefined && delta.role !== 'assistant') {
    delta.role = undefined;
    isChanged = true;
  }
  return isChanged;
}

/**
 * Makes text of numbers, as Cloudflare writes tokens that look like one, and removes content that is no text, which clients
 * would join to the text. Returns whether there was any. Source: cloudflare/ai#651.
 */
export function repairText(delta: Json): boolean {
  let isChanged = false;
  for (const name of textMembers) {
    const value = delta[name];
    if (typeof value === 'string' || value === undefined || value === null) continue;
    delta[name] = typeof value === 'number' ? String(value) : undefined;
    isChanged = true;
  }
  // The name that clients know.
  if (typeof delta.reasoning_text !== 'string' || delta.reasoning_content !== undefined) return isChanged;
  delta.reasoning_content = delta.reasoning_text;
  return true;
}

const textMembers = ['content', 'refusal', 'reasoning_content', 'reasoning'] as const;

/**
 * Sets the finish reason of a choice to one of OpenAI's five words: some servers send `stop` after tool calls, at which
 * clients would end their tool loop, `tool_calls` without any, or words of their own. `hasCalls` is undefined where that is
 * not known; callers of the deprecated functions know no other word than `function_call`. Returns whether it was another.
 */
export function repairFinish(
  choice: Json,
  { finish, hasCalls }: { finish: FinishReason; hasCalls: Calls },
): boolean {
  const { finish_reason: reason } = choice;
  const right = rightFinish(reason, finish, hasCalls);
  if (right === reason) return false;
  choice.finish_reason = right;
  return true;
}

type Calls = boolean | 'deprecated' | undefined;

function rightFinish(reason: unknown, finish: FinishReason, hasCalls: Calls): string {
  if (finish === 'max_output_tokens') return 'length';
  if (finish === 'content_filter') return 'content_filter';
  if (hasCalls === undefined) return reason === 'tool_calls' || reason === 'function_call' ? reason : 'stop';
  if (hasCalls === 'deprecated') return 'function_call';
  return hasCalls ? 'tool_calls' : 'stop';
}
