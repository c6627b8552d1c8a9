import { isObject } from '../../fault.ts';

/** What the first message of a user says, in either format; empty where there is none. */
export function firstWords(input: unknown): string {
  if (typeof input === 'string') return input;
  const items = Array.isArray(input) ? input.filter(isObject) : [];
  const content = items.find((item) => item.role === 'user')?.content;
  if (typeof content === 'string') return content;
  const texts = (Array.isArray(content) ? content.filter(isObject) : []).map((part) => part.text);
  return texts.filter((text) => typeof text === 'string').join(' ');
}
