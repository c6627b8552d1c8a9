import type { Wire } from '../../features/inference/neutral.ts';
import { UpstreamFailure } from '../../features/inference/upstream.ts';
import type { Conversation, FunctionTool } from './conversation.ts';
import { TooLarge } from './instance/generator-state.ts';
import { Unsatisfiable } from './instance/merge-schemas.ts';
import { promptValues } from './instance/prompt-values.ts';
import { type InstanceOptions, instanceOf } from './instance/schema-instance.ts';

/** A value for structured output. Fails as the caller's fault when the schema has none. */
export function jsonFor(schema: unknown, conversation: Conversation, { wire }: { wire: Wire }): unknown {
  const param = wire === 'chat' ? 'response_format.json_schema.schema' : 'text.format.schema';
  return fitting(schema, { prompt: promptValues(conversation.userText), optional: 'all' }, param);
}

/** Arguments for one call as JSON text. */
export function argumentsFor({ parameters, schemaParam }: FunctionTool, conversation: Conversation): string {
  if (parameters === undefined) return '{}';
  const prompt = promptValues(conversation.userText);
  return JSON.stringify(fitting(parameters, { prompt, optional: 'offered', type: 'object' }, schemaParam));
}

function fitting(schema: unknown, options: InstanceOptions, param: string): unknown {
  try {
    return instanceOf(schema, options);
  } catch (error) {
    if (!(error instanceof Unsatisfiable || error instanceof TooLarge)) throw error;
    const message = `The simulator cannot make a value for this schema: ${error.message}.`;
    throw new UpstreamFailure('caller', message, {
      status: 400,
      code: 'invalid_request',
      publicMessage: message,
      param,
    });
  }
}
