import { createHash } from 'node:crypto';
import type { Tool } from '../../../features/inference/neutral.ts';

/** Names here begin with a letter or an underscore, and are shorter than elsewhere. */
const takenName = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

/** A function's name as Gemini takes it: the same one for the same function, however often it is sent. */
export function geminiName(name: string): string {
  if (takenName.test(name)) return name;
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 8);
  return `_${name.slice(0, 54)}_${digest}`;
}

/** The caller's names of the functions that go by another one here. */
export function callersNames(tools: readonly Tool[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const tool of tools) {
    if (tool.type === 'function' && !takenName.test(tool.name)) names.set(geminiName(tool.name), tool.name);
  }
  return names;
}
