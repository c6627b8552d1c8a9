import { isObject, type Json, quoted } from '../fault.ts';
import type { Inference } from '../neutral.ts';
import { callersTools } from './provider-extras.ts';

/** Tools that are paid for by their tokens alone: the caller does their work, or a server that the caller names. */
const withoutFee = new Set([...callersTools, 'function', 'mcp']);
/** Tools of the Responses format whose uses an answer tells, and price lists the fee. */
export const countedTools = { webSearch: /^web_search/, fileSearch: /^file_search$/ } as const;

/**
 * What in a call may cost a fee that nobody can count, with its place in the body; undefined where nothing does. A
 * container, for one, is paid for by its memory and the time it lives, and an answer tells neither.
 */
export function uncountedFee({
  wire,
  tools,
  items,
  body,
}: Inference): { param: string; what: string } | undefined {
  if (wire === 'chat' && isObject(body.web_search_options)) {
    return { param: 'web_search_options', what: 'a search' };
  }
  for (const [index, tool] of tools.entries()) {
    if (tool.type !== 'opaque' || hasKnownFee(tool.json, wire)) continue;
    return { param: `tools[${index}]`, what: `the tool ${quoted(String(tool.json.type))}` };
  }
  // Such items, too, offer tools; what they offer is not held for.
  for (const item of items) {
    if (item.type !== 'opaque' || item.json.type !== 'additional_tools') continue;
    const { tools: more } = item.json;
    const isFree =
      Array.isArray(more) && more.every((tool) => isObject(tool) && withoutFee.has(String(tool.type)));
    if (!isFree) return { param: 'input', what: 'what additional_tools offers' };
  }
  return undefined;
}

function hasKnownFee({ type, environment }: Json, wire: Inference['wire']): boolean {
  if (type === 'shell') return isObject(environment) && environment.type === 'local';
  const name = String(type);
  if (withoutFee.has(name)) return true;
  return wire === 'responses' && Object.values(countedTools).some((counted) => counted.test(name));
}
