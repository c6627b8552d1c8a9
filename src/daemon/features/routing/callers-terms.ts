import type { CallFormat } from '../inference/neutral.ts';

/** The format of a request and that in which a provider was asked. */
export interface CallerFormat {
  wire: CallFormat;
  /** Whether the provider was asked in the same format, so that its field names are the caller's. */
  isRelayed: boolean;
  /** Items of earlier responses, which come before the caller's own in the request to the provider. */
  earlierItems: number;
  /** Set if each message of the input is one message of a provider with the chat format; whether instructions come first. */
  plainInput?: { hasInstructions: boolean } | undefined;
  /** The caller's name of the field that limits the output. */
  outputField: 'max_output_tokens' | 'max_completion_tokens' | 'max_tokens';
}

/** For each format, the names of the other formats' fields; the first match wins. */
const fieldNames: Record<CallFormat, readonly (readonly [RegExp, string])[]> = {
  chat: [
    [/^(input|instructions)\b.*/, 'messages'],
    [/^text\.verbosity$/, 'verbosity'],
    [/^text\b.*/, 'response_format'],
    [/^(reasoning(\.effort)?|thinking)$/, 'reasoning_effort'],
    [/^(tools\[\d+\])\.(?=name|description|parameters|strict)/, '$1.function.'],
  ],
  embeddings: [],
  responses: [
    [/^messages\b.*/, 'input'],
    [/^verbosity$/, 'text.verbosity'],
    [/^response_format\b.*/, 'text.format'],
    [/^(reasoning_effort|thinking)$/, 'reasoning.effort'],
    [/^(tools\[\d+\])\.function\b/, '$1'],
  ],
  messages: [
    [/^input\b.*/, 'messages'],
    [/^instructions\b.*/, 'system'],
    [/^(text\.format|response_format)\b.*/, 'output_config.format'],
    [/^(reasoning(\.effort)?|reasoning_effort)$/, 'output_config.effort'],
    [/^stop$/, 'stop_sequences'],
    [/^parallel_tool_calls$/, 'tool_choice.disable_parallel_tool_use'],
    [/^safety_identifier$/, 'metadata.user_id'],
    [/^(tools\[\d+\])(\.function)?\.parameters\b/, '$1.input_schema'],
    [/^(tools\[\d+\])\.function\b/, '$1'],
  ],
};

/** A provider's field name in the caller's format. */
export function fieldFor(caller: CallerFormat, field: string): string {
  const { wire, isRelayed, earlierItems, outputField } = caller;
  // The Messages API's own names, but for `thinking`, come in the terms of the Responses format.
  if (isRelayed && field !== 'input' && wire !== 'messages')
    return earlierItems > 0 ? withoutEarlier(field, earlierItems) : field;
  if (/^max_(completion_|output_)?tokens$/.test(field)) return outputField;
  const inInput = fieldInInput(caller, field);
  if (inInput !== undefined) return inInput;
  const [pattern, name] = fieldNames[wire].find(([known]) => known.test(field)) ?? [];
  return pattern && name !== undefined ? field.replace(pattern, name) : field;
}

/** The path in a Responses input of a field in chat messages; undefined where it cannot be told. */
function fieldInInput({ wire, plainInput, earlierItems }: CallerFormat, field: string): string | undefined {
  const [, position, rest = ''] = /^messages\[(\d+)\](.*)$/.exec(field) ?? [];
  if (wire !== 'responses' || plainInput === undefined || position === undefined) return undefined;
  const item = Number(position) - (plainInput.hasInstructions ? 1 : 0);
  if (item < 0) return 'instructions';
  const path = rest.replace(/\.image_url\.url$/, '.image_url');
  return withoutEarlier(`input[${item}]${path}`, earlierItems);
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
