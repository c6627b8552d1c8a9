import { userFillerText } from '../../../../shared/constants/filler-text.ts';
import type { JsonObject as Json } from '../../../../shared/json/json-object.ts';
import type { Inference, OutputFormat, Wire } from '../../upstreams/neutral.ts';
import type { Adjustment, Dropped, ModelAbilities } from '../../upstreams/upstream.ts';
import { type Reduced, type TuningOption, withoutOption } from './options.ts';

/**
 * A call without the options that its model is known to lack. A schema for the answer becomes an instruction, as the answer
 * would be of no use without it.
 */
export function withinAbilities(inference: Inference, abilities: ModelAbilities | undefined): Reduced {
  const lacking: TuningOption[] = [];
  if (abilities?.reasoning === false && inference.reasoning !== undefined) lacking.push('reasoning');
  const { topLogprobs, needsLogprobs } = inference.sampling;
  if (abilities?.logprobs === false && topLogprobs !== undefined && !needsLogprobs) lacking.push('logprobs');
  const reduced = withoutOptions(inference, lacking);
  if (abilities?.structuredOutput !== false || reduced.inference.format?.type !== 'json_schema')
    return reduced;
  return { ...reduced, inference: instructed(reduced.inference, undefined) };
}

/** A call as its model turned out to accept it. */
export function adjusted(inference: Inference, adjustments: ReadonlySet<Adjustment>): Inference {
  const ended = adjustments.has('user-last') ? withUserLast(inference) : inference;
  const asked = adjustments.has('user-message') ? withUserMessage(ended) : ended;
  return withAcceptedFormat(asked, adjustments);
}

/** A call whose conversation goes on with a message of the user, if one of the assistant is last. */
export function withUserLast(inference: Inference): Inference {
  const last = inference.items.at(-1);
  return last?.type === 'message' && last.role === 'assistant' ? continued(inference) : inference;
}

/** A call whose conversation goes on with a message of the user, if it has none. */
export function withUserMessage(inference: Inference): Inference {
  const hasOne = inference.items.some((item) => item.type === 'message' && item.role === 'user');
  return hasOne ? inference : continued(inference);
}

function continued(inference: Inference): Inference {
  const { items, body, wire } = inference;
  const name = wire === 'responses' ? 'input' : 'messages';
  const list = body[name];
  const message = { role: 'user', content: userFillerText };
  return {
    ...inference,
    items: [...items, { type: 'message', role: 'user', content: [{ type: 'text', text: userFillerText }] }],
    body: Array.isArray(list) ? { ...body, [name]: [...list, message] } : body,
  };
}

/** A call whose answer has the form that its model turned out to accept. */
function withAcceptedFormat(inference: Inference, adjustments: ReadonlySet<Adjustment>): Inference {
  const { format, wire, body, tools } = inference;
  if (format === undefined) return inference;
  if (adjustments.has('no-json-mode') || (tools.length > 0 && adjustments.has('no-json-mode-with-tools')))
    return instructed(inference, undefined);
  if (format.type === 'json_schema')
    return adjustments.has('json-mode') ? instructed(inference, { type: 'json_object' }) : inference;
  if (!adjustments.has('json-mode-as-schema')) return inference;
  const named = { name: 'answer', schema: { type: 'object' } };
  return {
    ...inference,
    format: { type: 'json_schema', ...named, description: undefined, strict: undefined },
    body: wire === 'chat' ? { ...body, response_format: { type: 'json_schema', json_schema: named } } : body,
  };
}

export function withoutOptions(inference: Inference, options: Iterable<TuningOption>): Reduced {
  const dropped: Dropped[] = [];
  let left = inference;
  for (const option of options) {
    const reduced = withoutOption(left, option);
    left = reduced.inference;
    dropped.push(...reduced.dropped);
  }
  return { inference: left, dropped };
}

type JsonMode = Extract<OutputFormat, { type: 'json_object' }>;

/** A call whose format is part of its instructions, also in its body, which providers with the same format get; `mode` stays one. */
function instructed(inference: Inference, mode: JsonMode | undefined): Inference {
  const { wire, body, instructions, format } = inference;
  const form =
    format?.type === 'json_schema'
      ? `JSON that conforms to this JSON Schema, without a code fence around it:\n${JSON.stringify(format.schema)}`
      : 'a JSON object, without a code fence around it.';
  const text = `Answer with nothing but ${form}`;
  return {
    ...inference,
    format: mode,
    // Chat messages have their own instructions, so this one is a message of its own.
    instructions: joined(instructions, text),
    body: wire === 'embeddings' ? body : instructedBody[wire](body, text, mode),
  };
}

const instructedBody: Readonly<Record<Wire, (body: Json, text: string, mode?: JsonMode) => Json>> = {
  responses: ({ text: options, ...body }, text, mode) => {
    const { format: _format, ...others } = options as Json;
    return {
      ...body,
      text: { ...others, ...(mode && { format: mode }) },
      instructions: joined(body.instructions, text),
    };
  },
  chat: ({ response_format: _format, messages, ...body }, text, mode) => ({
    ...body,
    messages: instructedMessages(messages as Json[], text),
    ...(mode && { response_format: mode }),
  }),
  messages: ({ output_config: config, output_format: _older, system, ...body }, text) => {
    const { format: _format, ...others } = (config ?? {}) as Json;
    const blocks = typeof system === 'string' ? [{ type: 'text', text: system }] : ((system ?? []) as Json[]);
    return {
      ...body,
      ...(Object.keys(others).length > 0 && { output_config: others }),
      system: [...blocks.filter((block) => block.text !== ''), { type: 'text', text }],
    };
  },
};

/**
 * At the end, so that the positions of the caller's messages stay the same, and as the user's: the templates of many models
 * refuse a system message there, and two messages of the user in a row.
 */
function instructedMessages(messages: readonly Json[], text: string): Json[] {
  const last = messages.at(-1);
  if (last?.role !== 'user') return [...messages, { role: 'user', content: text }];
  const content = Array.isArray(last.content)
    ? [...last.content, { type: 'text', text }]
    : joined(last.content, text);
  return [...messages.slice(0, -1), { ...last, content }];
}

function joined(before: unknown, text: string): string {
  return typeof before === 'string' && before !== '' ? `${before}\n\n${text}` : text;
}
