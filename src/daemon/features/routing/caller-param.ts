import type { Wire } from '../inference/index.ts';

/** Names of one format and what they are in the other, first match. Places within the history do not correspond. */
const names: Record<Wire, readonly (readonly [RegExp, string])[]> = {
  chat: [
    [/^(input|instructions)\b.*/, 'messages'],
    [/^max_output_tokens$/, 'max_completion_tokens'],
    [/^text\.verbosity$/, 'verbosity'],
    [/^text\b.*/, 'response_format'],
    [/^reasoning(\.effort)?$/, 'reasoning_effort'],
  ],
  responses: [
    [/^messages\b.*/, 'input'],
    [/^max_(completion_)?tokens$/, 'max_output_tokens'],
    [/^verbosity$/, 'text.verbosity'],
    [/^response_format\b.*/, 'text.format'],
    [/^reasoning_effort$/, 'reasoning.effort'],
    [/^(tools\[\d+\])\.function\b/, '$1'],
  ],
};

/** A field as the caller's format names it: a provider that was asked in another format names its own. */
export function paramFor(wire: Wire, param: string | null): string | null {
  if (param === null) return null;
  const [pattern, name] = names[wire].find(([known]) => known.test(param)) ?? [];
  return pattern && name ? param.replace(pattern, name) : param;
}
