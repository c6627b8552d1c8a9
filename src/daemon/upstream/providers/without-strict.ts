import { isObject } from '../json.ts';

/** Tools of any format that are not marked as strict. */
export function withoutStrict(tools: unknown): unknown {
  if (!Array.isArray(tools)) return tools;
  return tools.map((tool) => {
    if (!isObject(tool)) return tool;
    const { strict: _strict, ...rest } = tool;
    if (!isObject(rest.function)) return rest;
    const { strict: _inner, ...called } = rest.function;
    return { ...rest, function: called };
  });
}
