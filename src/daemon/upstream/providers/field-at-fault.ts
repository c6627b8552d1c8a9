import { listOf } from '../../../shared/json/json-object.ts';
import { type Json, objectOf, textOf } from '../json.ts';

/** A provider's field names as patterns, each with the field of the Responses format that it is made from. */
type FieldNames = readonly (readonly [RegExp, string])[];

/** The field that a refusal names. */
export interface FieldAtFault {
  /** In the terms of the Responses format; null if it is none that callers can set. */
  param: string | null;
  /** As the refusal names it. */
  path?: string;
}

function fieldAtFault(names: FieldNames, paths: readonly (string | undefined)[]): FieldAtFault {
  for (const path of paths) {
    const plain = path && snakeCase(path);
    const known = plain && names.find(([pattern]) => pattern.test(plain));
    if (known) return { param: known[1], path };
  }
  return { param: null };
}

/** Where Anthropic's fields come from. Source: its API reference, "Create a Message". */
const anthropicFields: FieldNames = [
  [/^messages\b/, 'input'],
  [/^system\b/, 'instructions'],
  [/^max_tokens\b/, 'max_output_tokens'],
  [/^tools\b/, 'tools'],
  [/^tool_choice\.disable_parallel_tool_use\b/, 'parallel_tool_calls'],
  [/^tool_choice\b/, 'tool_choice'],
  [/^(output_config\.format|output_format)\b/, 'text.format'],
  [/^thinking\b/, 'thinking'],
  [/^output_config\b/, 'reasoning.effort'],
  [/^stop_sequences\b/, 'stop'],
  [/^(temperature)\b/, 'temperature'],
  [/^top_p\b/, 'top_p'],
  [/^top_k\b/, 'top_k'],
  [/^metadata\b/, 'safety_identifier'],
];

/** The field in an Anthropic message: `messages.0.content: …`, or the first one in backticks. */
export function anthropicField(message: string): FieldAtFault {
  const text = message.slice(0, 300);
  const start = /^([a-z_]+(?:\.\w+)*)[:\s]/.exec(text)?.[1];
  const quoted = /`([a-z_]+(?:\.\w+)*)`/.exec(text)?.[1];
  return fieldAtFault(anthropicFields, [start, quoted]);
}

/** Where Gemini's fields come from, in snake case. Source: its API reference, "GenerateContentRequest" and "batchEmbedContents". */
const googleFields: FieldNames = [
  [/^contents\b/, 'input'],
  [/^requests\b/, 'input'],
  [/^system_instruction\b/, 'instructions'],
  [/^tools\b/, 'tools'],
  [/^tool_config\b/, 'tool_choice'],
  [/^generation_config\.max_output_tokens\b/, 'max_output_tokens'],
  [/^generation_config\.response_(schema|json_schema|mime_type)\b/, 'text.format'],
  [/^generation_config\.thinking_config\b/, 'reasoning.effort'],
  [/^generation_config\.stop_sequences\b/, 'stop'],
  [/^generation_config\.(response_)?logprobs\b/, 'top_logprobs'],
  [/^generation_config\.temperature\b/, 'temperature'],
  [/^generation_config\.top_p\b/, 'top_p'],
  [/^generation_config\.top_k\b/, 'top_k'],
  [/^generation_config\.seed\b/, 'seed'],
  [/^generation_config\.presence_penalty\b/, 'presence_penalty'],
  [/^generation_config\.frequency_penalty\b/, 'frequency_penalty'],
];

/** The field in a Gemini error: in its details, or in the message: `… at 'contents[0].parts[0]'`. */
export function googleField(error: Json, message: string): FieldAtFault {
  const violations = listOf(error.details).flatMap((detail) => listOf(objectOf(detail)?.fieldViolations));
  const named = violations.map((violation) => textOf(objectOf(violation)?.field)?.slice(0, 300));
  const text = message.slice(0, 1_000);
  const quoted = /\bat '([\w.[\]]+)'/.exec(text)?.[1];
  const prefixed = /\b(?:GenerateContent|BatchEmbedContents)Request\.([\w.[\]]+)/.exec(text)?.[1];
  if (/\blogprobs is not (enabled|supported)\b/i.test(text)) return { param: 'top_logprobs' };
  const paths = [...named, quoted, prefixed].map((path) => path?.replace(/^GenerateContentRequest\./, ''));
  return fieldAtFault(googleFields, paths);
}

function snakeCase(path: string): string {
  return path.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
