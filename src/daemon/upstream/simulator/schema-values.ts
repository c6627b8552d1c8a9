import type { CallFormat, Inference } from '../../features/upstreams/neutral.ts';
import { UpstreamFailure } from '../../features/upstreams/upstream.ts';
import type { Conversation, FunctionTool } from './conversation.ts';
import { TooLarge } from './instance/generator-state.ts';
import { Unsatisfiable } from './instance/merge-schemas.ts';
import { promptValues } from './instance/prompt-values.ts';
import { type InstanceOptions, instanceOf } from './instance/schema-instance.ts';

/** Where the formats have the schema of the answer; the other one has it in `text.format.schema`. */
const schemaParams: Partial<Record<CallFormat, string>> = {
  chat: 'response_format.json_schema.schema',
  messages: 'output_config.format.schema',
};

/** A value for structured output. Throws an UpstreamFailure of kind `caller` if nothing fits the schema. */
export function jsonFor(
  schema: unknown,
  conversation: Conversation,
  { wire }: Pick<Inference, 'wire'>,
): unknown {
  const param = schemaParams[wire] ?? 'text.format.schema';
  return generate(schema, { prompt: promptValues(conversation.userText), optional: 'all' }, param);
}

/** Arguments for one call, as JSON. */
export function argumentsFor({ parameters, schemaParam }: FunctionTool, conversation: Conversation): string {
  if (parameters === undefined) return '{}';
  const prompt = promptValues(conversation.userText);
  return JSON.stringify(generate(parameters, { prompt, optional: 'offered', type: 'object' }, schemaParam));
}

function generate(schema: unknown, options: InstanceOptions, param: string): unknown {
  try {
    return instanceOf(schema, options);
  } catch (error) {
    if (!(error instanceof Unsatisfiable || error instanceof TooLarge)) throw error;
    const message = `The simulator cannot generate a value for this schema: ${error.message}.`;
    throw new UpstreamFailure('caller', message, {
      status: 400,
      code: 'invalid_request',
      publicMessage: message,
      param,
    });
  }
}
