import { isObject } from '../../fault.ts';

/** The texts of a chat message, or of a piece of one: what was said, thought and called with. */
export function wordsIn(message: unknown): string[] {
  if (!isObject(message)) return [];
  const { content, refusal, reasoning_content, reasoning, tool_calls: calls } = message;
  const args = Array.isArray(calls) ? calls.map((call) => call?.function?.arguments) : [];
  const all = [content, refusal, reasoning_content ?? reasoning, ...args];
  return all.filter((text) => typeof text === 'string');
}
