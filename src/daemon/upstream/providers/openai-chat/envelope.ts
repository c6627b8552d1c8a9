import { isObject, type Json } from '../../json.ts';
import { finishReasonOf } from './usage.ts';

const finishReasons = new Set(['stop', 'length', 'tool_calls', 'content_filter', 'function_call']);

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

/**
 * Corrects the finish reason of a choice: some servers send `stop` after tool calls, at which clients would end their
 * tool loop, or reasons of their own, such as `eos`. Returns whether it was wrong.
 */
export function repairFinish(choice: Json, { hasCalls }: { hasCalls: boolean }): boolean {
  const { finish_reason: reason } = choice;
  if (typeof reason !== 'string' || reason === '') return false;
  const right = rightFinish(reason, hasCalls);
  if (right === reason) return false;
  choice.finish_reason = right;
  return true;
}

function rightFinish(reason: string, hasCalls: boolean): string {
  if (hasCalls && (reason === 'stop' || reason === 'function_call')) return 'tool_calls';
  if (finishReasons.has(reason)) return reason;
  const finish = finishReasonOf(reason);
  if (finish === 'max_output_tokens') return 'length';
  if (finish === 'content_filter') return 'content_filter';
  return hasCalls ? 'tool_calls' : 'stop';
}

/** Adds the total to a usage without one. Returns whether it was missing. */
export function repairUsage({ usage }: Json): boolean {
  if (!isObject(usage) || typeof usage.total_tokens === 'number') return false;
  const { prompt_tokens: prompt = 0, completion_tokens: completion = 0 } = usage;
  if (typeof prompt !== 'number' || typeof completion !== 'number') return false;
  Object.assign(usage, {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
  });
  return true;
}
