import type { Wire } from '../inference/neutral.ts';

/** The format of a request and that in which a provider was asked. */
export interface CallerFormat {
  wire: Wire;
  /** Whether the provider was asked in the same format, so that its field names are the caller's. */
  isRelayed: boolean;
  /** Items of earlier responses, which come before the caller's own in the request to the provider. */
  earlierItems: number;
  /** The caller's name of the field that limits the output. */
  outputField: 'max_output_tokens' | 'max_completion_tokens' | 'max_tokens';
}

/** For each format, the names of the other formats' fields; the first match wins. */
const fieldNames: Record<Wire, readonly (readonly [RegExp, string])[]> = {
  chat: [
    [/^(input|instructions)\b.*/, 'messages'],
    [/^text\.verbosity$/, 'verbosity'],
    [/^text\b.*/, 'response_format'],
    [/^reasoning(\.effort)?$/, 'reasoning_effort'],
    [/^(tools\[\d+\])\.(?=name|description|parameters|strict)/, '$1.function.'],
  ],
  responses: [
    [/^messages\b.*/, 'input'],
    [/^verbosity$/, 'text.verbosity'],
    [/^response_format\b.*/, 'text.format'],
    [/^reasoning_effort$/, 'reasoning.effort'],
    [/^(tools\[\d+\])\.function\b/, '$1'],
  ],
};

/** A provider's field name in the caller's format. */
export function fieldFor(caller: CallerFormat, field: string): string {
  const { wire, isRelayed, earlierItems, outputField } = caller;
  if (isRelayed && field !== 'input') return earlierItems > 0 ? withoutEarlier(field, earlierItems) : field;
  if (/^max_(completion_|output_)?tokens$/.test(field)) return outputField;
  const [pattern, name] = fieldNames[wire].find(([known]) => known.test(field)) ?? [];
  return pattern && name !== undefined ? field.replace(pattern, name) : field;
}

/** The position of an item among the caller's own; `input` for an earlier one. */
function withoutEarlier(field: string, earlierItems: number): string {
  const [, position, rest] = /^input\[(\d+)\](.*)$/.exec(field) ?? [];
  if (position === undefined) return field;
  const own = Number(position) - earlierItems;
  return own < 0 ? 'input' : `input[${own}]${rest}`;
}

/** Fields in a provider's sentence that have other names in the caller's format. */
const mentions =
  /\b(?:(?:messages|input)(?:\[\d+\]|\.\d+)(?:\.\w+|\[\d+\])*|max_(?:completion_|output_)?tokens|response_format|reasoning_effort|tools\[\d+\](?:\.\w+|\[\d+\])*)/g;

/** A provider's sentence with its field names in the caller's format. */
export function inCallersTerms(caller: CallerFormat, sentence: string): string {
  if (caller.isRelayed && caller.earlierItems === 0) return sentence;
  return sentence.replace(mentions, (field) => fieldFor(caller, field));
}
