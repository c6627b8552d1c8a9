import type { JsonObject as Json } from '../../../../shared/json/json-object.ts';
import type { Inference, OutputFormat, Wire } from '../../upstreams/neutral.ts';
import type { Dropped, ModelAbilities } from '../../upstreams/upstream.ts';
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
  const { format } = reduced.inference;
  if (abilities?.structuredOutput !== false || format?.type !== 'json_schema') return reduced;
  return { ...reduced, inference: instructed(reduced.inference, format) };
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

/** A call whose schema is part of its instructions, also in its body, which providers with the same format get. */
function instructed(
  inference: Inference,
  { schema }: Extract<OutputFormat, { type: 'json_schema' }>,
): Inference {
  const text = `Answer with nothing but JSON that conforms to this JSON Schema, without a code fence around it:\n${JSON.stringify(schema)}`;
  const { wire, body, instructions } = inference;
  return {
    ...inference,
    format: undefined,
    // Chat messages have their own instructions, so this one is a message of its own.
    instructions: joined(instructions, text),
    body: wire === 'embeddings' ? body : instructedBody[wire](body, text),
  };
}

const instructedBody: Readonly<Record<Wire, (body: Json, text: string) => Json>> = {
  responses: ({ text: options, ...body }, text) => {
    const { format: _format, ...others } = options as Json;
    return { ...body, text: others, instructions: joined(body.instructions, text) };
  },
  chat: ({ response_format: _format, messages, ...body }, text) => ({
    ...body,
    messages: instructedMessages(messages as Json[], text),
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
